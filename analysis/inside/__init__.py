"""Inside a model: how ids become vectors, vectors become scores, and scores a word, with every number traced back to the text."""

from analysis.inside.stages import Cell, Place, Stage, Term
from analysis.inside.way import Way, follow

__all__ = ["Cell", "Place", "Stage", "Term", "Way", "follow"]
