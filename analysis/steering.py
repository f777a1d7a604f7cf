"""Steering: adds a direction to the residual stream that stands for a difference between texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.effects import divergence
from analysis.scopes import typed
from models.edits import Stream
from models.language_model import LanguageModel
from models.numbers.softmax import softmax
from models.trace import Trace

DIRECTIONS = 20  # random ones: one of 21 directions drawn alike moves more than the 20 others, less than 5 %


@dataclass(frozen=True)
class Move:
    """The move of a prediction by a push. token: the one whose probability rises most; before, after: its probability; nats:
    KL(without ‖ with the push)."""

    token: int
    before: float
    after: float
    nats: float

    @property
    def rise(self) -> float:
        return self.after - self.before


@dataclass(frozen=True)
class Moves:
    """A push and random ones of the same length, each judged by the token that it raises most."""

    push: Move
    random: tuple[Move, ...]

    @property
    def strongest(self) -> Move:
        """The random push that raises a token most."""
        return max(self.random, key=lambda move: move.rise)

    @property
    def rise_rank(self) -> int:
        """The push's rank by the largest rise, from 1. An equal one goes first."""
        return 1 + sum(move.rise >= self.push.rise for move in self.random)

    @property
    def nats_rank(self) -> int:
        """The push's rank by how far the whole prediction moves, from 1. An equal one goes first."""
        return 1 + sum(move.nats >= self.push.nats for move in self.random)

    @property
    def verdict(self) -> str:
        """ "more": above every random push by both measures, which holds for at most one of n + 1 pushes drawn alike; "unclear":
        by one of them; "no more": by none."""
        above = (self.rise_rank == 1) + (self.nats_rank == 1)
        return ("no more", "unclear", "more")[above] if self.random else "unclear"


def moves(logits: np.ndarray) -> Moves:
    """Return how far a push moves a prediction, and how far random ones do.

    logits: [2 + random, vocabulary], as `push` returns them for zeros, a push, and random directions of its length.
    """
    shares = [softmax(row.astype(np.float64)) for row in logits]
    all_moves = []
    for row, share in zip(logits[1:], shares[1:], strict=True):
        token = int(np.argmax(share - shares[0]))
        all_moves.append(Move(token, float(shares[0][token]), float(share[token]), divergence(logits[0], row)))
    return Moves(all_moves[0], tuple(all_moves[1:]))


def direction(model: LanguageModel, pairs: Sequence[tuple[str, str]], layer: int, kind: str | None = None) -> np.ndarray:
    """Return the direction from the second texts of pairs to the first ones in the stream: float32 [d_model].

    It is the mean over the pairs of the difference between the streams of the first and second text, each averaged over its typed
    tokens, so the texts of a pair need not be equally long. layer: as in `trace.hidden[kind]`, 0 after the embedding; kind: the
    stack, None for "self" or "encoder". `edits.Stream(layer, None, add=strength * direction)` steers with it; strength 1 adds the
    mean difference. Errors: ValueError for no pairs, for texts without a token, for an unknown layer or stack, and for pairs
    without a difference.
    Source: Turner et al. 2023, "Activation Addition" (a difference of two texts, added at a layer); Rimsky et al. 2024, "Steering
    Llama 2 via Contrastive Activation Addition" (its mean over many pairs).
    """
    if not pairs:
        raise ValueError("A direction is made from at least one pair of texts.")
    traces = model.traces([text for pair in pairs for text in pair])
    kind = kind or next(name for name in ("self", "encoder") if name in traces[0].hidden)
    if kind not in traces[0].hidden:
        raise ValueError(f'{model.info.name} has no stream "{kind}"; it has {", ".join(traces[0].hidden)}.')
    if not 0 <= layer < len(traces[0].hidden[kind]):
        last = len(traces[0].hidden[kind]) - 1
        raise ValueError(f"{model.info.name} has places of the stream 0 to {last}; there is no {layer}.")
    means = np.stack([_mean(trace, kind, layer) for trace in traces])
    difference = (means[::2] - means[1::2]).mean(0)
    if not np.linalg.norm(difference) > 1e-6 * np.linalg.norm(means, axis=-1).mean():
        raise ValueError("The texts of these pairs do not differ for the model, so there is no direction from one to the other.")
    return difference


def push(
    model: LanguageModel,
    trace: Trace,
    pushes: np.ndarray,
    layer: int,
    position: int = -1,
    kind: str | None = None,
) -> np.ndarray:
    """Return the prediction at a position with each vector added to the stream at every token: logits, float32 [push,
    vocabulary].

    pushes: float [push, d_model], such as strength * direction; zeros leave the model unchanged. They are read in batches.
    position: in `trace.read`; layer, kind: as in `direction`. Errors: as those of `models.edits.Stream`, and ValueError without a
    language-model head.
    """
    from models.editing.batches import answers  # brings torch, which the first page does not wait for

    kind = kind or next(name for name in ("self", "encoder") if name in trace.hidden)
    edits = [[Stream(layer, None, add=vector, kind=kind)] if np.any(vector) else [] for vector in np.asarray(pushes)]
    return answers(model, trace, edits, position)


def random_direction(like: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return a random direction of the same length as another one, for comparison with a push: float32 [d_model].

    like: float [d_model]. The same seed gives the same direction.
    """
    sample = np.random.default_rng(seed).normal(size=like.shape)
    return (sample * (np.linalg.norm(like) / np.linalg.norm(sample))).astype(np.float32)


def stream_length(trace: Trace, layer: int, kind: str = "self") -> float:
    """Return the length of the stream at a layer, the mean over the typed tokens (over all if none was typed)."""
    places = typed(trace.target if kind == "decoder" else trace.tokens)
    return float(np.linalg.norm(trace.hidden[kind][layer][places], axis=-1).mean())


def _mean(trace: Trace, kind: str, layer: int) -> np.ndarray:
    """Return the mean of a stream over the typed tokens."""
    tokens = trace.target if kind == "decoder" else trace.tokens
    places = [place for place in typed(tokens) if tokens[place].start < tokens[place].end]
    if not places:
        raise ValueError("A text of a pair is empty: write a text on both sides.")
    return trace.hidden[kind][layer][places].mean(0)
