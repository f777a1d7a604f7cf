"""Widgets whose choice is in the link. Each reports an invalid value in a link, and then shows the default."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import streamlit as st

from ui import state
from ui.state import Key

T = TypeVar("T")
FIRST: Any = object()


def one_of(
    key: Key[Any],
    options: Sequence[T],
    meaning: str,
    *,
    label: str = "",
    offered: Sequence[T] | None = None,
    default: T | None = FIRST,
    menu: bool = False,
    format_option: Callable[[Any], str] = str,
    place: Any = st,
    **more: Any,
) -> Any:
    """Place a row of buttons, or a menu, to choose an option. A choice that is no longer an option gives way to the default, else
    the first.

    meaning: the choice's name in a sentence about a link ("the view"). offered: the options that are available here.
    format_option: an option as it is shown and linked. more: for Streamlit's widget.
    """
    here = tuple(options if offered is None else offered)
    first = here[0] if default is FIRST else default
    if key.linked:
        state.check_link(key, map(format_option, options), meaning)
    if key.linked and offered is not None:
        state.settle(key, options, here)
    elif key.is_set and key.get() not in (*here, first):
        key.set(first)
    title, bind = label or meaning.removeprefix("the ").capitalize(), "query-params" if key.linked else None
    if menu:
        index = None if first is None else here.index(first)
        return place.selectbox(title, here, index, format_option, key=key.name, bind=bind, **more)
    more = {"wrap": True} | more  # a row that scrolls hides its end on a telephone
    chosen = place.segmented_control(
        title, here, default=first, required=True, format_func=format_option, key=key.name, bind=bind, **more
    )
    return first if chosen is None else chosen  # an address that names it without a value chooses none


def tabs(key: Key[Any], meaning: str, offered: Sequence[str] | None = None) -> str:
    """Place a row of names without a title that chooses what a page shows."""
    offered = key.values if offered is None else offered
    chosen = one_of(key, key.values, meaning, offered=offered, label_visibility="collapsed")
    state.keep(key, chosen, offered[0])
    return chosen


def switch(key: Key[Any], label: str, value: bool = False, place: Any = st, **more: Any) -> bool:
    """Place a switch; return whether it is on."""
    if (key.in_address or "true").lower() not in ("true", "false"):
        state.complain(key, str(key.in_address), f"the switch “{label}” to be")
    if key.is_set and not isinstance(key.get(), bool):  # in a family no file that sets it is told that it is a switch
        state.complain(key, str(key.pop()), f"the switch “{label}” to be")
    return bool(place.toggle(label, value, key=key.name, bind="query-params", **more))


def number(key: Key[Any], label: str, least: float, most: float, default: float, step: float | None = None, **more: Any) -> Any:
    """Place a box for a number, of the same type as its default."""
    kind = type(default)
    check_number(key, label, least, most, kind)
    if not (isinstance(default, int) and is_infinite(key.in_address)):  # over which Streamlit would fall: no whole number is one
        more["bind"] = "query-params"
    bounds = kind(least), kind(most), default, None if step is None else kind(step)
    return kind(st.number_input(label, *bounds, key=key.name, **more))


def slider(key: Key[Any], label: str, least: float, most: float, step: float, **more: Any) -> float:
    """A number on a line."""
    check_number(key, label, least, most, type(key.default))
    chosen = st.slider(label, least, most, key.default, step, key=key.name, bind="query-params", **more)
    state.keep(key, chosen, key.default)
    return chosen


def check_number(key: Key[Any], label: str, least: float, most: float, kind: type) -> None:
    """Say so where the address, or the session, has what is no such number; of the session it is dropped, since Streamlit falls
    over it. kind: int or float, of the number."""
    if key.is_set and not isinstance(key.get(), kind):  # as a playlist or a lesson writes it
        with suppress(TypeError, ValueError, OverflowError):
            key.set(kind(key.get()))
    if key.is_set and not (isinstance(key.get(), int | float) and least <= key.get() <= most):
        state.complain(key, str(key.pop()), f"“{label}” at")
    address_value = key.in_address
    try:
        fits = address_value is None or least <= float(address_value) <= most
    except ValueError:
        fits = False
    if not fits:
        state.complain(key, str(address_value), f"“{label}” at")


def is_infinite(address_value: str | None) -> bool:
    """Return whether an address asks for an infinite number."""
    try:
        return address_value is not None and math.isinf(float(address_value))
    except ValueError:
        return False
