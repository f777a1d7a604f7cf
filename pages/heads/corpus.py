"""The texts on which page "Heads" measures, how well the model reads them, and long work that waits for a click."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from analysis.importance import TEXTS, held_out
from analysis.samples import Fit, Unspelt, fit, pieces_of
from pages.heads import state as page_state
from ui import effort, state
from ui.choices.widgets import one_of
from ui.escaping import plain
from ui.look import Look
from ui.memory import jobs
from ui.words import heading_for, say, words
from viz import percent

HERE = Path(__file__).parent
LONG = 60.0  # seconds; what takes longer waits for a click
LENGTH = 40  # tokens of a sample text, about
SAMPLE, OWN = page_state.HEADS_TEXT.values

T = TypeVar("T")


@dataclass(frozen=True)
class Corpus:
    """The texts on which heads are measured. texts: each with its target, None for those that come with the program; description:
    of the texts, for sentences on screen."""

    look: Look
    texts: tuple[tuple[str, str], ...] | None
    description: str

    @property
    def key(self) -> tuple:
        return self.look.model.info.name, self.look.model.condition, self.look.kind, self.texts

    def seconds(self, readings: float) -> float:
        """Estimate the seconds that it takes to read the texts `readings` times."""
        lengths = [len(text.split()) * 1.4 for text, _ in self.texts] if self.texts else [LENGTH] * TEXTS
        return effort.seconds(self.look.model.info, sum(lengths) / len(lengths), readings * len(lengths))

    def result(self, name: str, readings: float, work: Callable[[jobs.Report], T], doing: str) -> T | None:
        """Return the result of a job; None while it is under way, was cancelled, or waits for a click, and, with a sentence, if
        the model cannot spell the texts. readings: how often it reads the texts; 0: it never waits for a click."""
        key, lasts = (name, *self.key), self.seconds(readings)
        if lasts > LONG and not effort.is_begun(key):
            say(HERE, "takes long")
            effort.offer(f"Measure it ({effort.format_duration(lasts)})", key)
            return None
        try:
            return jobs.result(key, work, doing)
        except Unspelt as unspelt:
            section = "unspelt own" if unspelt.own else "unspelt"
            say(HERE, section, share=percent(unspelt.share), name=self.look.model.info.name)
            return None

    def fit_sentence(self) -> str:
        """Return a sentence on how many of the tokens the model knows, and on its loss; "" while that is measured, and for
        beginners where it knows all."""
        model, texts = self.look.model, self.texts
        if texts is None and model.info.name == "translator" and self.look.kind == "decoder":
            texts = tuple(held_out(model))  # of which it is known what it should say
        key = ("head texts", *self.key)
        measured: Fit | None = jobs.result(key, lambda report: fit(model, texts), "Reading the texts")
        if measured is None:
            return ""
        if measured.unknown == 0 and state.level() == "beginner":
            return ""  # that it knows all of them would only be a riddle
        facts = {"texts": self.description, "known": percent(1 - measured.unknown), "tokens": f"{measured.tokens:,}"}
        if np.isnan(measured.loss):
            return words(HERE, "read so well no loss", **facts)
        return words(HERE, "read so well", **facts, loss=f"{measured.loss:.2f}", even=f"{measured.even:.2f}")


def choose_corpus(look: Look, predicts: bool = True) -> Corpus | None:
    """Return the chosen texts; None, with a sentence, if heads cannot be measured. predicts: whether a loss is measured, which
    needs the right predictions."""
    info = look.model.info
    if predicts and (look.trace.unembed is None or (info.kind == "encoder" and not info.mask)):
        say(HERE, heading_for(HERE, "headless", look.case), name=plain(info.name))
        return None
    both = info.kind == "encoder-decoder"
    shipped = not predicts or not both or info.name == "translator"
    chosen = one_of(
        page_state.HEADS_TEXT,
        page_state.HEADS_TEXT.values,
        "the texts",
        offered=(SAMPLE, OWN) if shipped else (OWN,),
        label="Measured on",
        help="The texts that the model reads while every head is measured. Another text may show other heads at work.",
    )
    state.keep(page_state.HEADS_TEXT, chosen, SAMPLE)
    if chosen == SAMPLE:
        return sample_corpus(look, predicts)
    if both and not look.second.strip() and (predicts or look.kind != "encoder"):
        say(HERE, "no target")
        return None
    texts = tuple(pieces_of(look.trace.text, look.second))
    if not texts:
        say(HERE, "no text")
        return None
    return Corpus(look, texts, words(HERE, "own text" if len(texts) > 1 else "own short text", count=len(texts)))


def sample_corpus(look: Look, predicts: bool = False) -> Corpus:
    """Return the texts that come with the program, on which every page measures heads."""
    both = look.model.info.kind == "encoder-decoder"
    section = "sample pairs" if predicts and both else "sample sentences" if look.kind == "cross" else "sample texts"
    return Corpus(look, None, words(HERE, section))
