"""Choice of another tokenizer for the same text; the weights of its model are not read."""

from __future__ import annotations

import streamlit as st

import models
from models.errors import ModelError
from models.files.progress import Progress
from models.tokens import Vocabulary
from pages.inside.compose import PIECES
from pages.inside.settings import Tokenizer
from ui import state
from ui.choices import picker
from ui.escaping import display_name, plain
from ui.memory import jobs, loaded, trainings
from ui.words import say, words

WHICH = {"translator": "writer"}  # that a tokenizer is held against at first


def draw() -> Tokenizer | None:
    """Place the choice of another tokenizer, and return it; None where there is none, or while it is being fetched."""
    st.markdown(f"##### {words(PIECES, 'title beside')}")
    say(PIECES, "beside")
    mine = picker.in_use()
    with st.container(key="inside-other", width=360):
        name = picker.pick_other(state.OTHER_TOKENIZER, "The other tokenizer", mine, WHICH.get(mine, "translator"))
    if not name:
        return None
    try:
        other = vocabulary_of(name)
    except ModelError as error:
        st.warning(
            plain(f"The tokenizer of “{display_name(name)}” could not be read. {error}"), icon=":material/deployed_code_alert:"
        )
        return None
    return None if other is None else Tokenizer(name, other)


def vocabulary_of(name: str) -> Vocabulary | None:
    """Return the tokenizer of a model by its name, None while it is being fetched."""
    if name in loaded.shelf:
        return loaded.model(name).vocabulary
    trained = trainings.find(name)
    source = (trained.base or str(trained.folder)) if trained else name

    def work(report: jobs.Report) -> Vocabulary:
        def tell(progress: Progress) -> None:
            doing, figures, share = picker.in_words(progress)
            report(share, f"{doing} {figures}".strip())

        return models.load_tokenizer(source, tell)

    return jobs.result(("tokenizer", name), work, f"Fetching the tokenizer of {plain(display_name(name))}")
