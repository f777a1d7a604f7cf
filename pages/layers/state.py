"""The choices of page "Layers"."""

from __future__ import annotations

from typing import Any

from ui.state import Key, link

PART = Key[Any]("part", None, ("Evolution", "Statistics", "Lens"), linked=True)  # None: the first that a page offers
MOVIE = link("movie", "mean of heads", "one head")
LENS = link("lens", "logit lens", "tuned lens")
LENS_COLOUR = link("lens-colour", "probability", "rank of the answer", "distance to the answer")
LENS_WINDOW, LENS_LAYER = Key[Any]("lens-window", None), Key[Any]("lens-layer", None, led=True)
LENS_TOKEN = Key[Any]("lens-token", None, led=True)  # the position and the id of the token whose column was clicked
LENS_TEXT, LENS_TRAINING = Key("lens-text", ""), Key[Any]("lens-training", None)
PAIR_KEY, LAYERS_HEAD = Key[Any]("pair-key", (None, None), led=True), Key("layers-head", (-1, -1), led=True)
LAYERS_OPEN = Key("layers-open", False)
