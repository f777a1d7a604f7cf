"""Attention by nnsight: what the eager attention of each layer returns beside its output, saved. Prints JSON."""

from __future__ import annotations

import json
import sys

import nnsight

from benchmarks.peers import gpt2
from benchmarks.peers.measure import LAYER, Settings, Way, measure


def ways(network) -> list[Way]:
    model = nnsight.NNsight(gpt2.twin(network, "eager"))

    def every_layer(ids):
        with model.trace(**gpt2.inputs_for(ids)):
            maps = nnsight.save([])
            for block in model.transformer.h:
                maps.append(block.attn.output[1])
            logits = model.output.logits.save()
        return maps[LAYER][0], (logits, maps)

    def one_layer(ids):
        with model.trace(**gpt2.inputs_for(ids)):
            maps = model.transformer.h[LAYER].attn.output[1].save()
            logits = model.output.logits.save()
        return maps[0], (logits, [maps])

    return [
        Way("nnsight, maps of every layer", every_layer, lambda outputs: outputs[1]),
        Way("nnsight, maps of one layer", one_layer, lambda outputs: outputs[1], every_layer=False),
    ]


if __name__ == "__main__":
    plain, settings = gpt2.load(), Settings(**json.loads(sys.argv[1]))
    print(json.dumps([result for way in ways(plain) for result in measure(way, plain, settings)]))
