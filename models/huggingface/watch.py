"""Watches one block of a followed network while it reads, and its way from the stream to logits."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutput

from models.attention.recorder import recording
from models.huggingface import layout
from models.huggingface.followed import FollowedNetwork
from models.huggingface.way_out import WayOut
from models.trace import Trace
from models.watching.steps import Watched
from models.watching.watcher import Private, watch_rows


def watch_block(
    followed: FollowedNetwork, way: WayOut, copied: Private, trace: Trace, stack: str, layer: int, positions: Sequence[int]
) -> Watched:
    """Watch a block of a copied network: `LanguageModel.watch`, with what it needs of the network that was copied."""
    network, copied_layout = copied.network, copied.layout
    block_ids = {id(block) for block in copied_layout.blocks[stack]}
    target = [i for i, part in enumerate(copied_layout.layers[stack]) if id(part) in block_ids][layer]
    inputs = followed.inputs([trace.tokens], [[token.id for token in trace.target]])
    memory: Tensor | None = None
    source = network.base_model
    with torch.inference_mode():
        if stack != "self":
            source = network.get_encoder()
            inputs = {"input_ids": inputs["input_ids"]}
        if stack == "decoder":
            encoded = followed.recent.get(followed.recent.now(), tuple(token.id for token in trace.tokens))
            memory = encoded.out if encoded else followed.forward(source, recording(), **inputs)[1].last_hidden_state
            inputs = followed.inputs([trace.tokens], [[token.id for token in trace.target]])
            inputs["encoder_outputs"] = BaseModelOutput(last_hidden_state=memory)
            source = network.base_model if way.labels else network  # a head for labels is not followed

        def run() -> Tensor:
            _, out = followed.forward(source, recording(), **inputs)
            return out.last_hidden_state if "last_hidden_state" in out else out.logits

        head = way.predicts and stack != "encoder"
        hidden = trace.hidden.get(stack)
        stream = None if hidden is None else (followed.numbers(hidden[layer]), followed.numbers(hidden[layer + 1]))
        watched = copied.near(copied_layout.layers[stack], target, run, bool(positions) and not head, stream)
        if head and positions:
            rows = followed.numbers(trace.stream[-1][list(positions)])[None]
            but = frozenset(map(id, copied_layout.tail(stack))) if way.row_layers else frozenset()
            with layout.skipping(rows, but):
                watched.head = watch_rows(rows, lambda _: network(**way.blank(rows[0]), return_dict=True).logits)
    watched.memory = None if memory is None else memory[0]
    return watched
