"""The labels that a classifier predicts instead of tokens, and the meaning of their scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from models.numbers.softmax import log_softmax, softmax

if TYPE_CHECKING:
    from torch import Tensor

ONE, ANY, VALUE = "one of them", "any of them", "a number each"
MOST = 10_000  # labels
LONGEST = 80  # characters of a name


@dataclass(frozen=True)
class Labels:
    """The labels that a classifier gives a score each.

    each: every token gets its own, else the text as a whole. rule: ONE of them holds, so the chances are a softmax; ANY of them
    may hold, so each chance is a sigmoid; VALUE: the scores are unbounded numbers and no probabilities. first: a label of the
    text is read at the first token, else at the last. named: the config names the labels; otherwise their names are made up.
    pooled: a label of the text is made of all its tokens at once, such as of their mean; it stands at the first or last one all
    the same.
    """

    names: tuple[str, ...]
    each: bool = False
    rule: str = ONE
    first: bool = True
    named: bool = True
    pooled: bool = False

    @property
    def chances(self) -> bool:
        """Whether the scores stand for probabilities."""
        return self.rule != VALUE


def chances(scores: np.ndarray, labels: Labels | None = None, temperature: float = 1.0) -> np.ndarray:
    """Return scores [..., outcome] as probabilities (of tokens where there are no labels); NaN where they cannot be
    probabilities.
    """
    if labels is None or labels.rule == ONE:
        return softmax(scores, temperature)
    if labels.rule == VALUE:
        return np.full(scores.shape, np.nan)
    return np.exp(log_chances(scores / temperature, labels))


def log_chances(scores: np.ndarray, labels: Labels | None = None) -> np.ndarray:
    """Return the evidence for each outcome: ln p in nats, or the score itself if it is no probability: float64 [..., outcome]."""
    scores = scores.astype(np.float64)
    if labels is None or labels.rule == ONE:
        return log_softmax(scores)
    return scores if labels.rule == VALUE else -np.logaddexp(0, -scores)


def log_chances_of(scores: Tensor, labels: Labels | None = None) -> Tensor:
    """Compute `log_chances` of a tensor, so that slopes can be taken."""
    if labels is None or labels.rule == ONE:
        return scores.log_softmax(-1)
    from torch.nn.functional import logsigmoid

    return scores if labels.rule == VALUE else logsigmoid(scores)


def labels_of(config: Mapping[str, object], each: bool) -> Labels:
    """Read the labels from a config.json (`id2label`); without any, two unnamed ones, as in transformers.

    Errors: ValueError, with the rest of a sentence, where the labels cannot be told apart.
    """
    id2label = config.get("id2label")
    count = config.get("num_labels", 2)
    if id2label is None or id2label == {}:
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST:
            raise ValueError(f"says that there are {str(count)[:20]} labels")
        names = tuple(f"LABEL_{i}" for i in range(count))
    else:
        if not isinstance(id2label, Mapping):
            raise ValueError("does not name its labels one by one")
        numbered = {str(key): str(name)[:LONGEST] for key, name in id2label.items()}
        if set(numbered) != {str(i) for i in range(len(numbered))} or len(numbered) > MOST:
            raise ValueError(f"does not number its {len(numbered)} labels from 0 on")
        names = tuple(numbered[str(i)] for i in range(len(numbered)))
        names = names if len(set(names)) == len(names) else tuple(f"{name} ({i})" for i, name in enumerate(names))
    problem = config.get("problem_type")
    single = len(names) == 1  # its softmax would always be 1
    rule = ANY if problem == "multi_label_classification" else VALUE if problem == "regression" or single else ONE
    has_names = any(name != f"LABEL_{i}" for i, name in enumerate(names))
    return Labels(names, each, ONE if each else rule, named=has_names)
