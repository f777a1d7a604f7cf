"""The choices of page "Heads"."""

from __future__ import annotations

from ui.state import Key, link

HEADS_LABEL = link(
    "heads-label",
    "every label",
    "token before",
    "itself",
    "token after",
    "first token",
    "separators",
    "earlier copies",
    "induction",
    "earlier names",
    "along the source",
)
HEADS_BY = link("heads-by", "layer", *HEADS_LABEL.values[1:], "positions")
HEADS_PART = link("heads-part", "Labels", "Importance", "Stand-ins", "Weights")
HEADS_TEXT = link("heads-text", "sample texts", "your text")
HEADS_ALIKE = link("heads-alike", "what they write", "where they look", "what is lost without both")
HEADS_WAY = link("heads-way", "keys", "queries", "values")
HEADS_WORTH = link("heads-worth", "measured", "by its slope", "layer")
HEADS_OPEN = Key("heads-open", "")
