"""Answers to questions about a picture: its patches, its label, and where a head looks."""

from __future__ import annotations

import numpy as np

from analysis.answer_checks import Answer, choice_among, per_cent, register, weights_of
from models.huggingface.names import quoted
from models.language_model import LanguageModel
from models.numbers.softmax import softmax
from models.tokens import Patch
from models.trace import Trace


@register("number of patches")
def count_patches(model: LanguageModel, trace: Trace) -> Answer:
    """Count the patches of the picture."""
    return Answer(len(patches_of(model, trace)))


@register("label of the picture")
def label(model: LanguageModel, trace: Trace) -> Answer:
    """Return the model's likeliest label."""
    scores = label_scores(model, trace)
    return choice_among([model.outcome(int(id)) for id in np.argsort(-scores)])


@register("share of a label")
def share_of_label(model: LanguageModel, trace: Trace, label: str = "") -> Answer:
    """Return the share of the likeliest label, or of a named one, in per cent. A guess is right within a tenth of it, or of its
    distance from 100, and at most 3."""
    scores = label_scores(model, trace)
    names = [model.outcome(id) for id in range(len(scores))]
    if label and label not in names:
        raise ValueError(f"{quoted(model.info.name)} has no label {quoted(label)}.")
    return per_cent(float(softmax(scores)[names.index(label) if label else int(scores.argmax())]))


@register("patch that a head looks at most")
def most_attended_patch(model: LanguageModel, trace: Trace, layer: int, head: int) -> Answer:
    """Return the patch that a head looks at most from the first token, such as [CLS]."""
    patches = patches_of(model, trace)
    row = weights_of(trace, layer, head, "")[0]
    return choice_among([trace.tokens[place].text for place in sorted(patches, key=lambda place: -row[place])])


def patches_of(model: LanguageModel, trace: Trace) -> list[int]:
    """Return the positions of the patches. Errors: ValueError for a model that reads no pictures."""
    if not (places := [i for i, token in enumerate(trace.tokens) if isinstance(token, Patch)]):
        raise ValueError(f"{quoted(model.info.name)} reads no pictures.")
    return places


def label_scores(model: LanguageModel, trace: Trace) -> np.ndarray:
    """Return the scores of a picture's labels. Errors: ValueError for a model that gives none."""
    patches_of(model, trace)
    scores = trace.scores_at(0) if model.info.labels else None
    if scores is None:
        raise ValueError(f"{quoted(model.info.name)} gives a picture no label.")
    return scores
