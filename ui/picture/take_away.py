"""A picture to take away: as it is drawn, as a page, as numbers, as a notebook, and with a caption."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import streamlit as st

from ui.picture.caption import caption
from ui.picture.files import csv, left_out, npz, numbers
from ui.picture.notebook import notebook
from ui.picture.picture import Caption, Picture
from ui.picture.provenance import as_json, as_meta
from ui.show import show
from viz.view import View
from viz.views.export import export_view, figure_page


def take_away(made: Picture) -> None:
    """A button by a picture; what it opens is made when it is open, and each file when it is asked for."""
    place = st.popover("Take it away", icon=":material/download:", key=f"take-{made.key}", on_change="rerun")
    if place.open:
        with place:
            contents(made)


def contents(made: Picture) -> None:
    said, found = caption(made), numbers(made)
    own = isinstance(made.drawn, str)  # a page of its own: it is the file, and a browser lets nobody look into it
    if not own:
        with st.container(gap="xsmall"):
            st.caption("As it looks now")
            show(export_view(made.key, said.stem, said.title, str(said), as_json(said.where)), f"take-drawn-{made.key}")
    with st.container(gap="xsmall"):
        st.caption("To work with")
        row = st.container(horizontal=True, gap="small")
    with row:
        file("HTML", said, "html", "text/html", lambda: page(made, said), "A page that works without a network.")
        if found:
            file("CSV", said, "csv", "text/csv", lambda: csv(made, said), "The numbers for a spreadsheet, one in each row.")
            file("NPZ", said, "npz", "application/octet-stream", lambda: npz(made, said), "The numbers as NumPy arrays.")
        if not own:
            file(
                "Notebook",
                said,
                "ipynb",
                "application/x-ipynb+json",
                lambda: notebook(made, said),
                "It makes this picture again.",
            )
    if found and (note := left_out(found, made.looks[0])):
        st.caption(note)
    if own:
        st.caption("This view is a page of its own, so you take away the whole page.")
    st.code(str(said), language=None, wrap_lines=True)


def file(name: str, said: Caption, ending: str, mime: str, make: Callable[[], str | bytes], words: str) -> None:
    """A button for a file that is made when it is pressed."""
    st.download_button(
        name, make, f"{said.stem}.{ending}", mime, key=f"take-{ending}-{said.picture}", help=words, on_click="ignore"
    )


def page(made: Picture, said: Caption) -> str:
    """The picture as one self-contained page, with its caption and where it comes from."""
    drawn = made.drawn
    if isinstance(drawn, str):
        before, end, after = drawn.rpartition("</body>")
        whole = f"{before}<p>{escape(str(said))}</p>{end}{after}"
    else:
        whole = drawn.to_html(caption=str(said)) if isinstance(drawn, View) else figure_page(drawn, said.title, str(said))
    return as_meta(whole, said.where)
