"""The choices of page "Inside", beside the other tokenizer, which is a model (`ui.state.OTHER_TOKENIZER`)."""

from __future__ import annotations

from typing import Any

from ui.state import Key, link

PIECE_WORD = link("word")
PIECES_UNFOLDED = Key("inside-pieces-unfolded", False, led=True, cleared_by_step=True)  # for a beginner
EVERY_STAGE = Key("inside-every-stage", False, led=True, cleared_by_step=True)  # at intermediate
NEURONS_UNFOLDED = Key("inside-neurons-unfolded", False, led=True, cleared_by_step=True)  # at intermediate
NEURON: Key[str | None] = link("neuron")
STAGE, CELL, TRAIL, BLOCK = (link(name, default="") for name in ("stage", "cell", "trail", "block"))
BEGUN = Key("inside-begun", False)  # whether a beginner's first stage was opened
INSIDE_TEXT = link("inside-text", "The answer", "Your text")  # which of two a beginner follows
INSIDE_COLUMNS = Key[Any]("inside-columns", None)
WORD_ORDER, ORDER_SEED = link("word-order", default=""), link("order-seed", default=0)
