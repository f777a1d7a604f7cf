"""CSS and scripts that the browser's document gets once: rules that the theme has no option for, and the Back button."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

HERE = Path(__file__).parent
ICON = "data:image/svg+xml;base64," + b64encode((HERE.parent / "assets/icon.svg").read_bytes()).decode()
KEPT, BESIDE = "kept-values", "kept-beside"  # the keys of what a browser keeps, on page Lessons and in the panel of a lesson
EXPLAIN = "lexicon-values"  # the key of what answers marks


@cache
def _component(name: str) -> Callable[..., Any]:
    """The component of a script beside this file; `document.js` has the style, as `rules`, and two scripts above it."""
    from viz.modules import without_types

    script = (HERE / f"{name}.js").read_text("utf-8")
    if name == "document":
        line, projector = ((HERE / file).read_text("utf-8") for file in ("live/line.js", "projector.js"))
        script = f"const rules = {json.dumps((HERE / 'style.css').read_text('utf-8'))};\n{line}\n{projector}\n{script}"
    return st.components.v2.component(f"headlight_{name}", html="<i hidden></i>", js=without_types(script))


def prepare(projector: bool = False) -> None:
    """Bring it, in every run of a page: a document has it from its first on. Where the page
    turns dark or light, it is run again. projector: whether the page is in projector mode."""
    _component("document")(key="document-rules", data={"projector": projector}, on_dark_change=lambda: None)


def open_step(step: str, reply: str, **more: Any) -> None:
    """Have a step of a lesson in sight, once. step: which; reply: what is said of an answer, "" for nothing. more: right, whether
    the answer was; picture, the kind of the view that it asks about, where that is not the first one; and heading, what “Show me”
    brings into sight, with shown, another text for each press, "" before the first."""
    _component("step")(key="step-values", data={"step": step, "reply": reply, **more})


def keep_lessons(lessons: dict[str, Any], brought_back: Callable[[], None] | None = None) -> None:
    """Have the browser keep how far a visitor's lessons are. brought_back: called where it has kept more, from an earlier day; a
    page that asks for that may have the panel of a lesson beside it, which keeps them too."""
    _component("kept")(
        key=KEPT if brought_back else BESIDE,
        data={**lessons, "asked": brought_back is not None},
        on_kept_change=brought_back or (lambda: None),
    )


def keep_address(page: str, values: Mapping[str, str | None], boxes: Mapping[str, str], longest: int) -> None:
    """Have the address of a page say all that is chosen there, None for what it leaves out. page: its name in an address. boxes:
    what each text box begins with; what has been typed there since, of at most so many characters, is in the address too."""
    # The same data would not run again.
    data = {"page": page, "values": values, "boxes": boxes, "longest": longest, "run": time.monotonic_ns()}
    _component("address")(key="address-values", data=_as_bytes(data))


def explain(data: dict[str, Any], followed: Callable[[], None]) -> None:
    """Have marks of words answered. data: where what is said of them is fetched, the level's number, and the language."""
    _component("lexicon")(key=EXPLAIN, data=_as_bytes(data), on_followed_change=followed)


def _as_bytes(data: dict[str, Any]) -> bytes:
    """Data of which Streamlit need not ask whether there is a table among them, which takes it long."""
    return json.dumps(data).encode()
