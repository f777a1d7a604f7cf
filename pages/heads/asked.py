"""What is measured on page "Heads": which texts, and work that waits for a press where it takes long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from analysis.importance import TEXTS, pieces_of
from ui import effort, state
from ui.choices.widgets import one_of
from ui.look import Look
from ui.memory import jobs
from ui.text import plain
from ui.words import headed, say, words

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
        """What a job gives; None while it is under way, was cancelled, or waits for a press."""
        key, lasts = (name, *self.key), self.seconds(readings)
        if lasts > LONG and not effort.begun(key):
            say(HERE, "takes long")
            effort.offer(f"Measure it ({effort.lasting(lasts)})", key)
            return None
        return jobs.result(key, work, doing)


def asked(look: Look) -> Asked | None:
    """The texts that are chosen; None, with a sentence, where none can be measured on."""
    info = look.model.info
    if look.trace.unembed is None or (info.kind == "encoder" and not info.mask):
        say(HERE, headed(HERE, "headless", look.case), name=plain(info.name))
        return None
    shipped = info.kind != "encoder-decoder" or info.name == "translator"
    chosen = one_of(
        state.HEADS_TEXT, state.HEADS_TEXT.values, "the texts", offered=(SAMPLE, OWN) if shipped else (OWN,), label="Measured on"
    )
    state.keep(state.HEADS_TEXT, chosen, SAMPLE)
    if chosen == SAMPLE:
        return Asked(look, None, words(HERE, "sample pairs" if info.kind == "encoder-decoder" else "sample texts"))
    if info.kind == "encoder-decoder" and not look.second.strip():
        say(HERE, "no target")
        return None
    texts = tuple(pieces_of(look.trace.text, look.second))
    if not texts:
        say(HERE, "no text")
        return None
    return Asked(look, texts, words(HERE, "own text" if len(texts) > 1 else "own short text", count=len(texts)))
