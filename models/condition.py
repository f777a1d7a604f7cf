"""Whether a network is still what it was: everything that its answers depend on besides what it reads."""

from __future__ import annotations

import threading
from itertools import chain
from operator import itemgetter
from typing import Any

import torch
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn.modules import module as torch_modules

HOOKS = ("_forward_hooks", "_forward_pre_hooks")


class Condition:
    """The condition of a network, as a number that is another one after every change.

    What counts: which modules there are, and functions put in the place of their `forward`; every parameter and buffer: which
    tensor it is, where its numbers lie (so its device and dtype too), and how often torch wrote into it; hooks. Not seen is what
    torch itself does not count: writing through `.data` or numpy, and changes to plain attributes, such as a scale.
    """

    def __init__(self, network: nn.Module):
        self._network = network
        self._lock = threading.Lock()
        self._parts = _Parts(network)
        self._own_hooks = set(self._parts.hooks())
        self._number, self._seen, self._held = 0, tuple[Any, ...](), list[Any]()

    def now(self) -> int | None:
        """The number of the present condition; None while the answer to the same text may be another one each time.

        That is so in training mode (dropout), under autocast, and with a hook that was not there at the beginning: a hook may do
        what it likes.
        """
        with self._lock:
            if self._parts.modules() != self._parts.below:
                self._parts = _Parts(self._network)
            hooks, tensors = self._parts.hooks(), self._parts.tensors()
            seen = (self._parts.below, self._parts.forwards(), hooks, list(map(id, tensors)), list(map(_written, tensors)))
            if seen != self._seen:
                self._seen, self._number = seen, self._number + 1
                # Held, so that nothing new gets the identity of what is gone; the storages weakly, so that their memory can go.
                self._held = [tensors, [StorageWeakRef(tensor.untyped_storage()) for tensor in tensors]]
            fickle = self._parts.trains() or _everywhere() or not self._own_hooks.issuperset(hooks)
            return None if fickle else self._number


class _Parts:
    """The modules of a network and the dictionaries inside them, which stay the same objects, so that a look takes no walk."""

    def __init__(self, network: nn.Module):
        modules = [network]
        for module in modules:  # the list grows while it is walked
            modules.extend(child for child in module._modules.values() if child is not None)
        self.inside = [vars(module) for module in modules]
        self.children = [one["_modules"] for one in self.inside]
        self.hooked = [one[name] for one in self.inside for name in HOOKS]
        self.holding = [one[name] for one in self.inside for name in ("_parameters", "_buffers")]
        self.below = self.modules()

    def modules(self) -> list[nn.Module | None]:
        return list(chain.from_iterable(map(dict.values, self.children)))

    def forwards(self) -> list:
        return [one.get("forward") for one in self.inside]

    def hooks(self) -> list[int]:
        """The number of each hook, which no other one ever has."""
        return list(chain.from_iterable(self.hooked))

    def tensors(self) -> list[Tensor]:
        return [one for one in chain.from_iterable(map(dict.values, self.holding)) if one is not None]

    def trains(self) -> bool:
        return any(map(itemgetter("training"), self.inside))


def _written(tensor: Tensor) -> tuple[int, int]:
    """Which storage a tensor has, and how often torch wrote into it; that is not counted for those of inference mode."""
    return tensor.untyped_storage()._cdata, 0 if tensor.is_inference() else tensor._version


def _everywhere() -> bool:
    """Whether hooks or autocast are on for all networks."""
    hooks = torch_modules._global_forward_hooks or torch_modules._global_forward_pre_hooks
    return bool(hooks) or torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")
