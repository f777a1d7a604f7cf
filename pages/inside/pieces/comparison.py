"""Comparison with another tokenizer on the same text; the weights of its model are not read."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

import models
from models.errors import ModelError
from models.files.progress import Progress
from models.tokens import Vocabulary
from pages.inside.compose import PIECES, compose
from pages.inside.settings import Settings, Tokenizer
from ui import state
from ui.choices import picker
from ui.escaping import display_name, plain
from ui.look import Look
from ui.memory import jobs, loaded, trainings
from ui.picture.mount import composed, mount_all
from ui.picture.picture import Picture
from ui.words import say, words

WHICH = {"translator": "writer"}  # that a tokenizer is held against at first


def draw(look: Look) -> Sequence[Picture]:
    """Draw the tokens of both tokenizers side by side, and the number of tokens of a few texts with each."""
    st.markdown(f"##### {words(PIECES, 'title beside')}")
    say(PIECES, "beside")
    mine = look.model.info.name
    with st.container(key="inside-other", width=360):
        name = picker.pick_other(state.OTHER_TOKENIZER, "The other tokenizer", mine, WHICH.get(mine, "translator"))
    if not name:
        return []
    try:
        other = vocabulary_of(name)
    except ModelError as error:
        st.warning(
            plain(f"The tokenizer of “{display_name(name)}” could not be read. {error}"), icon=":material/deployed_code_alert:"
        )
        return []
    if other is None:
        return []
    return mount_all(composed(compose, look, Settings(), Tokenizer(name, other)))


def vocabulary_of(name: str) -> Vocabulary | None:
    """Return the tokenizer of a model by its name, None while it is being fetched."""
    if name in loaded.shelf:
        return loaded.model(name).vocabulary
    trained = trainings.find(name)
    source = str(trained.folder) if trained else name

    def work(report: jobs.Report) -> Vocabulary:
        def tell(progress: Progress) -> None:
            doing, figures, share = picker.in_words(progress)
            report(share, f"{doing} {figures}".strip())

        return models.load_tokenizer(source, tell)

    return jobs.result(("tokenizer", name), work, f"Fetching the tokenizer of {plain(display_name(name))}")
