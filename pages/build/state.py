"""The choices of page "Build"."""

from __future__ import annotations

from typing import Any

from ui.state import Family, Key, link

BUILD = link("build", "Architecture", "Cost", "Masks", "Positions", "Why √d")
COST_OF = Key("cost-of", "parameters", ("parameters", "operations", "activations"))

HEADS_BEFORE = Key[Any]("build-heads-before", None)  # the last number of heads that was shown
WIDTH_BEFORE = Key[Any]("build-width-before", None)  # the last width that was shown
CHANGED = Key[Any]("build-changed", None)  # a beginner’s last change: the transformers before and after it

FIELDS = Family("build-")  # of `TransformerConfig`


def build_key(name: str) -> Key[Any]:
    """Return the key for a part or a size of the built transformer: a field of `TransformerConfig`."""
    return FIELDS.key(name)
