"""Headlight with its fragments switched off: each key press reruns the whole page."""

import functools
import runpy
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).parents[2]
if not hasattr(st, "usual_page"):  # this script runs again and again in one process
    st.usual_page = st.Page
    st.Page = functools.wraps(st.Page)(lambda path, **options: st.usual_page(ROOT / path, **options))
st.fragment = lambda function: function
runpy.run_path(str(ROOT / "app.py"), run_name="__main__")
