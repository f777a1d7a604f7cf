"""Use of what was taught: the model opens on all pages, at any strength, and can be taken away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from ui.choices.open_trained import open_button
from ui.memory import trainings
from ui.words import say
from ui.zipped import zip_folder

if TYPE_CHECKING:
    from models.adapting.teaching import Teaching

OPENED = "The taught model now reads on all pages. The slider in the side bar sets how strong the change is."


def place(here: Path, name: str, teaching: Teaching) -> None:
    """Place the buttons."""
    st.markdown("##### Use it")
    say(here, "use all" if teaching.recipe.method == "full" else "use")

    with st.container(horizontal=True, gap="small"):
        open_button(name, teaching, "adapt-open", OPENED, OPENED)
        whole = teaching.recipe.method == "full"
        st.download_button(
            "Model (zip)" if whole else "Adapter (zip)",
            lambda: zip_folder(trainings.write_model(name, teaching).folder),
            f"{teaching.subject.replace(' ', '-')}-{teaching.step}-steps.zip",
            "application/zip",
            key="adapt-folder",
            on_click="ignore",
            icon=":material/folder_zip:",
            help="A folder that Headlight opens." if whole else "A folder that Headlight and peft open.",
        )
