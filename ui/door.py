"""What every visitor comes through: page config, navigation, and the side bar that all pages share."""

from pathlib import Path

import streamlit as st

from ui import document, shell

ROOT = Path(__file__).parent.parent
PAGES = {
    "type": ("Type", ":material/keyboard:"),
    "attention": ("Attention", ":material/visibility:"),
    "layers": ("Layers", ":material/layers:"),
    "flow": ("Flow", ":material/account_tree:"),
    "space": ("Space", ":material/scatter_plot:"),
    "build": ("Build", ":material/construction:"),
    "train": ("Train", ":material/exercise:"),
}

st.set_page_config(page_title="Headlight", page_icon=ROOT / "assets/icon.svg", layout="wide", initial_sidebar_state=256)
st.logo(ROOT / "assets/icon.svg", size="large")
document.prepare()

page = st.navigation(
    [
        st.Page(ROOT / "pages" / name / "page.py", title=title, icon=icon, url_path=name, default=name == "type")
        for name, (title, icon) in PAGES.items()
    ]
)
shell.side_bar()
page.run()
