"""The mean outputs of heads and feed-forwards over a reference set of texts, which replace a part that is switched off."""

from __future__ import annotations

import threading
from weakref import WeakKeyDictionary

import numpy as np

from analysis.inside.sample import passages
from analysis.samples import Texts, check_spelling, pairs_of
from analysis.scopes import typed
from models.language_model import LanguageModel
from models.numbers.ragged import stacked
from models.numbers.readonly import read_only

PASSAGES = 12  # of the built-in sample: enough tokens for a mean, and few enough to read at a click
ANSWERED = 6  # of these, for an encoder-decoder
SAID, TOKENS = 80, 12  # characters of each, and tokens of its answer: each takes a reading

Means = dict[tuple[str, str], np.ndarray]
"""Means by kind and "heads", or by stack and "feedforward": float32 [layers, heads or 1, size]."""

_means: WeakKeyDictionary[LanguageModel, dict[object, Means]] = WeakKeyDictionary()
_lock = threading.Lock()


def head_means(model: LanguageModel, kind: str | None = None, texts: Texts = ()) -> np.ndarray:
    """Return each head's mean output, before W_O, over the tokens of some texts: float32 [layers, heads, d_head].

    texts: the reference set, each alone or with its target; none: PASSAGES of the built-in sample, read once while a model stays
    unchanged. For a text without a target, an encoder-decoder generates its own answer of at most TOKENS tokens; without texts it
    reads the first SAID characters of ANSWERED passages. kind: of the heads, None for "self" or "decoder". Tokens that nobody
    typed do not count.
    Errors: ValueError for an unknown kind, and if the heads' outputs are unknown; Unspelt if the tokenizer cannot spell more than
    a fifth of the texts.
    Source: Wang et al. 2023, "Interpretability in the Wild" (mean ablation over a reference distribution).
    """
    kind = kind or ("decoder" if model.info.kind == "encoder-decoder" else "self")
    averages = means_of(model, texts)
    if (kind, "heads") not in averages:
        kinds = ", ".join(name for name, part in averages if part == "heads")
        raise ValueError(f'{model.info.name} has no "{kind}" attention; it has {kinds}.')
    return averages[kind, "heads"]


def feedforward_means(model: LanguageModel, stack: str | None = None, texts: Texts = ()) -> np.ndarray:
    """Return the mean output of each feed-forward over the tokens of some texts: float32 [layers, d_model].

    stack: None for "self" or "decoder"; the rest: as `head_means`. NaN if a block has none that can be told apart. Errors:
    ValueError for an unknown stack.
    """
    stack = stack or ("decoder" if model.info.kind == "encoder-decoder" else "self")
    averages = means_of(model, texts)
    if (stack, "feedforward") not in averages:
        raise ValueError(f'What the feed-forwards of "{stack}" in {model.info.name} add is not known.')
    return averages[stack, "feedforward"][:, 0]


def means_of(model: LanguageModel, texts: Texts = ()) -> Means:
    """Return the means over some texts, or over the built-in sample. Errors: Unspelt."""
    if texts:
        return means(model, texts, own=True)
    condition = model.condition
    with _lock:
        if condition in (cached := _means.setdefault(model, {})):
            return cached[condition]
    has_target = model.info.kind == "encoder-decoder"
    sample_means = means(model, [text[:SAID] for text in passages()[:ANSWERED]] if has_target else passages()[:PASSAGES])
    with _lock:
        cached.clear()  # a network that has changed is another one
        cached[condition] = sample_means
    return sample_means


def means(model: LanguageModel, texts: Texts, own: bool = False) -> Means:
    """Return the mean output of each head and feed-forward. own: whether the texts are a visitor's."""
    outs: dict[tuple[str, str], list[np.ndarray]] = {}  # [layers, heads or one, position, size]
    pairs = pairs_of(texts)
    check_spelling(model, pairs, own)
    for text, target in pairs:
        full_target = target or (answer(model, text) if model.info.kind == "encoder-decoder" else "")
        trace = model.trace(text, full_target, remember=False)
        for kind, attention in trace.attention.items():
            places = typed(attention.queries)
            outputs = [attention.out(layer)[:, places] for layer in range(attention.layers)]
            outs.setdefault((kind, "heads"), []).append(stacked(outputs))
        for stack, parts in trace.parts.items():
            places = typed(trace.attention[stack].queries)
            outs.setdefault((stack, "feedforward"), []).append(parts["feedforward"][:, None, places])
    return {part: read_only(np.concatenate(some, axis=2).mean(2, np.float64).astype(np.float32)) for part, some in outs.items()}


def answer(model: LanguageModel, text: str) -> str:
    """Return an encoder-decoder's greedy answer to a text."""
    return [step.text for step in model.generate(text, max_new_tokens=TOKENS)][-1]
