"""The choices of page "Change", except the second text, which page "Attention" has too (`ui.state.OTHER_TEXT`)."""

from __future__ import annotations

from typing import Any

from ui.state import Key, link

EXPERIMENT = link("experiment", "Switch off", "Two texts", "What wrote it", "Circuit", "Steer")

# Switch off
CHANGES, TRY_ALL = link("changes", default=""), link("try-all", default=False)
CHANGES_BEFORE = Key[Any]("changes-before", (), cleared_by_step=True)
TRY_LINES, ALL_HEADS, RESAMPLE = (
    link("try-lines", default=False),
    link("all-heads", default=False),
    link("resample", default=False),
)
CHANGE_OTHER, ROW_QUERY, ROW_AS = link("change-other", default=""), Key("row-query", 0, led=True), Key("row-as", "even", led=True)

# Steer
STEER, STEER_METHOD = link("steer", default=None), link("steer-method", "Always the likeliest", "Draw by dice")
STEER_STRENGTH, STEER_LAYER, STEER_SEED = link("steer-strength"), link("steer-layer"), link("steer-seed", default=0)
STEER_WITH, STEER_WITHOUT = link("steer-with", default=""), link("steer-without", default="")

# Two texts
TEXTS_PART = link("texts-part", "stream", "attention", "feed-forward", "heads")
TEXTS_INTO = link("texts-into", "first into second", "second into first")
TEXTS_MEASURE = link("texts-measure", "logit difference", "probability", "KL")
TEXTS_KIND = link("texts-kind", "encoder", "decoder", "cross")
TEXTS_PLACE, TEXTS_ANSWER, TEXTS_AGAINST = link("texts-place"), link("texts-answer"), link("texts-against")
TEXTS_CELL, PAIR = link("texts-cell", default=""), Key[Any]("texts-pair", None)

# What wrote it, and the circuit
CHANGE_WORD, CHANGE_AGAINST, WROTE_CELL = link("change-word"), link("change-against"), link("wrote-cell")
CIRCUIT_KEEP, CIRCUIT_FILL = link("circuit-keep", default=90), link("circuit-fill", "their mean", "zeros", "another text")
CIRCUIT_LINES = Key[Any]("circuit-lines", None, led=True, cleared_by_step=True)
CIRCUIT_OTHER = link("circuit-other", default="")
