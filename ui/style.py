"""The few rules of style that Streamlit's theme has no option for."""

from __future__ import annotations

from pathlib import Path

import streamlit as st


def apply() -> None:
    st.html(Path(__file__).with_suffix(".css"))
