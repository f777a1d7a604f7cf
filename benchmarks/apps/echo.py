"""The floor: a bare app that echoes the text of the same live box."""

import streamlit as st

st.set_page_config(layout="wide")


@st.fragment
def stage() -> None:
    text = st.text_input("Your text", value="The farmer gave the hungry dog", key="text", bind="query-params", live="0ms")
    with st.container(key="answer"):
        st.text(f"[{text}]")


stage()
