"""The recipes of “Steer”: functions of a model, what it read, pairs of texts, and the strength of the push.

A downloaded notebook contains these functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from analysis import direction, push, random_direction
from analysis.steering import DIRECTIONS
from models.edits import Stream
from models.generation.strategy import Strategy
from models.language_model import LanguageModel
from models.numbers.softmax import softmax
from models.trace import Trace
from viz import View, prediction_bars
from viz.tokens import plain_sign
from viz.views.versions import versions


def stack(model: LanguageModel) -> str:
    """Return the stack that is steered, the one that reads the text."""
    return "encoder" if model.info.kind == "encoder-decoder" else "self"


def pushes(model: LanguageModel, pairs: Sequence[Sequence[str]], layer: int, strength: float) -> np.ndarray:
    """Return the vectors to add to the stream, float32 [2 + DIRECTIONS, d_model]: zeros, the direction, random ones of its
    length.
    """
    return with_random(strength * direction(model, [(with_it, without) for with_it, without in pairs], layer))


def with_random(addition: np.ndarray) -> np.ndarray:
    """Return zeros, a push, and random pushes of its length."""
    return np.stack(
        [np.zeros_like(addition), addition, *(random_direction(addition, seed) for seed in range(DIRECTIONS))]
    ).astype(np.float32)


def bars(
    model: LanguageModel,
    trace: Trace,
    *,
    pairs: Sequence[Sequence[str]],
    layer: int,
    strength: float,
    position: int,
    count: int,
    simple: bool,
    logits: np.ndarray | None = None,
) -> View:
    """Return bars of the likeliest tokens at a position: an outline without the direction, a bar with it."""
    if logits is None:
        logits = push(model, trace, pushes(model, pairs, layer, strength), layer, position)  # as the page reads them
    ids = candidates(logits, count)
    before, after = (softmax(scores)[ids].tolist() for scores in logits[:2])
    texts = [model.token_text(id) for id in ids]
    return prediction_bars([plain_sign(text) for text in texts] if simple else texts, after, ids=ids, whole=simple, before=before)


def candidates(logits: np.ndarray, count: int) -> list[int]:
    """Return the likeliest tokens without the direction, then those that are among the likeliest only with it."""
    first, second = (np.argsort(-scores, kind="stable")[:count].tolist() for scores in logits[:2])
    return first + [id for id in second if id not in first][: max(2, count // 2)]


def texts(
    model: LanguageModel,
    trace: Trace,
    *,
    pairs: Sequence[Sequence[str]],
    layer: int,
    strength: float,
    second: str,
    names: Sequence[str],
    method: str,
    seed: int,
    most: int,
    pieces: list[list[str]] | None = None,
) -> View:
    """Return a view of the texts that the model writes, or fills into masks, without the direction, with it, and with a random
    one.
    """
    if pieces is None:
        added = pushes(model, pairs, layer, strength)[:3]
        pieces = write(model, trace, added, layer, second, strategy_of(method, seed), most)
    return versions(names, pieces, "The text without and with the direction")


def strategy_of(method: str, seed: int) -> Strategy:
    return Strategy(method, 0.8 if method == "sampling" else 1.0, seed=seed)


def write(
    model: LanguageModel,
    trace: Trace,
    added: np.ndarray,
    layer: int,
    second: str,
    strategy: Strategy,
    most: int,
    report: Callable[[float, str], None] = lambda share, words: None,
) -> list[list[str]]:
    """Return the text in pieces for each added vector: the text itself and the model's words alternate."""
    versions_written = []
    for number, addition in enumerate(added):
        edits = [Stream(layer, None, add=addition, kind=stack(model))] if np.any(addition) else []
        if model.info.kind == "encoder":
            versions_written.append(fill_masks(model, trace, model.traces([trace.text], [edits], second)[0]))
            continue
        text = ""
        for count, step in enumerate(model.generate(trace.text, strategy, most, second, edits=edits), 1):
            text = step.text
            report((number + count / most) / len(added), "Writing without and with the direction")
        beginning = second if model.info.kind == "encoder-decoder" else trace.text
        versions_written.append([beginning, text if beginning else text.lstrip(" ")])
    return versions_written


def fill_masks(model: LanguageModel, trace: Trace, steered: Trace) -> list[str]:
    """Return the pieces of the text, with the likeliest word in place of each mask."""
    pieces, end = [], 0
    for place in model.places(trace):
        token, logits = trace.tokens[place], steered.logits_at(place)
        assert logits is not None, "asked where the model predicts"
        mask_text = trace.text[token.start : token.end]
        space = mask_text[: len(mask_text) - len(mask_text.lstrip())]
        pieces += [trace.text[end : token.start] + space, model.token_text(int(logits.argmax())).strip()]
        end = token.end
    return [*pieces, trace.text[end:]]
