"""Predictions of a model if it stopped after a layer: the logit lens, and the tuned lens if one was trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.statistics import Report, silent
from models.language_model import LanguageModel
from models.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

CELLS = 2**22  # logits calculated at a time

Translator = Callable[[np.ndarray], np.ndarray]
"""From a stream [layers + 1, position, d_model] to one of the same shape, with the last layer unchanged."""


@dataclass(frozen=True)
class Lens:
    """The predictions of each layer. Layer 0 is after the embedding, layer l after block l − 1; L of them in all.

    positions: int [P], in the trace. ids, probabilities: [L, P, top], the likeliest first. answer: int [P], the last layer's
    likeliest token. rank, probability: [L, P], of that token; rank 1: none is likelier. kl: [L, P], KL(last layer ‖ this layer)
    in nats.
    """

    positions: np.ndarray
    ids: np.ndarray
    probabilities: np.ndarray
    answer: np.ndarray
    rank: np.ndarray
    probability: np.ndarray
    kl: np.ndarray

    @property
    def settled(self) -> np.ndarray:
        """The layer after which the answer stays the likeliest token: int [P]."""
        later = np.cumsum(self.rank[::-1] > 1, axis=0)[::-1]  # how many layers from here on think otherwise
        return (later > 0).sum(0)


def lens(
    trace: Trace,
    positions: Sequence[int] | None = None,
    top: int = 5,
    translate: Translator | None = None,
    report: Report = silent,
) -> Lens:
    """Return the predictions from the residual stream after each layer, by the model's own final norm and unembedding.

    positions: of `trace.read`; None: all. translate: changes the stream first (a tuned lens), None for the logit lens.
    report(share, words): called with the progress; it may raise to stop. Errors: ValueError without a language-model head, for an
    unknown position, and for `top` below 1.

    Source: nostalgebraist 2020, "interpreting GPT: the logit lens".
    """
    if trace.unembed is None:
        raise ValueError("This model has no language-model head, so there is nothing to look at its layers through.")
    stream = trace.stream
    places = np.arange(stream.shape[1]) if positions is None else np.asarray(positions, dtype=int)
    if wrong := [place for place in places.tolist() if not 0 <= place < stream.shape[1]]:
        raise ValueError(f"There is no position {wrong[0]}; positions go from 0 to {stream.shape[1] - 1}.")
    if top < 1:
        raise ValueError(f"top must be at least 1; it is {top}.")
    stream = stream[:, places]
    moved = stream if translate is None else translate(stream)
    layers, count = stream.shape[:2]
    columns: dict[str, list] = {"ids": [], "probabilities": [], "answer": [], "rank": [], "probability": [], "kl": []}
    width = len(trace.unembed(stream[-1, :1])[0]) if count else 1
    chunk = max(1, CELLS // width)
    for start in range(0, count, chunk):
        part = slice(start, start + chunk)
        last = _log_softmax(trace.unembed(stream[-1, part]))
        answer = last.argmax(-1)
        layer_values = []
        for layer in range(layers):
            report((start + layer * min(chunk, count - start) / layers) / count, f"Stage {layer} of {layers - 1}")
            logs = last if layer == layers - 1 else _log_softmax(trace.unembed(moved[layer, part]))
            layer_values.append(_layer_columns(logs, last, answer, top))
        for name, values in zip(
            ("ids", "probabilities", "rank", "probability", "kl"), zip(*layer_values, strict=True), strict=True
        ):
            columns[name].append(np.stack(values))
        columns["answer"].append(answer)
    shown_count = min(top, width)
    empty = {"ids": (layers, 0, shown_count), "probabilities": (layers, 0, shown_count), "answer": (0,)}
    fields = {
        name: np.concatenate(parts, axis=0 if name == "answer" else 1) if parts else np.zeros(empty.get(name, (layers, 0)))
        for name, parts in columns.items()
    }
    return Lens(places, **fields)


def layer_scores(trace: Trace, position: int) -> np.ndarray:
    """Return the scores at one position if the model stopped after each layer, the last of them its own: float32 [layers + 1,
    outcome], of tokens or of a classifier's labels. Errors: ValueError for a model that predicts nothing."""
    if trace.way_out is None:
        raise ValueError("This model predicts nothing, so there is nothing to look at its layers through.")
    return np.asarray(trace.way_out(trace.stream[:, position]), dtype=np.float32)


