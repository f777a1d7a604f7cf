"""Reading on from the vectors of tokens, or from the stream after the embedding, so that slopes against them can be taken."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from models.adding import Place
from models.editing import Plan

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.tokens import Token
    from models.trace import Trace


class Entered(Plan):
    """A pass in which the first layer of each stack is given a stream of ours: [row, position, d_model]."""

    def __init__(self, model: LanguageModel, rows: int, streams: Mapping[str, Tensor]):
        super().__init__([()] * rows, *model._order, keeps=False)
        self.streams = {(stack, 0): stream for stack, stream in streams.items()}

    def _changed(self, place: Place, stream: Tensor) -> Tensor:
        return self.streams[place].to(stream) if place in self.streams else super()._changed(place, stream)


class Tables(TorchFunctionMode):
    """Notes what a pass looks up in the tables of tokens, in this thread, or puts vectors of ours in its place.

    vectors: of each stack that reads, in order, [row, position, d_embedding]; none: what is looked up stays. Hooks on the modules
    would meet the readings of other threads.
    """

    def __init__(self, model: LanguageModel, vectors: Sequence[Tensor] = ()):
        super().__init__()
        self.model, self.tables, self.vectors = model, model._tables, vectors
        self.looked_up: list[Tensor] = []

    def __torch_function__(
        self, function: Callable[..., Any], types: Collection[type], args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        found = function(*args, **(kwargs or {}))
        given = (*args, *(kwargs or {}).values())
        if getattr(function, "__name__", "") != "embedding" or not any(one is table for one in given for table in self.tables):
            return found
        if self.vectors:
            self.check(len(self.looked_up) < len(self.vectors))
            found = self.vectors[len(self.looked_up)].to(found)
        self.looked_up.append(found)
        return found

    def check(self, holds: bool) -> None:
        """Errors: ValueError where a stack does not look its tokens up, once."""
        if not holds:
            raise ValueError(
                f"{self.model.info.name} does not look each token up in a table once, so no slope is taken against its embedding "
                "alone. Choose what the first layer is given."
            )


def entries_of(trace: Trace) -> tuple[str, ...]:
    """The stacks that read: of the text, and of what an encoder-decoder has said."""
    return ("encoder", "decoder") if trace.target else ("self",)


def streams_of(
    model: LanguageModel,
    trace: Trace,
    texts: Sequence[Sequence[Token]],
    said: Sequence[Sequence[Token]] = (),
    tokens_alone: bool = False,
) -> tuple[Tensor, ...]:
    """What the first layer of each stack of `entries_of` is given of texts, all as long as that of a trace, and of as many
    targets (none: the trace's): float32 [text, position, d_model].

    tokens_alone: in its place what the table of tokens holds for them, before anything is added: [text, position, d_embedding].
    Errors: ValueError where tokens are not looked up so.
    """
    plan, stacks = Plan([()] * len(texts), *model._order, keeps=False), entries_of(trace)
    with torch.inference_mode(), Tables(model) if tokens_alone else nullcontext() as tables:
        record = model._pass_edited(texts, said or [trace.target] * len(texts), plan)
    if tables:
        tables.check(len(tables.looked_up) == len(stacks))
    found = tables.looked_up if tables else [record.hidden[stack][0] for stack in stacks]
    return tuple(torch.tensor(stream.float().cpu().numpy()) for stream in found)


def logits_from(
    model: LanguageModel, trace: Trace, streams: Sequence[Tensor], position: int, tokens_alone: bool = False
) -> Tensor:
    """Logits at a position of `trace.read` [row, vocabulary] of what a trace read, with streams [row, position, d_model] in the
    place of what the first layers of `entries_of` were given, or of the tokens' own vectors (see `streams_of`); in the gradient
    mode of the caller.

    Errors: ValueError without a language-model head, and where what follows the last block mixes positions.
    """
    if trace.tail is not None and not (model.info.labels and model.info.labels.pooled):
        raise ValueError(
            f"In {model.info.name} layers without attention follow the last block and mix positions: no gradient is taken there."
        )
    rows = len(streams[0])
    entered = Entered(model, rows, {} if tokens_alone else dict(zip(entries_of(trace), streams, strict=True)))
    with Tables(model, streams) if tokens_alone else nullcontext():
        record = model._pass_edited([trace.tokens] * rows, [trace.target] * rows, entered)
    stack = "decoder" if trace.target else "self"
    return model._answers(record.hidden[stack][model._order[1][stack][-1]], position)
