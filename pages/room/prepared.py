"""The playlist on page Room: its entries in their order, its file, and the question of an entry."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ui.escaping import plain
from ui.rooms import play, playlist
from ui.rooms.playlist import Entry
from ui.show import choice
from ui.show import show as show_view
from ui.words import say
from viz.views.file_picker import file_picker


def show(folder: Path) -> None:
    """Draw the entries, each with the button that opens it, and the ways to save them and to open others."""
    say(folder, "playlist")
    entries = play.entries()
    for number, entry in enumerate(entries, 1):
        draw_entry(number, entry)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if entries:
            st.download_button(
                "Save the playlist",
                lambda: playlist.write(entries),
                "playlist.json",
                "application/json",
                key="playlist-save",
                icon=":material/download:",
                on_click="ignore",
            )
        show_view(file_picker("Open a playlist …", ends=".json", largest=playlist.LARGEST), "playlist-file", open_chosen)


def draw_entry(number: int, entry: Entry) -> None:
    """Draw an entry: what it opens, what it asks, and how it is moved or removed."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"playlist-entry-{number}"):
        st.button(
            plain(f"{number}. {entry.name}"),
            key=f"playlist-open-{number}",
            type="primary" if entry is play.current() else "secondary",
            on_click=play.open_entry,
            args=(number,),
            width="stretch",
        )
        st.button(
            "Up",
            key=f"playlist-up-{number}",
            icon=":material/arrow_upward:",
            disabled=number == 1,
            type="tertiary",
            on_click=play.move_up,
            args=(number,),
        )
        st.button(
            "Remove",
            key=f"playlist-remove-{number}",
            icon=":material/close:",
            type="tertiary",
            on_click=play.remove,
            args=(number,),
        )
    if entry.question:
        st.caption(f"Asks: {plain(entry.question.words)}")


def open_chosen() -> None:
    play.open_file((choice("playlist-file") or {}).get("text"))
