"""Measured effects on a prediction of switching off a head, skipping a part, or cutting an edge."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from models.class_labels import ANY, VALUE, Labels, log_chances
from models.edits import Cut, Edit, Head, Skip
from models.language_model import LanguageModel
from models.numbers.ragged import stacked
from models.reading.inputs import Text
from models.trace import Trace

AT_ONCE = 8  # parts changed between two reports


def head_effects(
    model: LanguageModel,
    text: Text,
    position: int = -1,
    token: int | None = None,
    target: Text = "",
    kind: str | None = None,
    report: Callable[[float, str], None] | None = None,
) -> np.ndarray:
    """Return the change of a token's log-probability with each head switched off alone: float64 [layers, heads], nats.

    NaN for heads that a layer does not have. Below 0: the head helps this prediction. All heads are read in batches. position: in
    `trace.read`, where the token is predicted (for an encoder that of a mask; the label of a text or an image has only one);
    token: an id, None for the likeliest one; target: the output of an encoder-decoder so far; kind: of the heads, None for "self"
    or "decoder". A head that is off outputs zero, which it seldom does by itself: the rest of the model was not trained for that.
    report: called with the progress, layer by layer. Errors: ValueError without a language-model head, for an unknown position or
    kind.
    Source: Michel, Levy and Neubig 2019, "Are Sixteen Heads Really Better than One?", section 3.
    """
    trace = model.trace(text, target)
    kind = kind or next(iter(name for name in ("self", "decoder") if name in trace.attention))
    if kind not in trace.attention:
        raise ValueError(f'{model.info.name} has no "{kind}" attention; it has {", ".join(trace.attention)}.')
    counts = trace.attention[kind].counts
    if not report:
        places = [(layer, head) for layer, count in enumerate(counts) for head in range(count)]
        effects = changes(model, trace, [[Head(layer, head, kind=kind)] for layer, head in places], position, token)
        return stacked(np.split(effects, np.cumsum(counts)[:-1]))
    rows = []
    for layer, count in enumerate(counts):
        report(layer / len(counts), "Switching off one head after the other")
        edit_lists: list[list[Edit]] = [[Head(layer, head, kind=kind)] for head in range(count)]
        rows.append(changes(model, trace, edit_lists, position, token))
    return stacked(rows)


def skip_effects(
    model: LanguageModel,
    trace: Trace,
    part: str,
    position: int = -1,
    token: int | None = None,
    kind: str = "self",
    report: Callable[[float, str], None] | None = None,
) -> np.ndarray:
    """Return the change when a block of the stack `kind`, or one part of it, is skipped, each alone: float64 [layers], nats.

    part: as in `models.edits.Skip`. Errors: as `head_effects`, and ValueError where the part cannot be told from the block.
    """
    edit_lists: list[list[Edit]] = [[Skip(layer, part, kind=kind)] for layer in range(len(trace.hidden[kind]) - 1)]
    if not report:
        return changes(model, trace, edit_lists, position, token)
    effects = []
    for start in range(0, len(edit_lists), AT_ONCE):
        report(start / len(edit_lists), "Skipping one part after the other")
        effects.append(changes(model, trace, edit_lists[start : start + AT_ONCE], position, token))
    return np.concatenate(effects)


def edge_effects(
    model: LanguageModel,
    trace: Trace,
    position: int = -1,
    layer: int | None = None,
    head: int | None = None,
    token: int | None = None,
    kind: str | None = None,
    report: Callable[[float, str], None] | None = None,
) -> np.ndarray:
    """Return the change of a token's log-probability with each edge cut alone: float64 [query, key], nats.

    An edge is one query that looks at one key; it is cut in one head (layer, head), or for None in all layers, in all heads of a
    layer. Below 0: the edge helps this prediction. NaN where the query may not look. The text is read once for each edge, in
    batches; report: called with the progress, query by query. position, token, kind: as in `head_effects`. Errors: as
    `head_effects`, and ValueError for an unknown layer or head.
    Source: Geva et al. 2023, "Dissecting Recall of Factual Associations in Auto-Regressive Language Models" (attention knockout).
    """
    kind = kind or next(name for name in ("self", "decoder") if name in trace.attention)
    if kind not in trace.attention:
        raise ValueError(f'{model.info.name} has no "{kind}" attention; it has {", ".join(trace.attention)}.')
    attention = trace.attention[kind]
    is_visible = np.max(
        [attention[number].max(0) > 0 for number in ([layer] if layer is not None else range(attention.layers))], axis=0
    )
    effects = np.full(is_visible.shape, np.nan)
    for query, row in enumerate(is_visible):
        if report:
            report(query / len(is_visible), "Cutting one line after the other")
        keys = np.flatnonzero(row)
        cuts: list[list[Edit]] = [[Cut(query, int(key), layer, head, kind=kind)] for key in keys]
        if cuts:
            effects[query, keys] = changes(model, trace, cuts, position, token)
    return effects


def divergence(before: np.ndarray, after: np.ndarray, labels: Labels | None = None) -> float:
    """Return KL(before ‖ after) of two predictions, in nats: 0 where they are the same. before, after: logits [outcome].

    labels: of a classifier; if any of them may hold, the sum over labels. NaN if the scores are no probabilities.

    Source: Kullback and Leibler 1951, "On Information and Sufficiency".
    """
    if labels and labels.rule == VALUE:
        return np.nan
    p, q = log_chances(before, labels), log_chances(after, labels)
    if labels and labels.rule == ANY:  # a label holds or not: ln (1 - p) is ln p of the negative score
        p, q = (np.stack([logs, log_chances(-scores, labels)]) for logs, scores in ((p, before), (q, after)))
    return max(0.0, float(np.sum(np.exp(p) * np.subtract(p, q, out=np.zeros_like(p), where=p > -np.inf))))


def divergences(
    model: LanguageModel,
    trace: Trace,
    edits: list[list[Edit]],
    position: int = -1,
    report: Callable[[float, str], None] | None = None,
) -> np.ndarray:
    """Return how far each list of edits moves a prediction: float64 [list], KL(unedited ‖ edited) in nats (see `divergence`).

    The same edit on every head shows whether its effect on one of them is large. Errors: as `head_effects`.
    """
    from models.editing.batches import answers  # brings torch, which the first page does not wait for

    if not trace.predicts:
        raise ValueError(f"{model.info.name} has no language-model head, so it makes no prediction that could change.")
    position = _place(model, trace, position)
    before, distances = answers(model, trace, [[]], position)[0], list[float]()
    for start in range(0, len(edits), AT_ONCE):
        if report:
            report(start / len(edits), "Changing one head after the other")
        after = answers(model, trace, edits[start : start + AT_ONCE], position)
        distances += [divergence(before, scores, model.info.labels) for scores in after]
    return np.array(distances)


def changes(
    model: LanguageModel, trace: Trace, edits: list[list[Edit]], position: int = -1, token: int | None = None
) -> np.ndarray:
    """Return the change of a token's log-probability with each list of edits: float64 [list], nats. See `head_effects`."""
    from models.editing.batches import answers  # brings torch, which the first page does not wait for

    if not trace.predicts:
        raise ValueError(f"{model.info.name} has no language-model head, so it makes no prediction that could change.")
    logs = model.log_chances(answers(model, trace, [[], *edits], _place(model, trace, position)))
    token = int(logs[0].argmax()) if token is None else token
    if not 0 <= token < logs.shape[1]:
        raise ValueError(f"There is no token {token}: they are 0 to {logs.shape[1] - 1:,}.")
    return logs[1:, token] - logs[0, token]


def _place(model: LanguageModel, trace: Trace, position: int) -> int:
    """Return the position of a prediction; a label of a whole text, or of an image, has only one."""
    labels = model.info.labels
    return model.places(trace)[0] if labels and not labels.each and trace.model is not None else position


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Return ln p along the last axis: float64."""
    shifted = logits.astype(np.float64) - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
