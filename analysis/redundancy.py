"""The similarity of heads, by where they look and what they write, and the loss without two of them beyond the sum of both
losses.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from analysis.importance import Importance, held_out, kind_of, part_of, read_texts, tokens_of, without
from analysis.samples import Texts, pairs_of
from analysis.similarity import head_divergence
from analysis.statistics import Report, silent
from models.language_model import LanguageModel
from models.numbers.ragged import stacked

MOST = 48  # heads whose pairs are switched off
FEW = 4  # texts for that


@dataclass(frozen=True, eq=False)
class Likeness:
    """The similarity of heads on some texts: [head, head] each, head h of layer l is l · heads + h.

    maps: 1 − the Jensen-Shannon divergence of where two heads look, in bits, 0..1 (`head_divergence`). outputs: the correlation
    of their additions to the stream, −1..1; NaN if W_O or the heads' outputs are unknown.
    """

    maps: np.ndarray
    outputs: np.ndarray


@dataclass(frozen=True, eq=False)
class Together:
    """The loss without two heads at once. heads: int [n], the tried ones (see `Likeness`); beyond: float64 [text, n, n], nats a
    token: L(both off) − L(one off) − L(other off) + L. Above 0: the loss exceeds the sum, for example because either head can do
    the work of both; below 0: it is smaller, for example because one is worth little without the other. The number alone does not
    tell the reason. NaN on the diagonal. tokens: int [text], predicted in each."""

    heads: np.ndarray
    beyond: np.ndarray
    tokens: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """The mean over all tokens: float64 [n, n]."""
        return np.average(self.beyond, axis=0, weights=self.tokens)


def head_likeness(model: LanguageModel, texts: Texts | None = None, kind: str | None = None, report: Report = silent) -> Likeness:
    """Return the similarity of heads in looks and writes, over all tokens of some texts, by default those of `held_out`.

    A head's output is its mixture of values times its part of W_O, [token, d_model], less the mean over the tokens; the
    correlation is over tokens and dimensions. Errors: as `head_importance`.
    """
    scored_texts = read_texts(model, texts, silent)
    kind = kind_of(scored_texts, kind)
    attention = scored_texts[0].trace.attention[kind]
    count, size = attention.layers * attention.heads, model.info.d_model
    maps, products, sums, tokens = np.zeros((count, count)), np.zeros((count, count)), np.zeros((count, size)), 0
    outputs_known = True
    for i, text in enumerate(scored_texts):
        attention, part_report = text.trace.attention[kind], part_of(report, i, len(scored_texts))
        maps += 1 - head_divergence(attention, part_report)
        try:
            rows = [attention.out(layer) @ model.output_weights(kind, layer) for layer in range(attention.layers)]
        except ValueError:
            outputs_known = False
            continue
        outputs = stacked(rows).reshape(count, *rows[0].shape[1:]).astype(np.float64)  # [heads of all layers, token, d_model]
        products += np.einsum("htd,gtd->hg", outputs, outputs, optimize=True)
        sums += outputs.sum(1)
        tokens += outputs.shape[1]
    if not outputs_known:
        return Likeness(maps / len(scored_texts), np.full((count, count), np.nan))
    products -= sums @ sums.T / tokens
    length = np.sqrt(np.maximum(np.diag(products), 0))
    lengths = np.outer(length, length)
    return Likeness(
        maps / len(scored_texts), np.divide(products, lengths, out=np.full_like(lengths, np.nan), where=lengths > 1e-12)
    )


def lost_together(model: LanguageModel, importance: Importance, texts: Texts | None = None, report: Report = silent) -> Together:
    """Return the loss without each two heads at once, beyond the sum of the losses without each.

    importance: of the same texts. Of more than 48 heads, only the 48 with the largest slope are tried; of more than four texts,
    four evenly spaced ones are read.
    """
    pairs = held_out(model) if texts is None else pairs_of(texts)
    few_pairs = [pairs[i] for i in np.unique(np.linspace(0, len(pairs) - 1, min(FEW, len(pairs))).round().astype(int))]
    table = importance.table
    present = table["effect"].notna()
    ranking = table["gradient" if table["gradient"][present].notna().all() else "effect"].abs().to_numpy()
    heads = np.sort(np.argsort(-ranking, kind="stable")[: min(MOST, present.sum())])  # those that a layer has not come last
    places = [(int(table["layer"].iloc[head]), int(table["head"].iloc[head])) for head in heads]
    couples = list(combinations(range(len(heads)), 2))
    head_lists = [[], *([place] for place in places), *([places[i], places[j]] for i, j in couples)]
    scored_texts, rows = read_texts(model, few_pairs, silent), []
    for number, text in enumerate(scored_texts):
        loss = without(model, text, head_lists, importance.kind, part_of(report, number, len(scored_texts)))
        alone, pair_losses = loss[1 : len(heads) + 1] - loss[0], loss[len(heads) + 1 :] - loss[0]
        beyond = np.full((len(heads), len(heads)), np.nan)
        for (i, j), lost in zip(couples, pair_losses, strict=True):
            beyond[i, j] = beyond[j, i] = lost - alone[i] - alone[j]
        rows.append(beyond)
    return Together(heads, np.stack(rows), tokens_of(scored_texts))
