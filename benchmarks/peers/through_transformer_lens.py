"""Attention by TransformerLens' `run_with_cache`: everything that it keeps by default, or the maps alone. Prints JSON.

Its bridge wraps the network in place and computes attention in the open (eager), which its hooks need.
"""

from __future__ import annotations

import json
import sys

from transformer_lens.model_bridge.sources import build_bridge_from_module

from benchmarks.peers import gpt2
from benchmarks.peers.measure import LAYER, Settings, Way, measure

MAPS = "hook_pattern"


def ways(network) -> list[Way]:
    wrapped = gpt2.twin(network, "eager")
    bridge = build_bridge_from_module(wrapped, "GPT2LMHeadModel", hf_config=wrapped.config)

    def way(name: str, every_layer: bool = True, **chosen) -> Way:
        def read(ids):
            inputs = gpt2.inputs_for(ids)
            logits, cache = bridge.run_with_cache(inputs.pop("input_ids"), **inputs, **chosen)
            return cache[f"blocks.{LAYER}.attn.{MAPS}"][0], (logits, cache)

        return Way(name, read, lambda outputs: outputs[1].values(), every_layer)

    return [
        way("TransformerLens, everything"),
        way("TransformerLens, maps of every layer", names_filter=lambda name: name.endswith(MAPS)),
        way("TransformerLens, maps of one layer", False, names_filter=f"blocks.{LAYER}.attn.{MAPS}"),
    ]


if __name__ == "__main__":
    plain, settings = gpt2.load(), Settings(**json.loads(sys.argv[1]))
    print(json.dumps([result for way in ways(plain) for result in measure(way, plain, settings)]))
