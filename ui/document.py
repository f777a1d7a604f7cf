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
    """Place the document's rules and scripts; call it in every run of a page. Where the page
    turns dark or light, it is run again. projector: whether the page is in projector mode."""
    _component("document")(key="document-rules", data={"projector": projector}, on_dark_change=lambda: None)


def open_step(step: str, reply: str, **more: Any) -> None:
    """Scroll a lesson's step into sight, once. step: its name; reply: the reply to an answer, "" for none. more: right: whether
    the answer was right; picture: the kind of the view that the step asks about, if it is not the first one; heading: the heading
    that “Show me” scrolls to; shown: another text for each click on it, "" before the first."""
    _component("step")(key="step-values", data={"step": step, "reply": reply, **more})


def keep_lessons(lessons: dict[str, Any], brought_back: Callable[[], None] | None = None) -> None:
    """Let the browser save a visitor's progress in the lessons. brought_back: called when the browser has progress from an
    earlier day; on a page that passes it, a lesson's panel may save progress too."""
    _component("kept")(
        key=KEPT if brought_back else BESIDE,
        data={**lessons, "asked": brought_back is not None},
        on_kept_change=brought_back or (lambda: None),
    )


def keep_address(page: str, values: Mapping[str, str | None], boxes: Mapping[str, str], longest: int) -> None:
    """Write all choices of a page into its address; None leaves a choice out. page: its name in an address. boxes: the initial
    text of each text box; a text typed since, of at most `longest` characters, is in the address too."""
    # The same data would not run again.
    data = {"page": page, "values": values, "boxes": boxes, "longest": longest, "run": time.monotonic_ns()}
    _component("address")(key="address-values", data=_as_bytes(data))


def explain(data: dict[str, Any], followed: Callable[[], None]) -> None:
    """Let the browser show explanations of marked terms. data: the address to fetch them from, the level's number, and the
    language.
    """
    _component("lexicon")(key=EXPLAIN, data=_as_bytes(data), on_followed_change=followed)


def _as_bytes(data: dict[str, Any]) -> bytes:
    """Return data as bytes, so that Streamlit does not spend time searching them for tables."""
    return json.dumps(data).encode()
