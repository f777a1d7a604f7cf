"""The gallery: a dialog with models that are worth a visit, and a box for any other name."""

from __future__ import annotations

import streamlit as st

from models.huggingface.gallery import Entry, gallery
from models.numbers.sizes import count, size
from ui import state
from ui.escaping import plain
from ui.memory import allowed, cached, loaded

LONGEST = 1000  # characters of a name, or of the path of a folder
HEADINGS = {
    "decoder": "Decoders guess what comes next",
    "encoder": "Encoders read in both directions",
    "encoder-decoder": "Encoder-decoders turn one text into another",
}


def button() -> None:
    """Draw the button that opens the gallery. It is in the side bar; the dialog must be opened outside of it."""
    with st.sidebar:
        wanted = st.button("Gallery", key="gallery", icon=":material/collections_bookmark:", width="stretch")
    if wanted:
        show()


@st.dialog("Gallery", width="medium", icon=":material/collections_bookmark:")
def show() -> None:
    here = cached.names()
    other(here)
    for kind, heading in HEADINGS.items():
        st.markdown(f"## {heading}")
        for entry in gallery():
            if entry.kind == kind:
                line(entry, here)


def hint() -> str:
    """Return a sentence on which names may be typed on this server."""
    ways = ["owner/name"] * allowed.hub() + ["the path of a folder"] * bool(allowed.folders())
    return ", or ".join(ways) or "the name of a model that is on this machine"


def other(here: tuple[str, ...]) -> None:
    """Draw a box for any other name."""
    with st.form("any-model", border=False):
        left, right = st.columns([5, 1], vertical_alignment="bottom")
        name = left.text_input("Any model", key=state.ANY_NAME.name, placeholder=hint(), autocomplete="off", max_chars=LONGEST)
        if right.form_submit_button("Open", width="stretch") and name.strip():
            state.ask_for_model(name.strip())
            st.rerun()
    if allowed.hub():
        st.caption(
            "Nearly every text model on the Hugging Face Hub opens by its name, which is the end of its address there. It is "
            "downloaded once and kept on this machine. Its weights must be in safetensors files. Code that comes with a model is "
            "never run."
        )
    elif allowed.only_the_gallery():
        st.caption("This server downloads the models below and no others. It opens what is already on this machine, too.")
    else:
        st.caption("This server downloads nothing. It opens the models that are already on this machine.")


def line(entry: Entry, here: tuple[str, ...]) -> None:
    """Draw one entry, and a button that opens it."""
    ready = entry.name in loaded.shelf or entry.name in here
    text, side = st.columns([5, 1], vertical_alignment="center")
    where = " · on this machine" if ready else ""
    facts = f"{count(entry.parameters)} parameters · {size(entry.bytes)}{where}"
    text.markdown(f"**{plain(entry.name)}** &nbsp; :small[:gray[{facts}]]  \n{plain(entry.look)}")
    if ready or allowed.downloadable(entry.name):
        label = "Open" if ready else "Load"
        if side.button(label, key=f"gallery {entry.name}", width="stretch", help=f"{label} {entry.name}"):
            state.ask_for_model(entry.name)
            st.rerun()
