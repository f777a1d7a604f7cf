"""Replaces weights of a network whose other weights are shared with another network."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn


def set_weights(network: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Put other weights into a network, in place of its parameters, which stay as they are for whoever else uses them.

    weights: by the names of `network.named_parameters()`; a weight that several modules share is replaced in all of them.
    Errors: ValueError for a name that the network does not have, and for another shape.
    """
    parameters = dict(network.named_parameters())
    replaced = {}
    for name, weight in weights.items():
        if name not in parameters:
            raise ValueError(f"The network has no weight “{name}”.")
        old = parameters[name]
        if weight.shape != old.shape:
            raise ValueError(f"“{name}” is {tuple(old.shape)} here, and {tuple(weight.shape)} in what should take its place.")
        replaced[id(old)] = nn.Parameter(weight.to(old.device, old.dtype), requires_grad=False)
    for module in network.modules():
        for name, parameter in module._parameters.items():
            if id(parameter) in replaced:
                module._parameters[name] = replaced[id(parameter)]
