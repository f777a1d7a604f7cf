"""The importance of heads: the rise of the model's loss on whole texts without each, measured and estimated from its slope, and
the loss as heads are pruned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.corpora import interval
from analysis.samples import Pairs, Texts, check_spelling, natural, pairs_of, passages, typed, unknown_share
from analysis.statistics import Report, silent
from analysis.word_alignment import read_links
from models.catalog import WEIGHTS
from models.edits import Edit, Head
from models.language_model import LanguageModel

if TYPE_CHECKING:
    import pandas as pd

    from models.gradients.losses import Scored
    from models.trace import Attention

TEXTS = 12  # of the built-in sample
POINTS = 12  # of a pruning curve, beside the whole model
ORDERS = 5  # random ones
AT_ONCE = 48  # readings between two reports


@dataclass(frozen=True, eq=False)
class Importance:
    """The importance of heads on some texts.

    table: a row for each head, layer by layer, with columns layer, head, and two measures in nats a token, each with its
    interval. effect: the rise of the mean loss over all predicted tokens when the head is off (outputs zero); gradient: its
    estimate from the slope, the mean of |Σ (dL/dO) · O| over the texts, weighted by their tokens (Michel et al. 2019). NAME_low,
    NAME_high: the 95 % interval of the mean over texts (`analysis.corpora.interval`); NaN for one text. loss: of the whole model,
    nats a token, the mean over all tokens; tokens: how many were predicted; unknown: the share of tokens that the tokenizer
    cannot spell; kind: of attention.
    """

    table: pd.DataFrame
    loss: float
    tokens: int
    texts: int
    kind: str
    unknown: float = 0.0


@dataclass(frozen=True, eq=False)
class Pruning:
    """The loss of a model as its heads are removed.

    counts: int [point], how many heads are off; orders: by name, the loss [point] with the first heads of the order off, in nats
    a token; random: [order, point], of random orders; saved: by name, int [point], parameters of the matrices that are no longer
    needed; NaN if their size is unknown.
    """

    counts: np.ndarray
    orders: Mapping[str, np.ndarray]
    random: np.ndarray
    saved: Mapping[str, np.ndarray]
    parameters: int


def held_out(model: LanguageModel, again: bool = False) -> Pairs:
    """Return built-in texts, each with its target ("" for one stack): those of `analysis.samples.natural`, or for the translator
    pairs on which it was not trained. again: as many other texts. Errors: ValueError for another encoder-decoder, whose right
    outputs are unknown."""
    if model.info.kind != "encoder-decoder":
        return pairs_of(passages()[1] if again else natural())
    if model.info.name != "translator":
        raise ValueError(
            f"What {model.info.name} should say of a sample text is not known. Give it a text, and what it should say of it."
        )
    lines = read_links((WEIGHTS / "translator" / "alignments.tsv").read_text(encoding="utf-8"))
    return [(source, translation) for source, translation, _ in lines[: 2 * TEXTS][int(again) :: 2]]


def head_importance(
    model: LanguageModel, texts: Texts | None = None, kind: str | None = None, report: Report = silent
) -> Importance:
    """Return the importance of each head on some texts, each alone or with its target; those of `held_out` by default.

    kind: of attention, None for "self" or "decoder". A decoder predicts each token, an encoder every seventh, which is masked, an
    encoder-decoder its target. Errors: ValueError without a language-model head or texts, and for an unknown kind; Unspelt if the
    tokenizer cannot spell more than a fifth of the texts.
    Source: Michel, Levy and Neubig 2019, "Are Sixteen Heads Really Better than One?", sections 3 and 4.
    """
    import pandas as pd  # here, because it takes long to import and a first page needs none

    from models.gradients.losses import head_slopes  # brings torch, which the first page does not wait for

    scored_texts = read_texts(model, texts, report)
    kind = kind_of(scored_texts, kind)
    attention = scored_texts[0].trace.attention[kind]
    size, places = (attention.layers, attention.heads), places_of(attention)
    effects, slopes, before = [], [], []
    for i, text in enumerate(scored_texts):
        rows = without(model, text, [[], *([place] for place in places)], kind, part_of(report, i, len(scored_texts)))
        before.append(rows[0])
        effects.append(np.full(size, np.nan))
        effects[-1][tuple(np.transpose(places))] = rows[1:] - rows[0]
        mixed = text.trace.tail is not None  # then slopes are not known
        slopes.append(np.full(size, np.nan) if mixed else np.abs(head_slopes(model, text)[kind]))
    layers, heads = np.indices(size)
    columns: dict[str, np.ndarray] = {"layer": layers.ravel(), "head": heads.ravel()}
    tokens = tokens_of(scored_texts)
    for name, values in {"effect": np.stack(effects), "gradient": np.stack(slopes)}.items():
        ends, mean = interval(values, weights=tokens), np.average(values, axis=0, weights=tokens)
        columns |= {name: mean.ravel(), f"{name}_low": ends[0].ravel(), f"{name}_high": ends[1].ravel()}
    unknown = unknown_share([token for text in scored_texts for token in typed(text.trace.tokens)])
    loss = float(np.average(before, weights=tokens))
    return Importance(pd.DataFrame(columns), loss, int(tokens.sum()), len(scored_texts), kind, unknown)


def places_of(attention: Attention) -> list[tuple[int, int]]:
    """Return layer and head of every head."""
    return [(layer, head) for layer, count in enumerate(attention.counts) for head in range(count)]


def tokens_of(texts: Sequence[Scored]) -> np.ndarray:
    """Return how many tokens are predicted in each text: int [text]. Weighted by it, a mean over texts is a mean over tokens."""
    return np.array([len(text.ids) for text in texts])


def prune(
    model: LanguageModel, importance: Importance, texts: Texts | None = None, orders: int = ORDERS, report: Report = silent
) -> Pruning:
    """Return the loss of a model as its heads are removed: the least important by `effect` first, the same by `gradient`, and in
    random orders. texts: None for `held_out(model, again=True)`, texts from which the orders were not derived, so that an order
    that only fits its own texts has no advantage. All removed heads are off together, so the loss is not the sum of their
    effects."""
    table = importance.table
    size = int(table["layer"].max()) + 1, int(table["head"].max()) + 1
    present = np.flatnonzero(table["effect"].notna())
    count = len(present)
    counts = np.unique(np.linspace(0, count, min(count, POINTS) + 1).round().astype(int))
    rankings = {
        name: present[np.argsort(table[name].to_numpy()[present], kind="stable")]
        for name in ("effect", "gradient")
        if table[name].iloc[present].notna().all()
    }
    generator = np.random.default_rng(0)
    all_orders = [*rankings.values(), *(generator.permutation(present) for _ in range(orders))]
    head_lists = [[divmod(int(head), size[1]) for head in order[:number]] for order in all_orders for number in counts]
    scored_texts = read_texts(model, texts, silent, again=True)
    curves = [
        without(model, text, head_lists, importance.kind, part_of(report, i, len(scored_texts)))
        for i, text in enumerate(scored_texts)
    ]
    means = np.average(curves, axis=0, weights=tokens_of(scored_texts)).reshape(len(all_orders), len(counts))
    saved = {
        name: np.array([parameters_of(model, scored_texts[0], importance.kind, order[:number]) for number in counts])
        for name, order in rankings.items()
    }
    return Pruning(counts, dict(zip(rankings, means, strict=False)), means[len(rankings) :], saved, model.info.parameters)


def without(
    model: LanguageModel, text: Scored, places: Sequence[Sequence[tuple[int, int]]], kind: str, report: Report = silent
) -> np.ndarray:
    """Return the loss of a text with each list of heads (layer, head) off: float64 [list], nats a token."""
    from models.gradients.losses import losses

    text_losses = []
    for start in range(0, len(places), AT_ONCE):
        report(start / len(places), "Switching heads off")
        edits: list[list[Edit]] = [[Head(*place, kind=kind) for place in some] for some in places[start : start + AT_ONCE]]
        text_losses.append(losses(model, text, edits))
    return np.concatenate(text_losses)


def read_texts(model: LanguageModel, texts: Texts | None, report: Report, again: bool = False) -> list[Scored]:
    """Return texts with the tokens that the model has to predict, by default those of `held_out`. Errors: ValueError without a
    text; Unspelt if the tokenizer cannot spell more than a fifth of the texts."""
    from models.gradients.losses import scored

    pairs = held_out(model, again) if texts is None else pairs_of(texts)
    if not pairs:
        raise ValueError("There is no text to measure on: type one.")
    check_spelling(model, pairs, texts is not None)
    report(0.0, "Reading the texts")
    return [scored(model, text, target) for text, target in pairs]


def kind_of(texts: Sequence[Scored], kind: str | None) -> str:
    attention = texts[0].trace.attention
    kind = kind or next(name for name in ("self", "decoder") if name in attention)
    if kind not in attention:
        raise ValueError(f'There is no "{kind}" attention here; there is {", ".join(attention)}.')
    return kind


def parameters_of(model: LanguageModel, text: Scored, kind: str, heads: np.ndarray) -> float:
    """Return how many numbers of W_Q, W_K, W_V and W_O a model no longer needs without some heads (head h of layer l is l · heads
    + h); NaN if their sizes are unknown. Keys and values that several heads share go with the last of them. Biases are not
    counted."""
    attention = text.trace.attention[kind]
    try:
        width = attention.v(0).shape[-1] + attention.q(0).shape[-1]  # of a query and its answer, and of a key and its value
    except ValueError:
        return np.nan
    sharing_queries = max(1, model.info.heads // model.info.kv_heads) if model.info.kv_heads else 1
    off = np.zeros((attention.layers, attention.heads), bool)
    off.flat[heads] = True
    groups = 0
    for layer, count in enumerate(attention.counts):
        sharing = max(1, count // model.info.kv_heads) if model.info.head_counts and model.info.kv_heads else sharing_queries
        groups += off[layer, :count].reshape(-1, sharing).all(-1).sum() if count % sharing == 0 else 0
    return float(model.info.d_model * width * (off.sum() + groups))


def part_of(report: Report, number: int, count: int) -> Report:
    """Return the report function for one of several parts of equal length."""
    return lambda share, words: report((number + share) / count, words)