def guesses(model: LanguageModel, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the likeliest outcome of each row of `layer_scores`: ids, probabilities and scores, each [layers + 1].

    Like `lens` with only the likeliest token, but with less work, and also for labels; the probability is NaN for labels that
    only have scores.
    """
    best = scores.argmax(-1)
    highest = np.take_along_axis(scores, best[:, None], -1)[:, 0]
    if model.info.labels is not None:
        return best, np.take_along_axis(np.asarray(model.chances(scores)), best[:, None], -1)[:, 0], highest
    return best, 1 / np.exp(scores - highest[:, None]).sum(-1, dtype=np.float64), highest


def logit_lens(model: LanguageModel, trace: Trace, top: int = 5) -> pd.DataFrame:
    """Return each layer's predictions if the model stopped there: columns layer, position, rank, id, text, probability.

    layer: 0 after the embedding, l after block l − 1; rank: 1 to `top`. The last layer gives the model's own predictions.
    Errors: ValueError without a language-model head. Source: nostalgebraist 2020, "interpreting GPT: the logit lens".
    """
    return _table(model, lens(trace, top=top))


def tuned_lens(model: LanguageModel, trace: Trace, top: int = 5) -> pd.DataFrame:
    """Return the `logit_lens` with each layer's stream first translated to the last layer's.

    Errors: ValueError for a model that has no tuned lens yet; `models.lens.tuned_lens.train` trains one. Source: Belrose et al.
    2023, "Eliciting Latent Predictions from Transformers with the Tuned Lens".
    """
    translate = translator(model)
    if translate is None:
        raise ValueError(
            f"There is no tuned lens for {model.info.name}: it takes training, on page Layers or by models.lens.tuned_lens.train."
        )
    return _table(model, lens(trace, top=top, translate=translate))


def translator(model: LanguageModel) -> Translator | None:
    """Return the tuned lens of a model, or None where it has none."""
    from models.lens.tuned_lens import tuned_lens_of

    return tuned_lens_of(model)


def _table(model: LanguageModel, predictions: Lens) -> pd.DataFrame:
    import pandas as pd  # here, because it takes long to import and a first page needs none

    layer, position, rank = np.indices(predictions.ids.shape)
    ids = predictions.ids.ravel()
    texts = {int(id): model.token_text(int(id)) for id in np.unique(ids)}
    return pd.DataFrame(
        {
            "layer": layer.ravel(),
            "position": predictions.positions[position.ravel()],
            "rank": rank.ravel() + 1,
            "id": ids,
            "text": [texts[int(id)] for id in ids],
            "probability": predictions.probabilities.ravel(),
        }
    )


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    """Return ln p along the last axis: float32, the sum in float64."""
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, dtype=np.float64, keepdims=True)).astype(np.float32)


def _layer_columns(logs: np.ndarray, last: np.ndarray, answer: np.ndarray, top: int) -> tuple[np.ndarray, ...]:
    """Return ids, probabilities, rank, probability and kl of one layer. logs, last: ln p, [position, vocabulary]."""
    top = min(top, logs.shape[-1])
    best = np.argpartition(-logs, top - 1, axis=-1)[:, :top]
    values = np.take_along_axis(logs, best, -1)
    order = np.lexsort((best, -values), axis=-1)
    best, values = np.take_along_axis(best, order, -1), np.take_along_axis(values, order, -1)
    of_answer = np.take_along_axis(logs, answer[:, None], -1)
    rank = (logs > of_answer).sum(-1) + 1
    shares = np.exp(last)
    kl = np.sum(shares * np.subtract(last, logs, out=np.zeros_like(last), where=shares > 0), axis=-1, dtype=np.float64)
    return best, np.exp(values.astype(np.float64)), rank, np.exp(of_answer[:, 0].astype(np.float64)), np.maximum(0, kl)
