"""What a visitor has chosen, and the link that opens the same again.

Every choice is a widget with a key that is bound to the URL. This file is where the keys, their allowed values and their
defaults stand, and where a link's nonsense becomes a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

import streamlit as st

LEVELS = ("beginner", "intermediate", "expert")
DEFAULT_TEXT = "The farmer gave the hungry dog a bone, and the dog ran into the"
LINKED = 6000  # characters of text that a link can carry, each up to nine bytes in an address


def level() -> str:
    return st.session_state.get("level") or LEVELS[0]


def check_link(name: str, allowed: tuple, meaning: str) -> None:
    """Say so when the URL asks for something that does not exist. The widget bound to it then falls back to its default."""
    asked = st.query_params.get(name)
    if asked is not None and asked not in [str(value) for value in allowed]:
        complain(name, asked, meaning)


def complain(name: str, asked: str, meaning: str) -> None:
    """Remember what a link asks for in vain, for a sentence of `ui.shell`."""
    st.session_state.setdefault("complaints", {})[name] = (meaning, asked)


def open_page(page: str) -> None:
    """Keep in mind what the link asked for, as long as the visitor stays on the page that it opened."""
    if st.session_state.get("link", (page,))[0] != page:
        st.session_state["link"] = page, {}
    st.session_state.setdefault("link", (page, st.query_params.to_dict()))
    st.session_state["address"], st.session_state["later"] = {}, {}


def asked(name: str) -> str | None:
    """What the link that opened this page says of a choice."""
    return st.session_state["link"][1].get(name)


def later(level: str, *names: str) -> None:
    """Remember what the link asks for and only a higher level has, for a sentence of `ui.shell`. level: the first that has it."""
    found = {name: value for name in names if (value := asked(name)) is not None}
    st.session_state["later"].setdefault(level, {}).update(found)


def settle(key: str, names: Sequence[str], here: Sequence[str]) -> None:
    """Bring a choice among `names` to those that this level has; what the link asks for is chosen at the level that has it."""
    if asked(key) in set(names) - set(here):
        later("intermediate", key)
    elif (waited := st.session_state["link"][1].pop(key, None)) in here and st.session_state.get(key) == here[0]:
        st.session_state[key] = waited
    if st.session_state.get(key, here[0]) not in here:
        st.session_state[key] = here[0]


def keep(name: str, value: str | float | bool | None, default: str | float | bool | None) -> None:
    """Have a choice in the address unless it is the default. Its widget writes it there too, but no longer once it has moved to
    another place on the page, as it does from level to level."""
    text = str(value).lower() if isinstance(value, bool) else f"{value:.15g}" if isinstance(value, int | float) else value
    st.session_state["address"][name] = None if value == default else text


def run_whole_page_next() -> None:
    """After this fragment's rerun, rerun the page: something outside the fragment must follow a choice made inside it."""
    st.session_state["whole-page"] = True


def ask_for_model(name: str) -> None:
    """Ask for a model by its name; from the next run of the page on."""
    st.session_state["choose"] = name


def texts_in_address() -> dict[str, str | None]:
    """What an address says of the boxes: nothing of one that is as it began, or too long for an address."""
    values = {key: st.session_state.get(key) or "" for key in ("text", "target")}
    begun = {"text": DEFAULT_TEXT, "target": ""}
    return {key: None if value == begun[key] or len(value) > LINKED else value for key, value in values.items()}


def address() -> str:
    """The address that opens this view again, as far as an address can hold it; "" outside of the app."""
    if not (place := st.context.url):
        return ""
    chosen = st.query_params.to_dict() | st.session_state.get("address", {}) | texts_in_address()
    return f"{place.partition('?')[0]}?{urlencode({name: value for name, value in chosen.items() if value is not None})}"
