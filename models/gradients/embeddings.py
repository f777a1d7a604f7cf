"""Reads from given vectors of tokens, or from the stream after the embedding, so that slopes against them can be taken."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from models.editing.parts import Place
from models.editing.plan import Plan

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.tokens import Token
    from models.trace import Trace


class PlanWithStreams(Plan):
    """The plan of a pass that replaces the input of the first layer of each stack: [row, position, d_model]."""

    def __init__(self, model: LanguageModel, rows: int, streams: Mapping[str, Tensor]):
        super().__init__([()] * rows, *model.pass_order, keeps=False)
        self.streams = {(stack, 0): stream for stack, stream in streams.items()}

    def _edit_stream(self, place: Place, stream: Tensor) -> Tensor:
        return self.streams[place].to(stream) if place in self.streams else super()._edit_stream(place, stream)


class Tables(TorchFunctionMode):
    """Notes what a pass in this thread looks up in the embedding tables of tokens, or replaces it by other vectors.

    vectors: for each stack that reads, in order, [row, position, d_embedding]; none: nothing is replaced. Hooks on the modules
    would affect readings in other threads.
    """

    def __init__(self, model: LanguageModel, vectors: Sequence[Tensor] = ()):
        super().__init__()
        self.model, self.tables, self.vectors = model, model.embedding_tables, vectors
        self.looked_up: list[Tensor] = []

    def __torch_function__(
        self, function: Callable[..., Any], types: Collection[type], args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        embedded = function(*args, **(kwargs or {}))
        arguments = (*args, *(kwargs or {}).values())
        if getattr(function, "__name__", "") != "embedding" or not any(
            argument is table for argument in arguments for table in self.tables
        ):
            return embedded
        if self.vectors:
            self.check(len(self.looked_up) < len(self.vectors))
            embedded = self.vectors[len(self.looked_up)].to(embedded)
        self.looked_up.append(embedded)
        return embedded

    def check(self, holds: bool) -> None:
        """Check that each stack looks its tokens up once. Errors: ValueError where one does not."""
        if not holds:
            raise ValueError(
                f"{self.model.info.name} does not look each token up in a table once, so no slope is taken against its embedding "
                "alone. Choose what the first layer is given."
            )


def entries_of(trace: Trace) -> tuple[str, ...]:
    """Return the names of the stacks that read the text and the target."""
    return ("encoder", "decoder") if trace.target else ("self",)


def streams_of(
    model: LanguageModel,
    trace: Trace,
    texts: Sequence[Sequence[Token]],
    targets: Sequence[Sequence[Token]] = (),
    tokens_alone: bool = False,
) -> tuple[Tensor, ...]:
    """Return the input of the first layer of each stack of `entries_of`, for texts as long as that of a trace and as many
    targets (none: the trace's): float32 [text, position, d_model].

    tokens_alone: return the rows of the embedding table instead, before anything is added: [text, position, d_embedding].
    Errors: ValueError where tokens are not looked up in a table.
    """
    plan, stacks = Plan([()] * len(texts), *model.pass_order, keeps=False), entries_of(trace)
    with torch.inference_mode(), Tables(model) if tokens_alone else nullcontext() as tables:
        record = model.run_plan(texts, targets or [trace.target] * len(texts), plan)
    if tables:
        tables.check(len(tables.looked_up) == len(stacks))
    streams = tables.looked_up if tables else [record.hidden[stack][0] for stack in stacks]
    return tuple(torch.tensor(stream.float().cpu().numpy()) for stream in streams)


def logits_from(
    model: LanguageModel, trace: Trace, streams: Sequence[Tensor], position: int, tokens_alone: bool = False
) -> Tensor:
    """Return the logits at a position of `trace.read` [row, vocabulary] with streams [row, position, d_model] as inputs of the
    first layers of `entries_of`, or in place of the tokens' vectors (see `streams_of`); in the gradient mode of the caller.

    Errors: ValueError without a language-model head, and where what follows the last block mixes positions.
    """
    if trace.tail is not None and not (model.info.labels and model.info.labels.pooled):
        raise ValueError(
            f"In {model.info.name} layers without attention follow the last block and mix positions: no gradient is taken there."
        )
    rows = len(streams[0])
    plan = PlanWithStreams(model, rows, {} if tokens_alone else dict(zip(entries_of(trace), streams, strict=True)))
    with Tables(model, streams) if tokens_alone else nullcontext():
        record = model.run_plan([trace.tokens] * rows, [trace.target] * rows, plan)
    stack = "decoder" if trace.target else "self"
    return model.answers_at(record.hidden[stack][model.pass_order[1][stack][-1]], position)
