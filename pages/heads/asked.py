"""What is measured on page "Heads": which texts, how well the model reads them, and work that waits for a press where it takes
long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from analysis.importance import TEXTS, held_out
from analysis.samples import Fit, Unspelt, fit, pieces_of
from ui import effort, state
from ui.choices.widgets import one_of
from ui.look import Look
from ui.memory import jobs
from ui.text import plain
from ui.words import headed, say, words
from viz import percent

HERE = Path(__file__).parent
LONG = 60.0  # seconds; what takes longer waits for a press
LENGTH = 40  # tokens of a sample text, about
SAMPLE, OWN = state.HEADS_TEXT.values

T = TypeVar("T")


@dataclass(frozen=True)
class Asked:
    """The texts that heads are measured on. texts: each with its target, None for those that come with the program; said: which
    they are, as the words have it."""

    look: Look
    texts: tuple[tuple[str, str], ...] | None
    said: str

    @property
    def key(self) -> tuple:
        return self.look.model.info.name, self.look.model.condition, self.look.kind, self.texts

    def seconds(self, readings: float) -> float:
        """About how long it takes to read the texts so many times."""
        lengths = [len(text.split()) * 1.4 for text, _ in self.texts] if self.texts else [LENGTH] * TEXTS
        return effort.seconds(self.look.model.info, sum(lengths) / len(lengths), readings * len(lengths))

    def worked(self, name: str, readings: float, work: Callable[[jobs.Report], T], doing: str) -> T | None:
        """What a job gives; None while it is under way, was cancelled, or waits for a press, and, with a sentence, for texts that
        the model cannot spell. readings: how often it reads the texts; 0 for what waits for no press."""
        key, lasts = (name, *self.key), self.seconds(readings)
        if lasts > LONG and not effort.begun(key):
            say(HERE, "takes long")
            effort.offer(f"Measure it ({effort.lasting(lasts)})", key)
            return None
        try:
            return jobs.result(key, work, doing)
        except Unspelt as unspelt:
            section = "unspelt own" if unspelt.own else "unspelt"
            say(HERE, section, share=percent(unspelt.share), name=self.look.model.info.name)
            return None

    def read_so_well(self) -> str:
        """A sentence on how many of the tokens the model knows, and on its loss; "" while that is measured."""
        model, texts = self.look.model, self.texts
        if texts is None and model.info.name == "translator" and self.look.kind == "decoder":
            texts = tuple(held_out(model))  # of which it is known what it should say
        key = ("head texts", *self.key)
        measured: Fit | None = jobs.result(key, lambda report: fit(model, texts), "Reading the texts")
        if measured is None:
            return ""
        facts = {"texts": self.said, "unknown": percent(measured.unknown), "tokens": f"{measured.tokens:,}"}
        if np.isnan(measured.loss):
            return words(HERE, "read so well no loss", **facts)
        return words(HERE, "read so well", **facts, loss=f"{measured.loss:.2f}", even=f"{measured.even:.2f}")


def asked(look: Look, predicts: bool = True) -> Asked | None:
    """The texts that are chosen; None, with a sentence, where none can be measured on. predicts: whether a loss is measured, for
    which it must be known what the model should say."""
    info = look.model.info
    if predicts and (look.trace.unembed is None or (info.kind == "encoder" and not info.mask)):
        say(HERE, headed(HERE, "headless", look.case), name=plain(info.name))
        return None
    both = info.kind == "encoder-decoder"
    shipped = not predicts or not both or info.name == "translator"
    chosen = one_of(
        state.HEADS_TEXT, state.HEADS_TEXT.values, "the texts", offered=(SAMPLE, OWN) if shipped else (OWN,), label="Measured on"
    )
    state.keep(state.HEADS_TEXT, chosen, SAMPLE)
    if chosen == SAMPLE:
        return sample(look, predicts)
    if both and not look.second.strip() and (predicts or look.kind != "encoder"):
        say(HERE, "no target")
        return None
    texts = tuple(pieces_of(look.trace.text, look.second))
    if not texts:
        say(HERE, "no text")
        return None
    return Asked(look, texts, words(HERE, "own text" if len(texts) > 1 else "own short text", count=len(texts)))


def sample(look: Look, predicts: bool = False) -> Asked:
    """The texts that come with the program, by which every page measures heads."""
    both = look.model.info.kind == "encoder-decoder"
    section = "sample pairs" if predicts and both else "sample sentences" if look.kind == "cross" else "sample texts"
    return Asked(look, None, words(HERE, section))
