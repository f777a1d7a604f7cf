"""Reading on from the stream after the embedding, so that the slope of a prediction against its input can be taken."""

from __future__ import annotations

from collections.abc import Sequence
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
    """A pass in which the first layer of a stack is given a stream of ours: [row, position, d_model]."""

    def __init__(self, model: LanguageModel, stack: str, stream: Tensor):
        super().__init__([()] * len(stream), *model._order, keeps=False)
        self.entry, self.stream = (stack, 0), stream

    def _changed(self, place: Place, stream: Tensor) -> Tensor:
        return self.stream.to(stream) if place == self.entry else super()._changed(place, stream)


def entry_of(trace: Trace) -> str:
    """The stack that reads the text."""
    return "encoder" if trace.target else "self"


def streams_of(model: LanguageModel, trace: Trace, texts: Sequence[Sequence[Token]]) -> Tensor:
    """What the first layer is given of texts, all as long as that of a trace: float32 [text, position, d_model]."""
    plan = Plan([()] * len(texts), *model._order, keeps=False)
    with torch.inference_mode():
        record = model._pass_edited(texts, [trace.target] * len(texts), plan)
    return torch.from_numpy(record.hidden[entry_of(trace)][0].float().cpu().numpy().copy())


def logits_from(model: LanguageModel, trace: Trace, stream: Tensor, position: int) -> Tensor:
    """Logits at a position of `trace.read` [row, vocabulary] of what a trace read, with streams [row, position, d_model] in the
    place of what its first layer was given; in the gradient mode of the caller.

    Errors: ValueError without a language-model head, and where what follows the last block mixes positions.
    """
    if trace.tail is not None:
        raise ValueError(
            f"In {model.info.name} layers without attention follow the last block and mix positions: no gradient is taken there."
        )
    record = model._pass_edited(
        [trace.tokens] * len(stream), [trace.target] * len(stream), Entered(model, entry_of(trace), stream)
    )
    stack = "decoder" if trace.target else "self"
    return model.way_out(record.hidden[stack][model._order[1][stack][-1]][:, position])
