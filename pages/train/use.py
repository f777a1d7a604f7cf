"""Use of the trained model: it opens on all pages, and can be downloaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from models.errors import ModelError
from ui import state
from ui.choices import examples
from ui.choices.open_trained import open_button
from ui.escaping import plain
from ui.memory import allowed, trainings
from ui.words import say, words
from ui.zipped import zip_folder

if TYPE_CHECKING:
    from models.training.live import Training

OWN_READ = "The model now reads its own example on all pages."
YOURS_READ = "The model now reads your text, on all pages."


def place(here: Path, name: str, training: Training) -> None:
    st.markdown("##### Use it")
    file = f"{training.task.name}-{training.learned}-steps"
    if not training.config.heads:
        say(here, "use without heads", step=training.learned)
        download_weights(training.weights, file)
        return
    say(here, "use", step=training.learned)

    def save() -> trainings.Trained | None:
        try:
            return trainings.write_model(name, training)
        except ModelError as error:
            st.toast(plain(str(error)), icon=":material/report:")
            return None

    def open_head() -> None:
        if (trained := save()) and (own := examples.trained_example(trained.name)):
            examples.open_example(own)

    with st.container(horizontal=True, gap="small"):
        open_button(name, training, "train-open", OWN_READ, YOURS_READ)
        label = words(here, "head of repeat" if training.task.name == "repeat" else "head")
        if st.button(label, icon=":material/visibility:", on_click=open_head, key="train-open-head"):
            st.rerun()
        beginner = state.level() == "beginner"
        if not beginner:
            download_weights(lambda: (trainings.write_model(name, training).folder / "model.safetensors").read_bytes(), file)
        st.download_button(
            "Download it" if beginner else "Folder (zip)",
            lambda: zip_folder(trainings.write_model(name, training).folder),
            f"{file}.zip",
            "application/zip",
            key="train-folder",
            on_click="ignore",
            icon=":material/folder_zip:",
        )
        if (logs := trainings.logs(name)).is_dir():
            st.download_button(
                "TensorBoard log (zip)",
                lambda: zip_folder(logs),
                f"{file}-log.zip",
                "application/zip",
                key="train-log-zip",
                on_click="ignore",
                icon=":material/monitoring:",
            )
    if logs.is_dir() and allowed.sits_here():  # a path of the server is of no use elsewhere
        say(here, "log")
        st.code(
            f"tensorboard --logdir {plain_path(logs)} --samples_per_plugin images=100,scalars=10000",
            language="bash",
            wrap_lines=True,
        )


def download_weights(read: Callable[[], bytes], file: str) -> None:
    """Place the button that takes the weights away. file: its name, without its end."""
    st.download_button(
        "Weights (safetensors)",
        read,
        f"{file}.safetensors",
        "application/octet-stream",
        key="train-weights",
        on_click="ignore",
        icon=":material/download:",
    )


def plain_path(path: Path) -> str:
    """Quote a path for a shell."""
    import shlex

    return shlex.quote(str(path))
