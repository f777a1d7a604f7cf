"""What each head does, by where it looks: scores for the well-known kinds of heads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from models.language_model import LanguageModel
from models.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

# Plain English of our own, so that scores can be had without any file.
SAMPLES = (
    "The old gardener opened the gate, and the dog that had been waiting all morning ran past him into the street.",
    "Mary told her brother that the train would leave at noon, but her brother had never once been on time for a train.",
    "There is a lamp in the window of the last house, and when the lamp is lit the fishermen know which way to row.",
    "She put the letter on the table, looked at the letter again, and then threw the letter into the fire.",
)


def repeated_words(model: LanguageModel, words: int = 40, seed: int = 0) -> str:
    """Random words of the model's own vocabulary, said twice: only a model that looks back can know the second round.

    Letters, where the vocabulary has no words.
    """
    generator = np.random.default_rng(seed)
    texts = [model.token_text(int(id)) for id in generator.permutation(model.info.vocabulary)]
    found = [" " + text.strip() for text in texts if re.fullmatch(r"[ ]?[a-z]{3,}", text)]
    found = found or [text for text in texts if re.fullmatch(r"[a-z]", text)]
    return "".join(found[:words] * 2)


def looks(trace: Trace, kind: str = "self") -> dict[str, np.ndarray]:
    """Mean weight of each head on well-known kinds of tokens: one [layers, heads] a kind.

    previous, current, next, first: on the token before, itself, the one after, the first of all.
    duplicate: on earlier copies of the same token; induction: on what followed those copies; both over the queries that have
    one, NaN where no token repeats. (Elhage et al. 2021; Olsson et al. 2022)
    """
    attention = trace.attention[kind]
    ids = np.array([token.id for token in attention.queries])
    earlier = np.tril(ids[:, None] == ids[None, :], -1)
    after = np.zeros_like(earlier)
    after[:, 1:] = earlier[:, :-1]
    after &= np.tri(len(ids), k=-1, dtype=bool)
    weights = np.stack([attention[layer] for layer in range(attention.layers)])  # [layers, heads, query, key]

    def along(offset: int) -> np.ndarray:
        return np.diagonal(weights, offset, axis1=2, axis2=3).mean(-1)

    def on(where: np.ndarray) -> np.ndarray:
        rows = where.any(-1)
        return (weights * where)[:, :, rows].sum(-1).mean(-1) if rows.any() else np.full(weights.shape[:2], np.nan)

    return {
        "previous": along(-1),
        "current": along(0),
        "next": along(1),
        "first": weights[:, :, 1:, 0].mean(-1),
        "duplicate": on(earlier),
        "induction": on(after),
    }


def alignment(trace: Trace) -> np.ndarray:
    """How much each head of cross-attention goes along the source as the target proceeds: float64 [layers, heads], in -1..1.

    The correlation of a query's position with the mean position of the keys that it looks at, weighted by attention; 0 where
    either never changes. 1: word by word, as a translation between languages of the same order would.
    """
    attention = trace.attention["cross"]
    weights = np.stack([attention[layer] for layer in range(attention.layers)]).astype(np.float64)
    means = weights @ np.arange(len(attention.keys))  # [layers, heads, query]
    steps = np.arange(len(attention.queries)) - (len(attention.queries) - 1) / 2
    means -= means.mean(-1, keepdims=True)
    spread = np.sqrt((means**2).sum(-1) * (steps**2).sum())
    return np.divide((means * steps).sum(-1), spread, out=np.zeros(spread.shape), where=spread > 1e-9)


def head_scores(model: LanguageModel, texts: Sequence[str] = SAMPLES, kind: str | None = None) -> pd.DataFrame:
    """How much each head is a head of each well-known kind: columns layer, head, and a score in 0..1 a kind.

    kind: which attention: "self", "encoder", or "decoder" (which then reads the text); by default the model's first.

    previous, current, next, first: mean weight on that token, over `texts`. duplicate, induction: mean weight on earlier
    copies of a token and on what followed them, over random words said twice.
    """
    import pandas as pd  # here, because it takes long to import and a first page needs it only now

    if kind is None:
        kind = "encoder" if model.info.kind == "encoder-decoder" else "self"

    def seen(text: str) -> dict[str, np.ndarray]:
        return looks(model.trace(text, text if kind == "decoder" else ""), kind)

    natural = [seen(text) for text in texts]
    repeated = [seen(repeated_words(model, seed=seed)) for seed in range(2)]
    scores = {kind: np.mean([one[kind] for one in natural], axis=0) for kind in ("previous", "current", "next", "first")}
    scores |= {kind: np.mean([one[kind] for one in repeated], axis=0) for kind in ("duplicate", "induction")}
    layers, heads = np.indices(scores["previous"].shape)
    return pd.DataFrame(
        {"layer": layers.ravel(), "head": heads.ravel()} | {kind: score.ravel() for kind, score in scores.items()}
    )
