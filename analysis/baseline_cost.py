"""The cost of a transformer beside networks without attention that have as many parameters and layers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.cost import BYTES, cache_bytes, costs
from models.scratch.config import TransformerConfig
from models.training.baselines import BASELINES, KERNEL, Baseline, BaselineConfig, count_parameters, matching

GATES = {"lstm": 4, "gru": 3}
STATES = {"lstm": 2, "gru": 1}  # vectors that a layer hands to the next token


@dataclass(frozen=True)
class NetworkCost:
    """The cost of reading one text. network: "transformer" or one of BASELINES; flops: of a forward pass’s matrix products, 2
    for each multiply-and-add; memory: bytes of float32 with which it can go on by one token without reading the text again;
    waits: layers that have to wait for each other, one after the other, however many processors there are; seconds: of one
    forward pass, None where it was not measured."""

    network: str
    d_model: int
    parameters: int
    flops: int
    memory: int
    waits: int
    seconds: float | None = None


def baseline_flops(config: BaselineConfig, length: int) -> int:
    """Return the operations of a baseline for a text: each of its matrices is used once for each token."""
    products = GATES[config.network] * 2 if config.network in GATES else KERNEL
    return 2 * length * config.d_model * (config.layers * products * config.d_model + config.vocabulary)


def baseline_cost(network: str, config: TransformerConfig, length: int) -> NetworkCost:
    """Return the cost of a baseline with as many layers and parameters as a transformer."""
    chosen = matching(network, config)
    recurrent = network in GATES
    return NetworkCost(
        network,
        chosen.d_model,
        count_parameters(lambda: Baseline(chosen)),
        baseline_flops(chosen, length),
        BYTES * chosen.layers * chosen.d_model * (STATES[network] if recurrent else KERNEL - 1),
        length + chosen.layers - 1 if recurrent else chosen.layers,
    )


def side_by_side(config: TransformerConfig, length: int, measured: bool = True) -> Iterator[NetworkCost]:
    """Yield the cost of a decoder and of each baseline for one text of `length` tokens, the decoder first.

    measured: whether each is built with fresh weights and timed. Errors: ValueError for another kind than a decoder.
    """
    if config.kind != "decoder":
        raise ValueError(f"A network without attention stands beside a decoder here, not beside an {config.kind}.")
    parts = costs(config, length)
    sums = sum(part.parameters.value for part in parts), sum(part.flops.value for part in parts)
    each = [NetworkCost("transformer", config.d_model, *sums, cache_bytes(config, length), config.layers)]
    each += [baseline_cost(network, config, length) for network in BASELINES]
    for cost in each:
        seconds = forward_seconds(cost.network, config, length) if measured else None
        yield NetworkCost(**{**vars(cost), "seconds": seconds})


def forward_seconds(network: str, config: TransformerConfig, length: int) -> float:
    """Return the seconds of a forward pass with fresh weights over random tokens, the quicker of two."""
    import torch

    from models.scratch.transformer import build

    module = build(config) if network == "transformer" else Baseline(matching(network, config))
    ids = torch.randint(config.vocabulary, (1, length), generator=torch.Generator().manual_seed(0))
    times = []
    with torch.inference_mode():
        module.eval()
        for _ in range(2):
            began = time.perf_counter()
            module(ids)
            times.append(time.perf_counter() - began)
    return min(times)
