"""Facts that a browser tells about its device."""

from __future__ import annotations

import re

import streamlit as st

TOUCHED = re.compile("Mobi|Android|iPhone|iPad")  # telephones and tablets


def is_touched() -> bool:
    """Whether a finger is all there is to point with."""
    return bool(TOUCHED.search(_name()))


def is_phone() -> bool:
    """Whether it is as narrow as a telephone."""
    return "Mobi" in _name()


def _name() -> str:
    return st.context.headers.get("User-Agent") or ""
