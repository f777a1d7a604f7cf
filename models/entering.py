"""Reading on from the stream after the embedding, so that the slope of a prediction against its input can be taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from models.adding import Place
from models.editing import Plan

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.tokens import Token
    from models.trace import Trace


class Entered(Plan):
    """A pass in which the first layer of each stack is given a stream of ours: [row, position, d_model]."""

    def __init__(self, model: LanguageModel, streams: Mapping[str, Tensor]):
        super().__init__([()] * len(next(iter(streams.values()))), *model._order, keeps=False)
        self.streams = {(stack, 0): stream for stack, stream in streams.items()}

    def _changed(self, place: Place, stream: Tensor) -> Tensor:
        return self.streams[place].to(stream) if place in self.streams else super()._changed(place, stream)


def entries_of(trace: Trace) -> tuple[str, ...]:
    """The stacks that read: of the text, and of what an encoder-decoder has said."""
    return ("encoder", "decoder") if trace.target else ("self",)


def streams_of(
    model: LanguageModel, trace: Trace, texts: Sequence[Sequence[Token]], said: Sequence[Sequence[Token]] = ()
) -> tuple[Tensor, ...]:
    """What the first layer of each stack of `entries_of` is given of texts, all as long as that of a trace, and of as many
    targets (none: the trace's): float32 [text, position, d_model]."""
    plan = Plan([()] * len(texts), *model._order, keeps=False)
    with torch.inference_mode():
        record = model._pass_edited(texts, said or [trace.target] * len(texts), plan)
    return tuple(torch.from_numpy(record.hidden[stack][0].float().cpu().numpy().copy()) for stack in entries_of(trace))


def logits_from(model: LanguageModel, trace: Trace, streams: Sequence[Tensor], position: int) -> Tensor:
    """Logits at a position of `trace.read` [row, vocabulary] of what a trace read, with streams [row, position, d_model] in the
    place of what the first layers of `entries_of` were given; in the gradient mode of the caller.

    Errors: ValueError without a language-model head, and where what follows the last block mixes positions.
    """
    if trace.tail is not None and not (model.info.labels and model.info.labels.pooled):
        raise ValueError(
            f"In {model.info.name} layers without attention follow the last block and mix positions: no gradient is taken there."
        )
    rows, entered = len(streams[0]), Entered(model, dict(zip(entries_of(trace), streams, strict=True)))
    record = model._pass_edited([trace.tokens] * rows, [trace.target] * rows, entered)
    stack = "decoder" if trace.target else "self"
    return model._answers(record.hidden[stack][model._order[1][stack][-1]], position)
