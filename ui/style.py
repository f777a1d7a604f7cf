"""The few rules of style that Streamlit's theme has no option for."""

from __future__ import annotations

import streamlit as st

CSS = """
<style>
.stMainBlockContainer { padding: 1.5rem 1.75rem 1rem; max-width: 1240px; }
.stApp { --accent: light-dark(#c2570c, #f5a35c); --card: light-dark(#ffffff, #1a1f28); }
.stSidebar [data-testid="stSidebarHeader"] { padding-bottom: .25rem; }
.stSidebar [data-testid="stSidebarHeader"] > :first-child { display: flex; align-items: center; gap: .55rem; }
.stSidebar [data-testid="stSidebarHeader"] > :first-child::after { content: "Headlight"; font-size: 1.3rem; font-weight: 700; letter-spacing: -.01em; }
.stSidebar .stButtonGroup [data-testid="stMarkdownContainer"] p { font-size: .78rem; text-transform: capitalize; }
.stSidebar .stButtonGroup button { padding-inline: .1rem; }
.st-key-text-box [data-testid="stTextInputRootElement"] { border: 2px solid var(--accent); border-radius: 12px; height: auto; background: var(--card); }
.st-key-text-box [data-testid="stTextInputRootElement"]:focus-within { box-shadow: 0 0 0 3px color-mix(in srgb, var(--accent) 22%, transparent); }
.st-key-text-box input { font-size: 1.35rem; padding: .55rem .9rem; height: auto; background: transparent; }
[class*="st-key-card-"] { background: var(--card); border-radius: 14px; padding: .8rem 1.1rem .9rem; }
[class*="st-key-inline-"] [data-testid="stSlider"] { margin-block: .35rem -.75rem; }
.stApp [data-testid="stBaseButton-primary"] { color: light-dark(#ffffff, #1d1208); }
.stMain h5 { padding: 0 0 .3rem; }
@media (max-width: 640px) {
  .stMainBlockContainer { padding: 4.5rem 1rem 2rem; }
  .st-key-text-box .stPopover [data-testid="stMarkdownContainer"] { display: none; }
  .st-key-text-box input { font-size: 1.15rem; }
}
</style>
"""


def apply() -> None:
    st.html(CSS)
