"""Places composed boards on a page. No other module does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import groupby

import streamlit as st

from ui import state
from ui.escaping import plain
from ui.look import Look
from ui.picture.board import Board, Note, Table
from ui.picture.picture import Picture
from ui.show import show, show_chart
from viz.view import View


def composed(compose: Callable[..., Board], look: Look, *chosen: object) -> Board:
    """Compose a board for this run: it marks the technical terms that the page has not marked so far.

    chosen: the arguments of `compose` after the look.
    """
    first = state.EXPLAINED.get()
    board = compose(replace(look, explained=None if first is None else dict(first)), *chosen)
    if first is not None:
        first.update(board.explained)
    return board


def mount(board: Board, key: str, chosen: Callable[[], None] | None = None) -> None:
    """Place the content of a board under a key. chosen: as in `ui.show.show`."""
    content = board.contents[key]
    if isinstance(content, View):
        show(content, key, chosen)
    elif isinstance(content, Note):
        write(content)
    elif isinstance(content, Table):
        write_table(content)
    else:
        place(content)


def mount_all(board: Board, chosen: Mapping[str, Callable[[], None]] | None = None) -> Sequence[Picture]:
    """Place all contents of a board in their order, and return the pictures that can be downloaded. chosen: for each key, as in
    `mount`.
    """
    for key in board.contents:
        mount(board, key, (chosen or {}).get(key))
    return board.pictures


def write_beside(board: Board) -> None:
    """Place a board's column of words."""
    for fold, notes in groupby(board.beside, lambda note: note.fold):
        with st.expander(fold) if fold else nullcontext():
            for note in notes:
                write(note)


def write(note: Note) -> None:
    """Place a sentence."""
    match note.kind:
        case "error":
            st.error(plain(note.text), icon=":material/report:")
        case "info":
            st.info(note.text, icon=note.icon or None)
        case "text":
            st.markdown(note.text)
        case "code":
            st.code(note.text, language="python", wrap_lines=True)  # a block that scrolls sideways cannot be reached by keys
        case _:
            st.caption(note.text)


def write_table(table: Table) -> None:
    """Place a table."""
    if table.scrolls:
        st.dataframe(table.rows, hide_index=True)
    else:
        st.table(table.rows)


def place(picture: Picture) -> None:
    """Draw a picture: a view of ours, a Plotly figure, or a page of its own."""
    if isinstance(picture.drawn, View):
        show(picture.drawn, picture.key)
    elif isinstance(picture.drawn, str):
        st.iframe(picture.drawn, height=picture.height)
    else:
        show_chart(picture.drawn, picture.key)
