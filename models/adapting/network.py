"""Networks that peft has put an adapter into: built for learning, read from a folder, and merged into weights."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from models.adapting.recipe import Recipe

if TYPE_CHECKING:
    from models.language_model import LanguageModel


def adaptable(network: nn.Module, place: str = "both") -> list[str]:
    """Return the names of the linear maps inside the layers, of attention, of the feed-forward, or of both.

    A map belongs to attention where its own name or that of a module around it has "att" in it, as in all of transformers."""
    names = []
    for name, module in network.named_modules():
        parts = name.split(".")
        if not is_linear(module) or not any(part.isdigit() for part in parts):
            continue
        if place == "both" or (place == "attention") == any("att" in part.lower() for part in parts):
            names.append(name)
    return names


def is_linear(module: nn.Module) -> bool:
    """Return whether a module is a linear map that peft can adapt: GPT-2's has a class of its own, with its weight transposed."""
    from transformers.pytorch_utils import Conv1D

    return isinstance(module, nn.Linear | Conv1D)


def learning_network(model: LanguageModel, recipe: Recipe) -> nn.Module:
    """Return a copy of a model's network in which only what the recipe names learns: a PeftModel, or the plain network with all
    weights copied. Errors: ValueError, a sentence, where there is nothing to adapt."""
    network = model.copy_network()
    torch.manual_seed(recipe.seed)
    if recipe.method == "full":
        return with_own_weights(network)
    import peft

    vars(network)["name_or_path"] = model.info.name  # which peft writes into the adapter's folder
    names = adaptable(network, recipe.place)
    if not names:
        raise ValueError(
            f"{model.info.name} has no linear map in its layers that belongs to {recipe.place}. Choose another place."
        )
    transposed = not isinstance(network.get_submodule(names[0]), nn.Linear)
    config: peft.PeftConfig
    if recipe.method == "lora":
        width = min(min(network.get_parameter(f"{name}.weight").shape) for name in names)
        if recipe.rank > width:
            raise ValueError(f"The rank is {recipe.rank}, and the narrowest map has {width} rows or columns. Take at most that.")
        config = peft.LoraConfig(
            r=recipe.rank,
            lora_alpha=2 * recipe.rank,
            target_modules=names,
            fan_in_fan_out=transposed,
            base_model_name_or_path=model.info.name,
        )
    else:
        forward = [name for name in names if not any("att" in part.lower() for part in name.split("."))]
        config = peft.IA3Config(
            target_modules=names, feedforward_modules=forward, fan_in_fan_out=transposed, base_model_name_or_path=model.info.name
        )
    return peft.get_peft_model(network, config)


def with_own_weights(network: nn.Module) -> nn.Module:
    """Give a network that shares its weights its own copy of each, which learns, and return it."""
    own = {id(old): nn.Parameter(old.detach().clone()) for old in network.parameters()}
    for module in network.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                module._parameters[name] = own[id(parameter)]
    return network


def plain_network(network: nn.Module) -> Any:
    """Return the network inside a PeftModel, whose maps have the adapter beside them; any other network as it is."""
    wrapped: Any = network
    return wrapped.get_base_model() if hasattr(network, "get_base_model") else network


def merged_weights(network: nn.Module) -> dict[str, Tensor]:
    """Return the weights that a PeftModel has changed, with the adapter merged into them, by the names that they have in the
    network without it. peft merges copies: the network's own weights stay as they are."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    weights = {}
    for name, module in plain_network(network).named_modules():
        if isinstance(module, BaseTunerLayer):
            merged: Any = copy.deepcopy(module)
            with torch.no_grad():
                merged.merge()
            before: Any = module.get_base_layer()
            for key, weight in merged.get_base_layer().named_parameters():
                if not torch.equal(weight, before.get_parameter(key)):
                    weights[f"{name}.{key}"] = weight.detach()
    return weights


def at_strength(
    model: LanguageModel, weights: Mapping[str, Tensor], strength: float, name: str = "", source: str = ""
) -> LanguageModel:
    """Return a model with part of a change: each weight is W + strength · (W′ − W). strength: 0 is the model itself, 1 all of the
    change. weights: the W′, by the names of the network's parameters. Errors: ValueError as `LanguageModel.with_weights`."""
    if strength == 1:
        return model.with_weights(weights, name, source)
    own = dict(model.copy_network().named_parameters())
    between = {key: torch.lerp(own[key], weight, strength) if key in own else weight for key, weight in weights.items()}
    return model.with_weights(between, name, source)
