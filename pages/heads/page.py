"""Page "Heads": what each head of a model does, compared with chance, and why it has its label."""

from pathlib import Path

import pandas as pd
import streamlit as st

from pages.heads import byweights, labels, of_image, standins, why, worth
from pages.heads import state as page_state
from pages.heads.corpus import choose_corpus, sample_corpus
from ui import shell, state
from ui.choices import heads, picker
from ui.choices.widgets import tabs
from ui.look import Look
from ui.memory import loaded
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import picture
from ui.words import say

HERE = Path(__file__).parent


def draw(look: Look) -> None:
    why.follow()
    if "image" in look.model.info.reads:
        return draw_picture(look)
    if look.beginner:
        state.later(
            "intermediate",
            page_state.HEADS_PART,
            page_state.HEADS_LABEL,
            page_state.HEADS_TEXT,
            page_state.HEADS_WORTH,
            page_state.HEADS_ALIKE,
        )
    if look.level != "expert":
        state.later("expert", page_state.HEADS_BY, page_state.HEADS_WAY)
    pictures: list[Picture] = []
    above = shell.above()
    with picture("This page"):
        pictures = draw_for_beginners(look, above) if look.beginner else draw_part(look, above)
    with above, picture("“Take it away”"):
        take_away("heads", lambda: pictures)


def draw_picture(look: Look) -> None:
    """Draw the page for a model of images, whose heads are measured on the sample pictures."""
    above, pictures = shell.above(), list[Picture]()
    with picture("This page"):
        pictures = of_image.draw(look, above)
    with above, picture("“Take it away”"):
        take_away("heads", lambda: pictures)


def draw_for_beginners(look: Look, above: st.delta_generator.DeltaGenerator) -> list[Picture]:
    corpus = sample_corpus(look)
    if (table := labels.measure_labels(corpus)) is None:
        return []
    with above:
        labels.caption(corpus, table)
    pictures = meet(look, table)
    st.caption(f"{labels.about_texts(corpus, table)} {corpus.fit_sentence()}")
    return pictures


def meet(look: Look, table: pd.DataFrame) -> list[Picture]:
    """Draw examples of heads with different jobs."""
    chosen = labels.different_jobs(table)
    if not chosen:
        say(HERE, "none")
        return []
    return why.examples(sample_corpus(look), chosen, 1)


def draw_part(look: Look, above: st.delta_generator.DeltaGenerator) -> list[Picture]:
    """Draw the chosen part of the page."""
    with above:
        part = tabs(page_state.HEADS_PART, "the part", page_state.HEADS_PART.values[: 4 if look.level == "expert" else 3])
    if part == "Weights":
        return byweights.panel(look)
    corpus = choose_corpus(look, predicts=part != "Labels")
    if corpus is None:
        return []
    if part == "Stand-ins":
        return standins.panel(corpus)
    if (table := labels.measure_labels(corpus)) is None:
        return []
    if part == "Importance":
        return worth.panel(corpus, table)
    labels.caption(corpus, table)
    return labels.panel(corpus, table)


def uses_no_text() -> bool:
    """Return whether heads are measured on the sample texts, and not on the visitor's; which one has of a model with two stacks
    is known only once the controls are placed."""
    if state.level() == "beginner":
        return True
    own = page_state.HEADS_TEXT.values[1]
    two_stacks = loaded.info(picker.in_use()).kind == "encoder-decoder"
    return not two_stacks and page_state.HEADS_TEXT.get_or(page_state.HEADS_TEXT.in_address) != own


heads.side_bar(picker.in_use())
of_images = "image" in loaded.info(picker.in_use()).reads
shell.live(
    HERE,
    draw,
    reads=False,
    answers=False,
    purpose="purpose image" if of_images else "purpose",
    hides_boxes=uses_no_text,
    reads_images=True,
)
