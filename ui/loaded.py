"""Models in memory, shared between all sessions."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from models.language_model import LanguageModel

MODELS_IN_MEMORY = 4
_forwards = threading.Semaphore(max(2, (os.cpu_count() or 2)))  # more at once than cores only makes everybody wait


@st.cache_resource(max_entries=MODELS_IN_MEMORY, show_spinner="Preparing the model …")
def model(name: str) -> LanguageModel:
    """The model of that name, loaded once a server."""
    import gc

    import models

    found = models.load(name)
    found.predict("Warm")  # the first forward pass sets up kernels
    gc.collect()
    gc.freeze()  # what stays for good need not be walked by later collections
    return found


def read(name: str, text: str):
    """The Trace of a text by a shared model."""
    with _forwards:
        return model(name).trace(text)


@st.cache_data(show_spinner=False, max_entries=MODELS_IN_MEMORY)
def head_scores(name: str):
    """analysis.head_scores, once a model."""
    from analysis import head_scores as compute

    return compute(model(name))


@st.cache_resource
def warm(name: str) -> threading.Thread:
    """Import torch and load the default model while the first page is being drawn."""
    thread = threading.Thread(target=model, args=(name,), daemon=True)
    thread.start()
    return thread
