"""Inside a model: the steps from ids to vectors, to scores and to a word, with every number traced back to the text."""

from analysis.inside.feedforward import Neuron, Neurons, Push, neurons
from analysis.inside.sample import Firing, Sampled, sampled
from analysis.inside.stages import Cell, Place, Stage, Term
from analysis.inside.way import Way, follow

__all__ = [
    "Cell",
    "Firing",
    "Neuron",
    "Neurons",
    "Place",
    "Push",
    "Sampled",
    "Stage",
    "Term",
    "Way",
    "follow",
    "neurons",
    "sampled",
]
