"""Part "Lens": training of a tuned lens for a model that has none, in a background job; the lens is saved."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from models.lens import tuned_lens
from pages.layers import state as page_state
from ui.choices import text_boxes
from ui.escaping import plain
from ui.memory import jobs
from ui.memory.jobs import Report
from ui.words import say

if TYPE_CHECKING:
    from models.language_model import LanguageModel


def draw(here: Path, model: LanguageModel) -> tuned_lens.TunedLens | None:
    """Offer to train a lens for these weights; show the progress of a training; return the lens when there is one."""
    weights, request = mine(model), page_state.LENS_TRAINING.get()
    if request is None or request[0] != weights:
        with st.expander("Train a tuned lens for this model", icon=":material/tune:"):
            say(here, "lens train")
            empty = "Empty: the story that comes with Headlight"
            most = text_boxes.character_limit()
            own = st.text_area("Your own text to learn from", key=page_state.LENS_TEXT.name, placeholder=empty, max_chars=most)
            st.button("Train it", on_click=ask, args=(weights, (own or "")[:most]), key="lens-train")
        return None
    text = request[1].strip() or tuned_lens.SAMPLE.read_text(encoding="utf-8")
    key = ("tuned lens", weights, hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest())
    try:
        return jobs.result(key, lambda report: train(model, text, report), "Training a tuned lens")
    except ValueError as error:
        st.warning(plain(str(error)), icon=":material/tune:")
        st.button("Choose another text", on_click=page_state.LENS_TRAINING.pop, key="lens-again")
        return None


def ask(weights: str, text: str) -> None:
    page_state.LENS_TRAINING.set((weights, text))


def train(model: LanguageModel, text: str, report: Report) -> tuned_lens.TunedLens:
    """Train a lens, and save it to disk where there is room."""
    lens, figures = tuned_lens.train(model, [text], report=report)
    try:
        tuned_lens.keep(lens, model, figures)
    except Exception:  # of the system, or of safetensors in its own kind: without room it stays in memory as long as results do
        logging.getLogger(__name__).exception("A lens could not be kept")
    return lens


def mine(model: LanguageModel) -> str:
    """Return the fingerprint that identifies a lens of this model."""
    return tuned_lens.fingerprint(model)


def say_trained(here: Path, model: LanguageModel) -> None:
    """Say how good the lens trained here is."""
    if figures := tuned_lens.figures_of(model):
        before, after = (np.mean(figures[f"{name}_lens_kl"]) for name in ("logit", "tuned"))
        facts = {"positions": f"{figures['positions']:,}", "steps": figures["steps"]}
        say(here, "lens trained", before=f"{before:.2f}", after=f"{after:.2f}", **facts)
