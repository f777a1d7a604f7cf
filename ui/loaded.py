"""Models in memory, shared between all sessions."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from models.language_model import LanguageModel

MODELS_IN_MEMORY = 4


# Python lets a busy thread run 5 ms before another gets its turn; what one thread has drawn should leave for the browser sooner.
sys.setswitchinterval(0.0005)


def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)


# Forward passes run on threads that stay: torch sets up helpers for each calling thread, and Streamlit makes a thread a run.
# Each uses one core, as many as there are cores: a short text gains nothing from two, and waits when a browser has the other.
_forwards = ThreadPoolExecutor(os.cpu_count() or 2, thread_name_prefix="forward", initializer=_one_thread)


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
    return _forwards.submit(model(name).trace, text).result()


@st.cache_resource(show_spinner=False, max_entries=MODELS_IN_MEMORY)
def head_scores(name: str):
    """analysis.head_scores, once a model."""
    from analysis import head_scores as compute

    return compute(model(name))
