"""The pages in the order of the menu."""

from __future__ import annotations

from copy import copy
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

if TYPE_CHECKING:
    from collections.abc import Collection

    from streamlit.navigation.page import StreamlitPage

PAGES = Path(__file__).parent.parent / "pages"
FIRST = "type"  # the page of the bare address
SECTIONS = {  # by what one wants to do
    "See": {
        "overview": ("Overview", ":material/conversion_path:"),
        "type": ("Type", ":material/keyboard:"),
        "attention": ("Attention", ":material/visibility:"),
        "layers": ("Layers", ":material/layers:"),
        "flow": ("Flow", ":material/account_tree:"),
        "space": ("Space", ":material/scatter_plot:"),
    },
    "Follow": {
        "inside": ("Inside", ":material/biotech:"),
        "generate": ("Generate", ":material/edit_note:"),
    },
    "Ask why": {
        "explain": ("Explain", ":material/contact_support:"),
        "change": ("Change", ":material/toggle_off:"),
        "heads": ("Heads", ":material/group_work:"),
    },
    "Make": {
        "build": ("Build", ":material/construction:"),
        "train": ("Train", ":material/exercise:"),
        "adapt": ("Adapt", ":material/tune:"),
    },
    "Learn": {"lessons": ("Lessons", ":material/school:"), "room": ("Room", ":material/groups:")},
}
TITLES = {name: title for pages in SECTIONS.values() for name, (title, _) in pages.items()}


@cache
def _page(name: str, title: str, icon: str, hidden: bool) -> StreamlitPage:
    return st.Page(
        PAGES / name / "page.py",
        title=title,
        icon=icon,
        url_path=name,
        default=name == FIRST,
        visibility="hidden" if hidden else "visible",
    )


def pages(hidden: Collection[str]) -> dict[str, list[StreamlitPage]]:
    """Return the pages by their sections, for `st.navigation`. hidden: names of pages that are left out of the menu.

    Streamlit looks for a page's file when the page object is created, and marks the page that runs: so the objects are created
    once a server and copied. Objects created outside of a run are no pages and are not kept.
    """
    make = _page if get_script_run_ctx(suppress_warning=True) else _page.__wrapped__
    return {
        section: [copy(make(name, *named, name in hidden)) for name, named in of_section.items()]
        for section, of_section in SECTIONS.items()
    }
