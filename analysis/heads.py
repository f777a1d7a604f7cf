"""Scores of heads for the well-known kinds of heads, by where they look."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis.samples import Pairs, Texts, check_spelling, natural, pairs_of, repeats
from models.huggingface.names import quoted
from models.language_model import LanguageModel
from models.numbers.ragged import stacked
from models.reading.repeats import earlier_copies, share_on, what_followed
from models.tokens import Token
from models.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

PLACES = ("previous", "current", "next", "first", "separator")  # kinds of keys to measure on natural text
REPEATS = ("duplicate", "induction")  # and on random words said twice


def kinds_of_keys(tokens: Sequence[Token], mask: str = "") -> dict[str, np.ndarray]:
    """Mark the keys of each well-known kind, seen from each query: bool [query, key] by name. For the kinds see `looks`. mask:
    the model's mask token, which stands for a word."""
    ids, count = [token.id for token in tokens], len(tokens)
    places = np.subtract.outer(np.arange(count), np.arange(count))  # how far back a key is
    later = np.arange(count) > 0
    parts = later & np.array([separates(token, mask) for token in tokens], dtype=bool)
    return {
        "previous": places == 1,
        "current": (places == 0) & later[:, None],
        "next": (places == -1) & later[:, None],
        "first": later[:, None] & ~later,
        "separator": later[:, None] & parts & (places != 0),
        "duplicate": earlier_copies(ids),
        "induction": what_followed(ids),
    }


def separates(token: Token, mask: str = "") -> bool:
    """Return whether a token separates parts of a text: a special token or punctuation, but no mask or unknown token, which
    stand for words."""
    if token.special:
        return not token.unknown and token.text != mask
    return not re.search(r"\w", token.text or "x")


def looks(trace: Trace, kind: str = "self") -> dict[str, np.ndarray]:
    """Return each head's mean weight on well-known kinds of tokens: a [layers, heads] for each, over the queries after the first.

    previous, current, next, first: on the token before, on itself, on the token after, on the first of all (the first query of a
    decoder can only look at itself, so it never counts). separator: on separators other than the first token and itself: special
    tokens and punctuation (Clark et al. 2019; see `separates`). duplicate: on earlier copies of the same token. induction: on the
    tokens after all of those copies (`models.reading.repeats.what_followed`). The last two are means over the queries that have
    such a key. All are NaN where no query has one. (Elhage et al. 2021; Olsson et al. 2022)
    """
    attention = trace.attention[kind]
    weights = stacked([attention[layer] for layer in range(attention.layers)])  # [layers, heads, query, key]
    key_kinds = kinds_of_keys(attention.queries, trace.info.mask if trace.info else "")
    queries = np.arange(len(attention.queries)) > 0
    shares = {name: share_on(weights, is_kind) for name, is_kind in key_kinds.items()}
    if queries.any():  # a query that sees no separator gives none its weight
        shares["separator"] = (
            weights[..., queries, :][..., key_kinds["separator"][queries]].sum(-1, dtype=np.float64) / queries.sum()
        )
    return shares


def alignment(trace: Trace) -> np.ndarray:
    """Return how far each head of cross-attention moves along the source with the target: float64 [layers, heads], in -1..1.

    It is the correlation of a query's position with the attention-weighted mean position of its keys; 0 if either is constant. 1:
    word by word, as for a translation between languages with the same word order.
    """
    attention = trace.attention["cross"]
    weights = stacked([attention[layer] for layer in range(attention.layers)]).astype(np.float64)
    means = weights @ np.arange(len(attention.keys))  # [layers, heads, query]
    steps = np.arange(len(attention.queries)) - (len(attention.queries) - 1) / 2
    means -= means.mean(-1, keepdims=True)
    spread = np.sqrt((means**2).sum(-1) * (steps**2).sum())
    return np.divide((means * steps).sum(-1), spread, out=np.zeros(spread.shape), where=spread > 1e-9)


def lookup(trace: Trace) -> np.ndarray:
    """Return how far each head of cross-attention looks up a separate source token for each chosen token: float64 [layers,
    heads], 0..1.

    It is `alignment` times the geometric mean of two sharpnesses: the mean of the largest weight in each row that chose a token,
    and the mean of the largest weight that each source token (without special tokens) gets in these rows. 1: each row looks at a
    single token, in order, and every source token is looked at. No list of word pairs is needed.
    """
    attention = trace.attention["cross"]
    if len(attention.queries) < 2:
        return np.zeros((attention.layers, attention.heads))
    weights = stacked([attention[layer] for layer in range(attention.layers)])[:, :, :-1]  # the last row has not chosen yet
    weights = weights[..., [i for i, token in enumerate(attention.keys) if not token.special or token.start < token.end]]
    sharp = [weights.max(axis, initial=0.0).mean(-1, dtype=np.float64) for axis in (-1, -2)]
    return np.sqrt(sharp[0] * sharp[1]) * np.maximum(0, alignment(trace))


def head_scores(
    model: LanguageModel, texts: Texts | None = None, kind: str | None = None, names: Sequence[str] = PLACES + REPEATS
) -> pd.DataFrame:
    """Return a table of how well each head fits each well-known kind: columns layer, head, and a score in 0..1 for each kind.

    texts: those on which previous, current, next, first and separator are measured; by default the sample texts
    (`analysis.samples.natural`). duplicate and induction are measured on six texts of random words repeated twice. All scores are
    defined in `looks`, and equal those in `head_labels`. kind: of attention: "self", "encoder", or "decoder" (which then reads
    the text); by default the model's first. names: the scores to measure.
    Errors: ValueError for another kind; Unspelt if the tokenizer cannot spell more than a fifth of the texts.
    """
    import pandas as pd  # here, because it takes long to import and a first page needs it only now

    kinds = ("encoder", "decoder") if model.info.kind == "encoder-decoder" else ("self",)
    kind = kind or kinds[0]
    if kind not in kinds:
        raise ValueError(f"Heads of {quoted(kind)} attention have no such scores in this model. Choose {' or '.join(kinds)}.")
    pairs = pairs_of(natural() if texts is None else texts)
    scores: dict[str, np.ndarray] = {}
    if places := [name for name in names if name not in REPEATS]:
        check_spelling(model, pairs, texts is not None)
        scores |= mean_looks(model, pairs, kind, places)
    if repeated_names := [name for name in names if name in REPEATS]:
        scores |= mean_looks(model, pairs_of(repeats(model)), kind, repeated_names)
    layers, heads = np.indices(next(iter(scores.values())).shape)
    return pd.DataFrame({"layer": layers.ravel(), "head": heads.ravel()} | {name: scores[name].ravel() for name in names})


def mean_looks(model: LanguageModel, texts: Pairs, kind: str, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the mean of `looks` over the texts that have a value: [layers, heads] by name."""
    text_looks = [looks(read_probe(model, text, target, kind), kind) for text, target in texts]
    return {name: mean_of(np.stack([scores[name] for scores in text_looks])) for name in names}


def read_probe(model: LanguageModel, text: str, target: str, kind: str) -> Trace:
    """Return the trace of a text for a kind of attention: a decoder of two stacks reads its target, or else the text again."""
    full_target = target if model.info.kind != "encoder-decoder" else (target or text) if kind in ("decoder", "cross") else ""
    return model.trace(text, full_target, remember=False)


def mean_of(values: np.ndarray) -> np.ndarray:
    """Return the mean over the probes that have a value: [layers, heads]; NaN where no probe has one."""
    counts = np.isfinite(values).sum(0)
    return np.divide(np.nansum(values, 0), counts, out=np.full(values.shape[1:], np.nan), where=counts > 0)
