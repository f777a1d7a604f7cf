"""Facts that a browser reports about its device."""

from __future__ import annotations

import re

import streamlit as st

from ui import state

TOUCHED = re.compile("Mobi|Android|iPhone|iPad")  # telephones and tablets


def is_touched() -> bool:
    """Return whether the device has a touch screen and no mouse."""
    return bool(TOUCHED.search(_name()))


def is_phone() -> bool:
    """Return whether the screen is as narrow as a phone's."""
    return "Mobi" in _name()


def _name() -> str:
    if not state.DEVICE.is_set:  # once a visit: Streamlit reads all headers for one
        state.DEVICE.set(st.context.headers.get("User-Agent") or "")
    return state.DEVICE.get()
