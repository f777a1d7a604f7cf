"""Heads switched off one by one, and the stream patched, by TransformerLens' `run_with_hooks`. Prints JSON.

Given in JSON: threads, clock, rounds, length, and what: "heads" or "patches" (the stream that a block is given, at a position,
from the text backwards). Logits of the last position are written to CAUSES, for comparison.
"""

from __future__ import annotations

import json
import sys

import torch
from safetensors.torch import save_file
from transformer_lens.model_bridge.sources import build_bridge_from_module

from benchmarks.peers import gpt2
from benchmarks.peers.measure import CLOCKS

CAUSES = gpt2.BUILD / "causes.safetensors"


def main(threads: int, clock: str, rounds: int, length: int, what: str) -> dict:
    torch.set_num_threads(threads)
    read_clock, wrapped = CLOCKS[clock], gpt2.twin(gpt2.load(), "eager")
    bridge = build_bridge_from_module(wrapped, "GPT2LMHeadModel", hf_config=wrapped.config)
    layers, heads = wrapped.config.n_layer, wrapped.config.n_head
    inputs = gpt2.inputs_for(gpt2.tokens(length))
    ids = inputs.pop("input_ids")

    def without(layer: int, head: int) -> torch.Tensor:
        def off(z, hook):
            z[:, :, head] = 0
            return z

        return bridge.run_with_hooks(ids, fwd_hooks=[(f"blocks.{layer}.attn.hook_z", off)], **inputs)[0, -1]

    with torch.inference_mode():
        _, cache = bridge.run_with_cache(gpt2.tokens(length).flip(1), **inputs)
        streams = [
            next(name for name in (f"blocks.{layer}.hook_in", f"blocks.{layer}.hook_resid_pre") if name in cache)
            for layer in range(layers)
        ]

        def patched(layer: int, position: int) -> torch.Tensor:
            def put(stream, hook):
                stream[:, position] = cache[hook.name][:, position]
                return stream

            return bridge.run_with_hooks(ids, fwd_hooks=[(streams[layer], put)], **inputs)[0, -1]

        run, count = (without, heads) if what == "heads" else (patched, length)
        took = []
        for _ in range(rounds):
            began = read_clock()
            logits = torch.stack([run(layer, number) for layer in range(layers) for number in range(count)])
            took.append(read_clock() - began)
    save_file({what: logits}, CAUSES)
    return {"seconds": took}


if __name__ == "__main__":
    print(json.dumps(main(**json.loads(sys.argv[1]))))
