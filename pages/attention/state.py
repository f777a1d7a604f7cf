"""The choices of page "Attention", beside the view, which other pages open too (`ui.state.VIEW`)."""

from __future__ import annotations

from typing import Any

from ui.state import Key, link

NOTHING = "nothing"

SHADE = link("shade", "head", "layer", "all heads", "rollout", "entropy", "surprise")
ORDER = link("order", "layer", "similarity", "pattern", "entropy", "distance", "previous", "first", "induction")
ONLY = link("only", "all", "token before", "first token", "itself", "earlier copies")
HEAT = link("heat", "one head", "all heads")
COMPARE = link("compare", NOTHING, "head", "layer", "text", "model")
OTHER_LAYER, OTHER_HEAD = link("other-layer"), link("other-head")
OTHER_JOB, OTHER_TROUBLE, OTHER_HAD = Key[Any]("other-job", None), Key("other-trouble", ""), Key[Any]("other-had", None)
SINGLE = Key[Any]("single-head", None)  # of the favourite's layer, for beginners, who have no pickers
QUERY, WINDOW = Key[Any]("query", None), Key[Any]("window", None)
HEADS_ON = Key[Any]("heads-on", (None, []), led=True)
