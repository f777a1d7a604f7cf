"""Headlight with its fragments switched off: each key press reruns the whole page."""

import runpy
import sys
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
st.fragment = lambda function: function
runpy.run_path(str(ROOT / "ui" / "door.py"), run_name="__main__")
