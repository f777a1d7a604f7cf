"""Heads switched off one by one, and the stream patched, by TransformerLens' `run_with_hooks`. Prints JSON.

Given in JSON: threads, clock, rounds, length. Logits of the last position are written to CAUSES, for comparison.
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
PATCHED = ((0, 3), (4, 7), (11, -1))  # a block, and the position whose stream it is given from another text


def main(threads: int, clock: str, rounds: int, length: int) -> dict:
    torch.set_num_threads(threads)
    now, wrapped = CLOCKS[clock], gpt2.twin(gpt2.load(), "eager")
    bridge = build_bridge_from_module(wrapped, "GPT2LMHeadModel", hf_config=wrapped.config)
    layers, heads = wrapped.config.n_layer, wrapped.config.n_head
    inputs = gpt2.given(gpt2.tokens(length))
    ids = inputs.pop("input_ids")

    def without(layer: int, head: int) -> torch.Tensor:
        def off(z, hook):
            z[:, :, head] = 0
            return z

        return bridge.run_with_hooks(ids, fwd_hooks=[(f"blocks.{layer}.attn.hook_z", off)], **inputs)[0, -1]

    took = []
    with torch.inference_mode():
        for _ in range(rounds):
            began = now()
            off = torch.stack([without(layer, head) for layer in range(layers) for head in range(heads)])
            took.append(now() - began)
        other = gpt2.tokens(length).flip(1)
        _, cache = bridge.run_with_cache(other, **inputs)
        patched = []
        for layer, position in PATCHED:

            def put(stream, hook, position=position):
                stream[:, position] = cache[hook.name][:, position]
                return stream

            name = next(one for one in (f"blocks.{layer}.hook_in", f"blocks.{layer}.hook_resid_pre") if one in cache)
            patched.append(bridge.run_with_hooks(ids, fwd_hooks=[(name, put)], **inputs)[0, -1])
    save_file({"off": off, "patched": torch.stack(patched)}, CAUSES)
    return {"seconds": took}


if __name__ == "__main__":
    print(json.dumps(main(**json.loads(sys.argv[1]))))
