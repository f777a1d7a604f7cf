"""Activation patching: pieces of the run on one text replace those of the run on another, to see where the answer comes from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analysis.comparison import align_texts
from analysis.effects import log_softmax
from models.edits import Edit, Head, Part, Stream
from models.language_model import LanguageModel
from models.reading.inputs import Text
from models.tokens import Token
from models.trace import Trace

PARTS = ("stream", "attention", "feedforward", "head")
MEASURES = ("logit difference", "probability", "KL")
DIRECTIONS = ("denoising", "noising")
ALIKE = 1e-6  # two predictions that are no further apart have nothing that could come back

Report = Callable[[float, str], None]


def patching(
    model: LanguageModel,
    clean: Text,
    corrupt: Text,
    part: str = "stream",
    measure: str = "logit difference",
    direction: str = "denoising",
    position: int = -1,
    token: int | None = None,
    other: int | None = None,
    target: Text = "",
    kind: str | None = None,
    report: Report | None = None,
) -> np.ndarray:
    """Return how much of the clean answer each patch from the clean into the corrupt run restores: 0 none, 1 all.

    direction "noising": how much of it each patch from the corrupt into the clean run removes. part: "stream", float64 [layers +
    1, position] (0 after the embedding); "attention" or "feedforward", the addition of a block's part, [layers, position];
    "head", a head's output at all positions, [layers, heads]. The positions are those of the patched text; texts of unequal
    length are aligned (`counterparts`), and a place that the other text does not have is NaN. measure: "logit difference" of the
    clean answer `token` and the corrupt one `other` (ids; None for the likeliest of each text), "probability" of `token`, or "KL"
    from the source run. position: that of the prediction in `trace.read` of the clean text; target: the output of an
    encoder-decoder so far, for both; kind: of the patched stack, None for "self" or "encoder". report: called with the share
    done. Values beyond 0 and 1 are possible. Errors: as `Patches` and its `effects`.
    Source: Heimersheim and Nanda 2024, "How to use and interpret activation patching".
    """
    runs = model.traces([clean, corrupt], targets=target)
    return Patches(model, runs[0], runs[1], direction, kind or "", position).effects(part, measure, token, other, report)


@dataclass(frozen=True)
class Patches:
    """Two runs of one model; pieces of one replace those of the other.

    direction: "denoising" puts clean pieces into the corrupt run, "noising" corrupt pieces into the clean one. kind: of the
    patched stack, as in `trace.attention`; "" for "self" or "encoder". position: that of the prediction in `clean.read`. Errors
    of its methods: ValueError for an unknown direction, kind or position, and without a language-model head.
    """

    model: LanguageModel
    clean: Trace
    corrupt: Trace
    direction: str = "denoising"
    kind: str = ""
    position: int = -1

    @property
    def source(self) -> Trace:
        """The run from which pieces are taken."""
        return self.clean if self.denoises else self.corrupt

    @property
    def base(self) -> Trace:
        """The run into which they are put."""
        return self.corrupt if self.denoises else self.clean

    @property
    def denoises(self) -> bool:
        if self.direction not in DIRECTIONS:
            raise ValueError(f'direction is "{self.direction}"; it must be one of {", ".join(DIRECTIONS)}.')
        return self.direction == DIRECTIONS[0]

    @cached_property
    def where(self) -> str:
        """The kind of attention at which the runs are patched."""
        kinds = list(self.clean.attention)
        kind = self.kind or next(name for name in ("self", "encoder") if name in kinds)
        if kind not in kinds:
            raise ValueError(f'{self.model.info.name} has no "{kind}" attention; it has {", ".join(kinds)}.')
        return kind

    @property
    def stack(self) -> str:
        return "decoder" if self.where == "cross" else self.where

    def tokens(self, trace: Trace) -> Sequence[Token]:
        """Return the tokens at the patched positions."""
        return trace.target if self.stack == "decoder" else trace.tokens

    @cached_property
    def places(self) -> dict[int, int]:
        """The position in the source for each position of the base that has a counterpart there."""
        return counterparts(self.tokens(self.base), self.tokens(self.source))

    def predicted_at(self, trace: Trace) -> int:
        """Return the position of a run's prediction in its `read`."""
        length = len(self.clean.read)
        if not -length <= self.position < length:
            raise ValueError(f"There is no position {self.position} in {length} tokens.")
        place = self.position % length
        if trace is self.clean or trace.target:
            return place
        last = {length - 1: len(trace.read) - 1} if self.model.info.kind == "decoder" else {}
        counterpart = (last | counterparts(self.clean.read, trace.read)).get(place)
        if counterpart is None:
            raise ValueError(f"The other text has nothing in the place of token {place}, where is predicted.")
        return counterpart

    @cached_property
    def logs(self) -> dict[str, np.ndarray]:
        """ln p of the "clean" and of the "corrupt" prediction: float64 [vocabulary]."""
        logs_of = {}
        for name, run in (("clean", self.clean), ("corrupt", self.corrupt)):
            logits = run.logits_at([self.predicted_at(run)])
            if logits is None:
                raise ValueError(f"{self.model.info.name} has no language-model head, so it makes no predictions.")
            logs_of[name] = log_softmax(logits)[0]
        return logs_of

    def answers(self, token: int | None = None, other: int | None = None) -> tuple[int, int]:
        """Return the clean answer and its rival: the requested ones, or the likeliest of each text. If both texts have the same,
        the rival is the token that gains most probability from the clean to the corrupt text. Errors: ValueError for an id
        outside the vocabulary, and for a token compared with itself."""
        clean, corrupt = self.logs["clean"], self.logs["corrupt"]
        if strange := [choice for choice in (token, other) if choice is not None and not 0 <= choice < len(clean)]:
            raise ValueError(f"There is no token {strange[0]}: they are 0 to {len(clean) - 1:,}.")
        token = int(clean.argmax()) if token is None else token
        if other is None:
            other = int(corrupt.argmax())
            if other == token:
                gains = np.exp(corrupt) - np.exp(clean)
                gains[token] = -np.inf
                other = int(gains.argmax())
        if token == other:
            raise ValueError("The answer is held against itself, so there is no difference. Choose two tokens.")
        return token, other

    def shape(self, part: str) -> tuple[int, int]:
        """Return the numbers of layers (for the stream: places) and of positions or heads to patch."""
        attention = self.base.attention[self.where]
        if part == "head":
            return attention.layers, attention.heads
        return len(self.base.hidden[self.stack]) - (part != "stream"), len(self.tokens(self.base))

    def edits(self, part: str) -> dict[tuple[int, int], list[Edit]]:
        """Return the edits that put each piece of the source into the base: by layer and position, or layer and head. Errors:
        ValueError for a part that does not exist, or that cannot be told apart in this model."""
        if part not in PARTS:
            raise ValueError(f'part is "{part}"; it must be one of {", ".join(PARTS)}.')
        if part == "head":
            return self._heads()
        layers, _ = self.shape(part)
        cells = [(layer, at) for layer in range(layers) for at in self.places]
        if part == "stream":
            stream = self.source.hidden[self.stack]
            return {
                (layer, at): [Stream(layer, at, value=stream[layer, self.places[at]], kind=self.stack)] for layer, at in cells
            }
        name, kind = ("cross", "cross") if (part, self.where) == ("attention", "cross") else (part, self.stack)
        outputs = self.source.parts.get(self.stack, {}).get(name)
        if outputs is None or np.isnan(outputs).any():
            raise ValueError(
                f"What the {part} of {self.model.info.name} adds to its stream cannot be told apart from the rest of a block."
            )
        return {(layer, at): [Part(layer, at, outputs[layer, self.places[at]], part, kind=kind)] for layer, at in cells}

    def _heads(self) -> dict[tuple[int, int], list[Edit]]:
        """Return edits that give a head its output in the source at positions that the source has, else that in the base."""
        if not self.model.info.queries:
            raise ValueError(
                f"{self.model.info.name} attends in its own way: what a head gives cannot be replaced. Patch the stream instead."
            )
        ours, theirs = self.base.attention[self.where], self.source.attention[self.where]
        base_places, source_places = list(self.places), list(self.places.values())
        edits: dict[tuple[int, int], list[Edit]] = {}
        for layer in range(ours.layers):
            outs, source_outs = ours.out(layer).copy(), theirs.out(layer)
            outs[:, base_places] = source_outs[:, source_places]
            edits |= {(layer, head): [Head(layer, head, mean=out, kind=self.where)] for head, out in enumerate(outs)}
        return edits

    def read(self, edits: list[list[Edit]]) -> np.ndarray:
        """Return ln p of the base's prediction with each list of edits: float64 [list, vocabulary]."""
        from models.editing.batches import answers  # brings torch, which the first page does not wait for

        return log_softmax(answers(self.model, self.base, edits, self.predicted_at(self.base)))

    def score(self, logs: np.ndarray, measure: str, token: int | None = None, other: int | None = None) -> np.ndarray:
        """Return the measure of predictions: ln p [prediction, vocabulary] to float64 [prediction]. Errors: as `answers`, and
        ValueError for an unknown measure."""
        if measure not in MEASURES:
            raise ValueError(f'measure is "{measure}"; it must be one of {", ".join(MEASURES)}.')
        if measure == "KL":
            source = self.logs["clean" if self.denoises else "corrupt"]
            return -(np.exp(source) * np.subtract(source, logs, out=np.zeros_like(logs), where=source > -np.inf)).sum(-1)
        token, other = self.answers(token, other)
        return np.exp(logs[:, token]) if measure == "probability" else logs[:, token] - logs[:, other]

    def ends(self, measure: str, token: int | None = None, other: int | None = None) -> tuple[float, float]:
        """Return the measure of the base without a patch, and of the source, which count as 0 and 1. Errors: as `score`, and
        ValueError if they are the same."""
        names = ("corrupt", "clean") if self.denoises else ("clean", "corrupt")
        low, high = (float(self.score(self.logs[name][None], measure, token, other)[0]) for name in names)
        if abs(high - low) < ALIKE:
            raise ValueError(f"Both texts give the same answer, measured by {measure}: there is nothing that could come back.")
        return low, high

    def effects(
        self,
        part: str,
        measure: str = MEASURES[0],
        token: int | None = None,
        other: int | None = None,
        report: Report | None = None,
    ) -> np.ndarray:
        """Return the effects of `patching`, read in batches, layer by layer. Errors: those of all above."""
        low, high = self.ends(measure, token, other)
        edits, shape = self.edits(part), self.shape(part)
        shares = np.full(shape, np.nan)
        for layer in range(shape[0]):
            if report:
                report(layer / shape[0], "Putting one piece after the other into the other text")
            cells = [cell for cell in edits if cell[0] == layer]
            scores = self.score(self.read([edits[cell] for cell in cells]), measure, token, other)
            shares[layer, [column for _, column in cells]] = (scores - low) / (high - low)
        return shares


def counterparts(tokens: Sequence[Token], other_tokens: Sequence[Token]) -> dict[int, int]:
    """Return the counterpart of each position in another text; positions without one are left out.

    Equal tokens go together (`align_texts`). Where words were replaced, the last token of the old goes with the last of the new,
    and so on to the front: a model that reads from left to right has read all of a word at its end.
    """
    pairs = zip(*align_texts(tokens, other_tokens), strict=True)
    return dict(sorted(pair for group, its in pairs for pair in zip(group[::-1], its[::-1], strict=False)))


def check_lengths(model: LanguageModel, clean: Trace, corrupt: Trace) -> None:
    """Check that texts have the same length, so that each place of one is a place of the other. Errors: ValueError."""
    ours, theirs = len(clean.tokens), len(corrupt.tokens)
    if ours != theirs:
        raise ValueError(
            f"The clean text has {ours} tokens and the corrupt one {theirs}: for {model.info.name} both must have as many, so "
            "that each place of one is a place of the other. Change a word for one of the same number of tokens."
        )
