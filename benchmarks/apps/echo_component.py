"""The floor of anything that draws itself: the same live box, echoed by a component that does nothing else."""

import streamlit as st

st.set_page_config(layout="wide")
JS = """
export default function ({parentElement, data}) {
  parentElement.querySelector("p").textContent = new TextDecoder().decode(data);
}
"""
if not hasattr(st, "echo_component"):  # a component is declared once a process
    st.echo_component = st.components.v2.component("echo", html="<p></p>", js=JS)


@st.fragment
def stage() -> None:
    text = st.text_input("Your text", value="The farmer gave the hungry dog", key="text", bind="query-params", live="0ms")
    with st.container(key="answer"):
        st.echo_component(key="echo", data=f"[{text}]".encode())


stage()
