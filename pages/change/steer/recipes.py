"""How each picture of “Steer” is made: a model, what it read, pairs of texts, and how strongly it is pushed.

A notebook that is taken away carries these very functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from analysis import direction, push, random_direction
from analysis.steering import DIRECTIONS
from models.edits import Stream
from models.language_model import LanguageModel, softmax
from models.strategy import Strategy
from models.trace import Trace
from viz import View, prediction_bars
from viz.tokens import plain_sign
from viz.views.versions import versions


def stack(model: LanguageModel) -> str:
    """Where is steered: what reads the text."""
    return "encoder" if model.info.kind == "encoder-decoder" else "self"


def pushes(model: LanguageModel, pairs: Sequence[Sequence[str]], layer: int, strength: float) -> np.ndarray:
    """What is added to the stream, float32 [2 + DIRECTIONS, d_model]: nothing, the direction, and random ones of its length."""
    return beside_random(strength * direction(model, [(one, two) for one, two in pairs], layer))


def beside_random(one: np.ndarray) -> np.ndarray:
    """Nothing, a push, and random ones of its length."""
    return np.stack([np.zeros_like(one), one, *(random_direction(one, seed) for seed in range(DIRECTIONS))]).astype(np.float32)


def bars(
    model: LanguageModel, trace: Trace, *, pairs: Sequence[Sequence[str]], layer: int, strength: float, position: int,
    count: int, simple: bool, logits: np.ndarray | None = None,
) -> View:  # fmt: skip
    """What is likeliest at a position: without the direction as an outline, with it as a bar."""
    if logits is None:
        logits = push(model, trace, pushes(model, pairs, layer, strength), layer, position)  # as the page reads them
    ids = candidates(logits, count)
    before, after = (softmax(one)[ids].tolist() for one in logits[:2])
    texts = [model.token_text(id) for id in ids]
    return prediction_bars(
        [plain_sign(text) for text in texts] if simple else texts, after, ids=ids, percent=not simple, before=before
    )


def candidates(logits: np.ndarray, count: int) -> list[int]:
    """The likeliest tokens without the direction, then those that are among the likeliest only with it."""
    first, second = (np.argsort(-one, kind="stable")[:count].tolist() for one in logits[:2])
    return first + [id for id in second if id not in first][: max(2, count // 2)]


def texts(
    model: LanguageModel, trace: Trace, *, pairs: Sequence[Sequence[str]], layer: int, strength: float, second: str,
    names: Sequence[str], method: str, seed: int, most: int, written: list[list[str]] | None = None,
) -> View:  # fmt: skip
    """What the model writes, or puts in the place of masks, without the direction, with it, and with one drawn at random."""
    if written is None:
        added = pushes(model, pairs, layer, strength)[:3]
        written = write(model, trace, added, layer, second, strategy_of(method, seed), most)
    return versions(names, written, "The text without and with the direction")


def strategy_of(method: str, seed: int) -> Strategy:
    return Strategy(method, 0.8 if method == "sampling" else 1.0, seed=seed)


def write(
    model: LanguageModel, trace: Trace, added: np.ndarray, layer: int, second: str, strategy: Strategy, most: int,
    report: Callable[[float, str], None] = lambda share, words: None,
) -> list[list[str]]:  # fmt: skip
    """Of each vector that is added, the text in pieces: what was given and what the model wrote, in turns."""
    found = []
    for number, one in enumerate(added):
        edits = [Stream(layer, None, add=one, kind=stack(model))] if np.any(one) else []
        if model.info.kind == "encoder":
            found.append(filled(model, trace, model.traces([trace.text], [edits], second)[0]))
            continue
        said = ""
        for count, step in enumerate(model.generate(trace.text, strategy, most, second, edits=edits), 1):
            said = step.text
            report((number + count / most) / len(added), "Writing without and with the direction")
        begun = second if model.info.kind == "encoder-decoder" else trace.text
        found.append([begun, said if begun else said.lstrip(" ")])
    return found


def filled(model: LanguageModel, trace: Trace, read: Trace) -> list[str]:
    """The text with the likeliest word in the place of each mask."""
    pieces, end = [], 0
    for place in model.places(trace):
        token, logits = trace.tokens[place], read.logits_at(place)
        assert logits is not None, "asked where the model predicts"
        masked = trace.text[token.start : token.end]
        space = masked[: len(masked) - len(masked.lstrip())]
        pieces += [trace.text[end : token.start] + space, model.token_text(int(logits.argmax())).strip()]
        end = token.end
    return [*pieces, trace.text[end:]]
