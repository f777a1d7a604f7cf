"""Where neurons fire among the tokens of the built-in sample of texts."""

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
BEST = 6  # tokens that are kept of each neuron
AROUND = 5  # tokens before and after each whose numbers are kept too
LAYERS = 8  # of a model that are kept, the last ones that were asked for
Report = Callable[[float, str], None]


@dataclass(frozen=True)
class Firing:
    """A token of the sample at which a neuron fires. texts: the tokens of its passage; at: which of them; value: how strongly;
    near: how strongly at each from AROUND before it to AROUND after it, NaN where there is none or it stands for no text."""

    texts: tuple[str, ...]
    at: int
    value: float
    near: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Sampled:
    """What a layer's neurons did in the sample. texts: each passage's tokens; where: int [neuron, rank, 2], the passage and the
    token in it at which each fires most, the strongest first; values: float32 [neuron, rank]; near: float16 [neuron, rank,
    2 AROUND + 1], as in `Firing`; tokens: how many were read."""

    texts: tuple[tuple[str, ...], ...]
    where: np.ndarray
    values: np.ndarray
    near: np.ndarray
    tokens: int

    def of(self, neuron: int) -> tuple[Firing, ...]:
        places = zip(*(one[neuron].tolist() for one in (self.where, self.values, self.near)), strict=True)
        return tuple(Firing(self.texts[passage], at, value, tuple(near)) for (passage, at), value, near in places)


_kept: WeakKeyDictionary[LanguageModel, OrderedDict[tuple[object, ...], Sampled]] = WeakKeyDictionary()
_lock = threading.Lock()


@cache
def passages() -> tuple[str, ...]:
    """The beginnings of the first paragraphs of the sample that are not too short. Source: see `models.tuned_lens.SAMPLE`."""
    from models.tuned_lens import SAMPLE  # brings torch

    lines = (line.strip() for line in SAMPLE.read_text(encoding="utf-8").splitlines())
    return tuple(line[:LENGTH] for line in lines if len(line) >= LENGTH // 4)[:PASSAGES]


def sampled(model: LanguageModel, stack: str, layer: int, step: int, report: Report = lambda share, words: None) -> Sampled:
    """What the neurons of a layer did in the sample: calculated once for a model, as long as it stays the same.

    step: which step of the block gives what the neurons hand on, counted along its way. report(share, words) is told how far it
    is, and may raise to stop it.
    """
    key = (stack, layer, step, model.condition)
    with _lock:
        known = _kept.setdefault(model, OrderedDict())
        if key in known:
            known.move_to_end(key)
            return known[key]
    found = _read(model, stack, layer, step, report)
    with _lock:
        known[key] = found
        while len(known) > LAYERS:
            known.popitem(last=False)
    return found


def _read(model: LanguageModel, stack: str, layer: int, step: int, report: Report) -> Sampled:
    texts, fired, places = [], [], []
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
        shown = [i for i, token in enumerate(tokens) if not token.special]
        texts.append(tuple(token.text for token in tokens))
        if value is not None and shown:
            fired.append(value[shown].astype(np.float16))
            places += [(number, i) for i in shown]
    every = np.concatenate(fired)  # [token, neuron]
    strength = np.abs(every)
    best = np.argsort(-strength, axis=0, kind="stable")[:BEST] if len(every) <= BEST else _largest(strength)
    values = np.take_along_axis(every, best, 0).astype(np.float32).T
    where = np.array(places)[best.T]
    return Sampled(tuple(texts), where, values, _near(every, np.array(places), where), len(every))


def _near(every: np.ndarray, places: np.ndarray, where: np.ndarray) -> np.ndarray:
    """What each neuron does around its places `where` [neuron, rank, 2]: float16 [neuron, rank, 2 AROUND + 1]."""
    rows = np.full((places[:, 0].max() + 1, places[:, 1].max() + 1 + 2 * AROUND), -1)  # the row of each token in `every`
    rows[places[:, 0], places[:, 1] + AROUND] = np.arange(len(places))
    steps = np.arange(2 * AROUND + 1)
    found = rows[where[:, :, :1], where[:, :, 1:] + steps]
    return np.where(found >= 0, every[found, np.arange(len(where))[:, None, None]], np.float16(np.nan))


def _largest(strength: np.ndarray) -> np.ndarray:
    """Which tokens each neuron fires at most: int [rank, neuron]."""
    best = np.argpartition(-strength, BEST, axis=0)[:BEST]
    order = np.argsort(-np.take_along_axis(strength, best, 0), axis=0, kind="stable")
    return np.take_along_axis(best, order, 0)
