"""What each head does, by where it looks: scores for the well-known kinds of heads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from models.huggingface.names import quoted
from models.language_model import LanguageModel
from models.repeats import earlier_copies, share_on, what_followed
from models.tokens import Token
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

# Of such a kind as one types into an encoder-decoder first.
SENTENCES = (
    "The cat is black.",
    "Where is the station?",
    "She gave him a book yesterday.",
    "My brother will come to see us tomorrow.",
)


PLACES = ("previous", "current", "next", "first", "separator")  # kinds of keys that natural text is asked for
REPEATS = ("duplicate", "induction")  # and those that random words said twice are


def repeated_words(model: LanguageModel, words: int = 40, seed: int = 0) -> str:
    """Random words of the model's own vocabulary, said twice: only a model that looks back can know the second round.

    Letters, where the vocabulary has no words.
    """
    generator = np.random.default_rng(seed)
    texts = [model.token_text(int(id)) for id in generator.permutation(model.info.vocabulary)]
    candidates = [" " + text.strip() for text in texts if re.fullmatch(r"[ ]?[a-z]{3,}", text)]
    candidates = candidates or [text for text in texts if re.fullmatch(r"[a-z]", text)]
    return "".join(candidates[:words] * 2)


def kinds_of_keys(tokens: Sequence[Token]) -> dict[str, np.ndarray]:
    """Which keys are of each well-known kind, seen from each query: bool [query, key]. The kinds: as `looks` says them."""
    ids, count = [token.id for token in tokens], len(tokens)
    places = np.subtract.outer(np.arange(count), np.arange(count))  # how far back a key is
    later = np.arange(count) > 0
    parts = later & np.array([token.special or not re.search(r"\w", token.text or "x") for token in tokens], dtype=bool)
    return {
        "previous": places == 1,
        "current": (places == 0) & later[:, None],
        "next": (places == -1) & later[:, None],
        "first": later[:, None] & ~later,
        "separator": later[:, None] & parts & (places != 0),
        "duplicate": earlier_copies(ids),
        "induction": what_followed(ids),
    }


def looks(trace: Trace, kind: str = "self") -> dict[str, np.ndarray]:
    """Mean weight of each head on well-known kinds of tokens: one [layers, heads] a kind, over the queries after the first.

    previous, current, next, first: on the token before, itself, the one after, the first of all (the first query of a decoder
    has no choice but itself, so it counts nowhere). separator: on other tokens than the first and itself that part a text,
    special tokens and punctuation (Clark et al. 2019). duplicate: on earlier copies of the same token. induction: on what
    followed those copies, all of them (`models.repeats.what_followed`). The last two over the queries that have one, and as all
    else NaN where no query does. (Elhage et al. 2021; Olsson et al. 2022)
    """
    attention = trace.attention[kind]
    weights = np.stack([attention[layer] for layer in range(attention.layers)])  # [layers, heads, query, key]
    found = kinds_of_keys(attention.queries)
    queries = np.arange(len(attention.queries)) > 0
    shares = {name: share_on(weights, where) for name, where in found.items()}
    if queries.any():  # a query that sees no separator gives none its weight
        shares["separator"] = weights[..., queries, :][..., found["separator"][queries]].sum(-1, dtype=np.float64) / queries.sum()
    return shares


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


def lookup(trace: Trace) -> np.ndarray:
    """How much each head of cross-attention looks up, for each token that is chosen, a token of the source of its own: float64
    [layers, heads], 0..1.

    The geometric mean of two sharpnesses, the mean of the largest weight of each row that chose a token and the mean of the
    largest weight that each token of the source got from them (special tokens apart), times `alignment`. 1: each of them looks
    at one token alone, in order, and all are looked at. Needs no list of words that belong together.
    """
    attention = trace.attention["cross"]
    if len(attention.queries) < 2:
        return np.zeros((attention.layers, attention.heads))
    weights = np.stack([attention[layer] for layer in range(attention.layers)])[:, :, :-1]  # the last row has not chosen yet
    weights = weights[..., [i for i, token in enumerate(attention.keys) if not token.special or token.start < token.end]]
    sharp = [weights.max(axis, initial=0.0).mean(-1, dtype=np.float64) for axis in (-1, -2)]
    return np.sqrt(sharp[0] * sharp[1]) * np.maximum(0, alignment(trace))


def head_scores(model: LanguageModel, texts: Sequence[str] = SAMPLES, kind: str | None = None) -> pd.DataFrame:
    """How much each head is a head of each well-known kind: columns layer, head, and a score in 0..1 a kind.

    kind: which attention: "self", "encoder", or "decoder" (which then reads the text); by default the model's first.

    previous, current, next, first, separator: mean weight on that token, over `texts`. duplicate, induction: mean weight on
    earlier copies of a token and on what followed any of them, over random words said twice. All as `looks` defines them.
    Errors: ValueError for another kind.
    """
    import pandas as pd  # here, because it takes long to import and a first page needs it only now

    kinds = ("encoder", "decoder") if model.info.kind == "encoder-decoder" else ("self",)
    kind = kind or kinds[0]
    if kind not in kinds:
        raise ValueError(f"Heads of {quoted(kind)} attention have no such scores in this model. Choose {' or '.join(kinds)}.")

    def read(given: Sequence[str], names: Sequence[str]) -> dict[str, np.ndarray]:
        seen = [looks(model.trace(text, text if kind == "decoder" else "", remember=False), kind) for text in given]
        return {name: np.mean([one[name] for one in seen], axis=0) for name in names}

    scores = read(texts, PLACES) | read([repeated_words(model, seed=seed) for seed in range(2)], REPEATS)
    layers, heads = np.indices(scores["previous"].shape)
    return pd.DataFrame(
        {"layer": layers.ravel(), "head": heads.ravel()} | {kind: score.ravel() for kind, score in scores.items()}
    )
