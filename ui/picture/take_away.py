"""The download of a picture: as an image, as a page, as numbers, as a notebook, each with its caption."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import streamlit as st

from ui import state
from ui.choices.widgets import one_of
from ui.picture.caption import caption
from ui.picture.files import csv, left_out, npz, numbers
from ui.picture.notebook import notebook
from ui.picture.picture import Caption, Picture
from ui.picture.provenance import as_json, as_meta
from ui.show import choice, show
from viz.view import View
from viz.views.export import export_view, figure_page, table_page


def take_away(
    key: str, pictures: Callable[[], Sequence[Picture]], extra: Callable[[Picture], None] = lambda picture: None
) -> None:
    """Draw the button beside one or several pictures. Its dialog is built when it is opened, and each file when it is requested.

    key: of the picture or board on the page. extra: places further downloads of a picture.
    """
    place = st.popover("Take it away", icon=":material/download:", key=f"take-{key}", on_change="rerun")
    if place.open:
        with place:
            if picture := choose_picture(key, pictures()):
                contents(picture)
                extra(picture)


def choose_picture(key: str, pictures: Sequence[Picture]) -> Picture | None:
    """Return the picture to save; if there are several, place a menu that asks which one."""
    if not pictures:
        st.caption("There is no picture here to take away.")
        return None
    if len(pictures) == 1:
        return pictures[0]
    named = {picture.name: picture for picture in pictures}

    def title(name: str) -> str:
        return named[name].title

    return named[one_of(state.taken_key(key), tuple(named), "", label="Which picture", menu=True, format_option=title)]


def contents(picture: Picture) -> None:
    about, arrays = caption(picture), numbers(picture)
    dark = is_dark()  # now: a file is made later, where no visitor is known
    own = isinstance(picture.drawn, str)  # a page of its own: it is the file, and a browser lets nobody look into it
    if not own:
        with st.container(gap="xsmall"):
            st.caption("As it looks now")
            where = as_json(about.where)
            key = f"take-drawn-{picture.key}"
            view = export_view(picture.key, about.stem, about.title, str(about), where, picture.part)
            show(view, key, lambda: state.TAKEN_COLOURS.set(choice(key)))
    with st.container(gap="xsmall"):
        st.caption("To work with")
        row = st.container(horizontal=True, gap="small")
    with row:
        in_csv = "The numbers for a spreadsheet, one in each row. Its last column says where they come from."
        file("HTML", about, "html", "text/html", lambda: page(picture, about, dark), "A page that works without a network.")
        if arrays:
            file("CSV", about, "csv", "text/csv", lambda: csv(picture, about), in_csv)
            if state.level() != "beginner":
                file("NPZ", about, "npz", "application/octet-stream", lambda: npz(picture, about), "The numbers as NumPy arrays.")
        if not own:
            file(
                "Notebook",
                about,
                "ipynb",
                "application/x-ipynb+json",
                lambda: notebook(picture, about),
                "It makes this picture again.",
            )
    if arrays and state.level() != "beginner" and (note := left_out(arrays, picture.look)):
        st.caption(note)
    if own:
        st.caption("This view is a page of its own, so you take away the whole page.")
    st.code(str(about), language=None, wrap_lines=True)


def file(name: str, about: Caption, ending: str, mime: str, make: Callable[[], str | bytes], words: str) -> None:
    """Draw the button for a file that is made when it is clicked."""
    st.download_button(
        name, make, f"{about.stem}.{ending}", mime, key=f"take-{ending}-{about.picture}", help=words, on_click="ignore"
    )


def is_dark() -> bool:
    """Return whether the saved page has dark colours: as on screen, or as chosen for the pictures."""
    colours = state.TAKEN_COLOURS.get()
    return (st.context.theme.type if colours == "screen" else colours) == "dark"


def page(picture: Picture, about: Caption, dark: bool = False) -> str:
    """Return the picture as one self-contained page, with its caption and provenance."""
    drawn = picture.drawn
    if isinstance(drawn, str):
        before, end, after = drawn.rpartition("</body>")
        whole = f"{before}<p>{escape(str(about))}</p>{end}{after}"
    elif isinstance(drawn, View):
        whole = drawn.to_html(caption=str(about))
    else:
        make = figure_page if hasattr(drawn, "to_plotly_json") else table_page
        whole = make(drawn, about.title, str(about), dark)
    return as_meta(whole, about.where).encode("utf-8", "replace").decode()  # a text may hold half of a character
