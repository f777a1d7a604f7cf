"""A model's gain from context: the same tokens after little and after much of a text, and words that are repeated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.effects import log_softmax
from analysis.prediction import surprise
from analysis.samples import PLAIN, repeated_words
from models.edits import Edit
from models.language_model import LanguageModel
from models.lens.tuned_lens import SAMPLE

LITTLE, MUCH = 50, 500  # tokens before the predicted ones; the second as far as the context reaches
ASKED = 32  # tokens at the end of each passage
PASSAGES, TEXTS = 24, 4  # of the built-in sample; of random words


def context_gains(model: LanguageModel, edits: Sequence[Edit] = (), passages: int = PASSAGES) -> np.ndarray:
    """Return how much easier the same tokens are to predict after much of a text than after little of it: float64 [passage], nats
    a token.

    Each passage of the built-in sample, evenly from its beginning to its end, ends in ASKED tokens: the result is their mean −ln
    p after LITTLE tokens less that after MUCH (fewer if the context is shorter). Both are measured on the same tokens, so that an
    easy end is no gain. Olsson et al. 2022 compare the 50th token of a text with its 500th, over 10,000 texts: with so many, easy
    tokens average out.
    edits: of heads and blocks, at every position. Errors: ValueError for a model that cannot continue a text.
    """
    if model.info.kind != "decoder":
        raise ValueError(f"“{model.info.name}” does not go on with a text, so nothing is known of what it makes of a long one.")
    text = " ".join(SAMPLE.read_text(encoding="utf-8").translate(PLAIN).split())
    tokens = [token for token in model.tokenize(text) if token.start < token.end]
    long_context = min(MUCH, (model.room or MUCH + ASKED + 2) - ASKED - 2)
    if long_context <= LITTLE:
        raise ValueError(f"“{model.info.name}” reads too few tokens at a time to hold a long text against a short one.")
    gains = []
    for start in np.linspace(0, len(tokens) - long_context - ASKED, passages).astype(int):
        last = tokens[start + long_context + ASKED - 1].end
        after_little, after_much = (
            loss_at_end(model, text[tokens[start + first].start : last].strip(), edits) for first in (long_context - LITTLE, 0)
        )
        gains.append(after_little - after_much)
    return np.array(gains)


def loss_at_end(model: LanguageModel, text: str, edits: Sequence[Edit]) -> float:
    """Return the mean −ln p of the last ASKED tokens of a text, nats."""
    trace = model.traces([text], [list(edits)])[0]
    ids = [token.id for token in trace.read[-ASKED:]]
    logits = trace.logits_at(slice(len(trace.read) - 1 - ASKED, len(trace.read) - 1))
    assert logits is not None, "it writes"
    return float(-log_softmax(logits)[np.arange(ASKED), ids].mean())


def said_twice(model: LanguageModel, edits: Sequence[Edit] = ()) -> tuple[float, float]:
    """Return a model's surprise at repeated random words: mean −ln p of a token in the first round and in the second, nats.

    The first token of each round is left out, because it cannot be predicted. edits: as in `context_gains`. Errors: as
    `surprise`.
    """
    rounds = []
    for seed in range(TEXTS):
        trace = model.traces([repeated_words(model, seed=seed)], [list(edits)])[0]
        bits = surprise(trace)[[token.start < token.end for token in trace.read]]
        half = len(bits) // 2
        rounds.append([np.nanmean(bits[1:half]), np.nanmean(bits[half + 1 :])])
    first, second = np.mean(rounds, axis=0) * np.log(2)
    return float(first), float(second)
