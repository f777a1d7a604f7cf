"""Initial weights, before anything is learned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn
from torch.overrides import TorchFunctionMode

from models.scratch.config import TransformerConfig

WRITE = (".output", ".down")  # the maps whose results are added to the residual stream, by the ends of their names


def zero(linear: nn.Linear, writers: int) -> None:
    """Fill with normal numbers of variance 1 / inputs; with zeros where the map writes into the stream: a block then starts as
    the identity.

    Source: LeCun et al. 1998, "Efficient BackProp", section 4.6; the zeros as in Goyal et al. 2017, "Accurate, Large Minibatch
    SGD", section 5.1.
    """
    nn.init.zeros_(linear.weight) if writers else nn.init.normal_(linear.weight, std=linear.in_features**-0.5)


def xavier(linear: nn.Linear, writers: int) -> None:
    """Fill with uniform numbers within ±√(6 / (inputs + outputs)), so that neither activations nor gradients grow.

    Source: Glorot and Bengio 2010, "Understanding the difficulty of training deep feedforward neural networks", eq. 16.
    """
    nn.init.xavier_uniform_(linear.weight)


def gpt2(linear: nn.Linear, writers: int) -> None:
    """Fill with normal numbers of standard deviation 0.02; 0.02 / √n in the n maps of a stack that write into the stream.

    Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3.
    """
    nn.init.normal_(linear.weight, std=0.02 * (writers**-0.5 if writers else 1))


# Each takes a linear map, and how many sublayers write into the stream where it does, else 0.
INITIALISATION: dict[str, Callable[[nn.Linear, int], None]] = {"zero": zero, "xavier": xavier, "gpt2": gpt2}


def initialise(stack: nn.Module, config: TransformerConfig) -> None:
    """Initialise every linear map and every embedding of a stack; biases are 0, embeddings normal.

    Embeddings have standard deviation 0.02, or 1 / √d_model where they are scaled by its inverse.
    """
    writers = config.layers * (3 if any(name.endswith(".cross") for name, _ in stack.named_modules()) else 2)
    for name, module in stack.named_modules():
        if isinstance(module, nn.Linear):
            INITIALISATION[config.initialisation](module, writers if name.endswith(WRITE) else 0)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            scaled = config.embedding_scale and module.embedding_dim == config.d_model
            nn.init.normal_(module.weight, std=config.d_model**-0.5 if scaled else 0.02)


class Unfilled(TorchFunctionMode):
    """Skips `nn.init` in a `with` block, for modules whose weights are read from a file afterwards.

    Without it, filling weights on the device meta makes torch import its compiler, which takes more than a second.
    """

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        options = kwargs or {}
        if getattr(func, "__module__", "") == nn.init.__name__:
            return options.get("tensor", *args[:1])
        return func(*args, **options)
