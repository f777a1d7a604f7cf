"""The few rules of style that Streamlit's theme has no option for."""

from __future__ import annotations

import streamlit as st

CSS = """
<style>
.stMainBlockContainer { padding: 1.6rem 1.8rem 2rem; max-width: 1240px; }
.st-key-text-box { align-items: center; }
.st-key-text-box .stTextInput input { font-size: 1.35rem; padding: .55rem .9rem; height: auto; }
.st-key-text-box .stTextInput > div > div { border-width: 2px; border-color: var(--st-primary-color); border-radius: 12px; height: auto; }
[data-testid="stCaptionContainer"] p { margin-bottom: 0; }
@media (max-width: 640px) {
  .stMainBlockContainer { padding: 3.4rem 1rem 2rem; }
  .st-key-text-box .stTextInput input { font-size: 1.15rem; }
}
</style>
"""


def apply() -> None:
    st.html(CSS)
