"""The choices of page "Flow"."""

from __future__ import annotations

from typing import Any

from ui.state import Key, link

SHOW = link("show", "Sources", "Layer by layer", "Streams", "Which to believe")
FUSION, DISCARD, RESIDUAL = link("fusion", "mean", "max", "min"), link("discard", default=0.0), link("residual", default=0.5)
FLOW_WINDOW = Key[Any]("flow-window", None)
WITHOUT = Key("flow-without", 0)  # the token that was taken away, and from which text
STREAMS_OF, STREAMS_FROM, FOLLOW = Key("streams-of", "rollout"), Key("streams-from", 1.0), Key[Any]("follow", None)
