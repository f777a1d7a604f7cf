"""The tokens of the built-in sample of texts at which neurons fire most."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from weakref import WeakKeyDictionary

import numpy as np

from analysis.inside import steps
from analysis.inside.reading import on_the_way
from models.language_model import LanguageModel
from models.tokens import Token
from models.trace import Trace

PASSAGES, LENGTH = 24, 240  # passages of the sample, and characters of each
BEST = 6  # tokens kept of each neuron
AROUND = 5  # tokens before and after each, with their numbers
LAYERS = 8  # kept of a model, those asked for last
Report = Callable[[float, str], None]


@dataclass(frozen=True)
class Firing:
    """A token of the sample at which a neuron fires. texts: the tokens of its passage; at: its index among them; value: how
    strongly the neuron fires; near: the same for each token from AROUND before it to AROUND after it, NaN where there is none or
    it stands for no text."""

    texts: tuple[str, ...]
    at: int
    value: float
    near: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Sampled:
    """The strongest firings of a layer's neurons in the sample.

    texts: each passage's tokens; where: int [neuron, rank, 2], the passage and the token in it at which each neuron fires most,
    the strongest first; values: float32 [neuron, rank]; near: float16 [neuron, rank, 2 AROUND + 1], as in `Firing`; tokens: how
    many were read.
    """

    texts: tuple[tuple[str, ...], ...]
    where: np.ndarray
    values: np.ndarray
    near: np.ndarray
    tokens: int

    def of(self, neuron: int) -> tuple[Firing, ...]:
        places = zip(*(numbers[neuron].tolist() for numbers in (self.where, self.values, self.near)), strict=True)
        return tuple(Firing(self.texts[passage], at, value, tuple(near)) for (passage, at), value, near in places)


_samples: WeakKeyDictionary[LanguageModel, OrderedDict[tuple[object, ...], Sampled]] = WeakKeyDictionary()
_lock = threading.Lock()


@cache
def passages() -> tuple[str, ...]:
    """Return the beginnings of the sample's first paragraphs that are not too short. Source: see `tuned_lens.SAMPLE`."""
    from models.lens.tuned_lens import SAMPLE  # brings torch

    lines = (line.strip() for line in SAMPLE.read_text(encoding="utf-8").splitlines())
    return tuple(line[:LENGTH] for line in lines if len(line) >= LENGTH // 4)[:PASSAGES]


def sampled(model: LanguageModel, stack: str, layer: int, step: int, report: Report = lambda share, words: None) -> Sampled:
    """Return where the neurons of a layer fire most in the sample; calculated once while a model stays unchanged.

    step: the step of the block whose output is the neurons', counted along the path. report(share, words): called with the
    progress; it may raise to stop.
    """
    key = (stack, layer, step, model.condition)
    with _lock:
        samples = _samples.setdefault(model, OrderedDict())
        if key in samples:
            samples.move_to_end(key)
            return samples[key]
    sample = _read(model, stack, layer, step, report)
    with _lock:
        samples[key] = sample
        while len(samples) > LAYERS:
            samples.popitem(last=False)
    return sample


def _read(model: LanguageModel, stack: str, layer: int, step: int, report: Report) -> Sampled:
    texts, passage_values, places = [], [], []
    for number, text in enumerate(passages()):
        report(number / PASSAGES, f"Passage {number + 1} of {PASSAGES}")
        if stack == "self":
            tokens: Sequence[Token] = model.tokenize(text)[: model.room]
            trace = Trace(text, tokens, {}, {})
        else:
            trace = model.trace(text, text if stack == "decoder" else "", remember=False)
            tokens = trace.target if stack == "decoder" else trace.tokens
        section = model.watch(trace, stack, layer, []).block
        value = steps.flat(on_the_way(section)[step], len(tokens))
        positions = [i for i, token in enumerate(tokens) if not token.special]
        texts.append(tuple(token.text for token in tokens))
        if value is not None and positions:
            passage_values.append(value[positions].astype(np.float16))
            places += [(number, i) for i in positions]
    all_values = np.concatenate(passage_values)  # [token, neuron]
    strength = np.abs(all_values)
    best = np.argsort(-strength, axis=0, kind="stable")[:BEST] if len(all_values) <= BEST else _largest(strength)
    values = np.take_along_axis(all_values, best, 0).astype(np.float32).T
    where = np.array(places)[best.T]
    return Sampled(tuple(texts), where, values, _near(all_values, np.array(places), where), len(all_values))


def _near(all_values: np.ndarray, places: np.ndarray, best_places: np.ndarray) -> np.ndarray:
    """Return each neuron's values around its places [neuron, rank, 2]: float16 [neuron, rank, 2 AROUND + 1]."""
    rows = np.full((places[:, 0].max() + 1, places[:, 1].max() + 1 + 2 * AROUND), -1)  # the row of each token
    rows[places[:, 0], places[:, 1] + AROUND] = np.arange(len(places))
    offsets = np.arange(2 * AROUND + 1)
    rows_around = rows[best_places[:, :, :1], best_places[:, :, 1:] + offsets]
    return np.where(rows_around >= 0, all_values[rows_around, np.arange(len(best_places))[:, None, None]], np.float16(np.nan))


def _largest(strength: np.ndarray) -> np.ndarray:
    """Return the tokens at which each neuron fires most: int [rank, neuron]."""
    best = np.argpartition(-strength, BEST, axis=0)[:BEST]
    order = np.argsort(-np.take_along_axis(strength, best, 0), axis=0, kind="stable")
    return np.take_along_axis(best, order, 0)
