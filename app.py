"""The door: page config, navigation, and the side bar that every page shares."""

import streamlit as st

from ui import loaded, shell, style

st.set_page_config(page_title="Headlight", page_icon="assets/icon.svg", layout="wide", initial_sidebar_state=248)
st.logo("assets/icon.svg", size="large")
style.apply()

page = st.navigation(
    [
        st.Page("pages/type/page.py", title="Type", icon=":material/keyboard:", default=True, url_path="type"),
        st.Page("pages/attention/page.py", title="Attention", icon=":material/visibility:", url_path="attention"),
    ]
)
loaded.warm("writer")
shell.side_bar()
page.run()
