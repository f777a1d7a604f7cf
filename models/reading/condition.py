"""The condition of a network: everything that its answers depend on besides the text."""

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
    """The condition of a network, as a number that differs after every change.

    These count: which modules there are, and functions put in the place of their `forward`; every parameter and buffer: which
    tensor it is, where its numbers are stored (so its device and dtype too), and how often torch wrote into it; hooks. Changes
    that torch itself does not count are not seen: writing through `.data` or numpy, and plain attributes, such as a scale.
    """

    def __init__(self, network: nn.Module):
        self._network = network
        self._lock = threading.Lock()
        self._parts = _Parts(network)
        self._own_hooks = set(self._parts.hooks())
        self._number, self._seen, self._held = 0, tuple[Any, ...](), list[Any]()

    def now(self) -> int | None:
        """Return the number of the present condition; None while the answer to the same text may differ each time.

        That is so in training mode (dropout), under autocast, and with a hook that was not there at the beginning, which may do
        anything.
        """
        with self._lock:
            if self._parts.modules() != self._parts.below:
                self._parts = _Parts(self._network)
            hooks, tensors = self._parts.hooks(), self._parts.tensors()
            seen = (
                self._parts.below,
                self._parts.forwards(),
                hooks,
                list(map(id, tensors)),
                list(map(_storage_and_version, tensors)),
            )
            if seen != self._seen:
                self._seen, self._number = seen, self._number + 1
                # Keeps tensors alive, so that no new one gets an old id; storages weakly, so that their memory can be freed.
                self._held = [tensors, [StorageWeakRef(tensor.untyped_storage()) for tensor in tensors]]
            fickle = self._parts.trains() or _global_hooks_or_autocast() or not self._own_hooks.issuperset(hooks)
            return None if fickle else self._number


class _Parts:
    """The modules of a network and the dictionaries inside them, which stay the same objects, so that a check needs no walk."""

    def __init__(self, network: nn.Module):
        modules = [network]
        for module in modules:  # the list grows while it is walked
            modules.extend(child for child in module._modules.values() if child is not None)
        self.inside = [vars(module) for module in modules]
        self.children = [variables["_modules"] for variables in self.inside]
        self.hooked = [variables[name] for variables in self.inside for name in HOOKS]
        self.holding = [variables[name] for variables in self.inside for name in ("_parameters", "_buffers")]
        self.below = self.modules()

    def modules(self) -> list[nn.Module | None]:
        return list(chain.from_iterable(map(dict.values, self.children)))

    def forwards(self) -> list:
        return [variables.get("forward") for variables in self.inside]

    def hooks(self) -> list[int]:
        """Return the unique number of each hook."""
        return list(chain.from_iterable(self.hooked))

    def tensors(self) -> list[Tensor]:
        return [tensor for tensor in chain.from_iterable(map(dict.values, self.holding)) if tensor is not None]

    def trains(self) -> bool:
        return any(map(itemgetter("training"), self.inside))


def _storage_and_version(tensor: Tensor) -> tuple[int, int]:
    """Return the storage of a tensor, and how often torch wrote into it (not counted in inference mode: 0)."""
    return tensor.untyped_storage()._cdata, 0 if tensor.is_inference() else tensor._version


def _global_hooks_or_autocast() -> bool:
    """Return whether hooks or autocast are on for all networks."""
    hooks = torch_modules._global_forward_hooks or torch_modules._global_forward_pre_hooks
    return bool(hooks) or torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")
