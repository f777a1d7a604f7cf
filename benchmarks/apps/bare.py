"""An app about as small as a demo of `streamlit hello`: what any Streamlit app costs at the least."""

import streamlit as st

st.set_page_config(page_title="Bare", layout="wide")
with st.sidebar:
    st.selectbox("Model", ["writer"])
st.title("A bare app", anchor=False)
st.text_input("Your text", value="The farmer gave the hungry dog")
st.bar_chart({"probability": [0.5, 0.3, 0.2]})
