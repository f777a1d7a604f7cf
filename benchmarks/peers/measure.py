"""How one way of reading attention is measured beside a plain forward pass: time ratio, bytes held, maps."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from benchmarks.peers import gpt2

LENGTHS = {16: 120, 64: 80, 256: 40, 1024: 16}  # tokens: pairs of forward passes
LONGEST = max(LENGTHS)
LAYER = 5  # whose maps are read
TOLERANCE = 1e-4  # between two ways to compute them
WARM = 2
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
MAPS = gpt2.BUILD / "maps.safetensors"  # of LAYER, by length, as Headlight read them


@dataclass(frozen=True)
class Settings:
    """scale: more or fewer pairs; clock: "wall" | "cpu" (with one thread the steadier one on a busy machine)."""

    scale: float = 1.0
    threads: int = 2
    clock: str = "wall"


@dataclass(frozen=True)
class Way:
    """A way to read attention. read: ids [1, n] -> the maps of LAYER [heads, n, n] and all that stays in memory for it.

    arrays: the tensors in what stays.
    """

    name: str
    read: Callable[[Tensor], tuple[Any, Any]]
    arrays: Callable[[Any], Iterable[Tensor | np.ndarray | None]]
    every_layer: bool = True  # whether the other layers' maps can be had as well, without another forward pass


@dataclass(frozen=True)
class Result:
    """plain, taken: median seconds of a forward pass; ratio: quartiles of taken over plain.

    held: bytes; differs: the maps from Headlight's, at most.
    """

    name: str
    every_layer: bool
    length: int
    plain: float
    taken: float
    ratio: tuple[float, float, float]
    held: int
    differs: float | None = None


def measure(way: Way, network, settings: Settings, first: bool = False) -> list[dict]:
    """Results for every length. network: read plainly beside it. first: its maps are what all others must agree with."""
    torch.set_num_threads(settings.threads)
    clock = CLOCKS[settings.clock]

    def plain(ids: Tensor):
        return network(**gpt2.inputs_for(ids)).logits

    theirs = {} if first else load_file(MAPS)
    ours, results = {}, []
    for length, pairs in LENGTHS.items():
        ids = gpt2.tokens(length)
        with torch.inference_mode():
            took = _pairs(plain, way.read, ids, max(3, round(pairs * settings.scale)), clock)
            maps, outputs = way.read(ids)
            held = _held(way.arrays(outputs), network)
            maps = ours[str(length)] = torch.as_tensor(np.array(maps, dtype=np.float32))
            del outputs
        expected = maps if first else theirs[str(length)]
        differs = float((maps - expected).abs().max())
        assert maps.shape == expected.shape and differs < TOLERANCE, f"{way.name}: maps differ by {differs} at {length} tokens."
        results.append(
            Result(
                way.name,
                way.every_layer,
                length,
                plain=statistics.median(a for a, _ in took),
                taken=statistics.median(b for _, b in took),
                ratio=tuple(statistics.quantiles((b / a for a, b in took), n=4)),
                held=held,
                differs=None if first else differs,
            )
        )
    if first:
        save_file(ours, MAPS)
    return [asdict(result) for result in results]


def _pairs(plain: Callable, read: Callable, ids: Tensor, pairs: int, clock: Callable[[], float]) -> list[tuple[float, float]]:
    """Seconds of both, in turn, now one first and now the other: what disturbs the machine disturbs both alike."""
    for _ in range(WARM):
        plain(ids), read(ids)
    gc.collect()
    gc.freeze()
    taken = []
    for number in range(pairs):
        order = (plain, read) if number % 2 else (read, plain)
        seconds = {each: _seconds(each, ids, clock) for each in order}
        taken.append((seconds[plain], seconds[read]))
    gc.unfreeze()
    return taken


def _seconds(read: Callable, ids: Tensor, clock: Callable[[], float]) -> float:
    began = clock()
    outputs = read(ids)
    took = clock() - began
    del outputs  # not timed, whoever it is
    return took


def _held(arrays: Iterable[Tensor | np.ndarray | None], network) -> int:
    """Bytes of all distinct storages, apart from the network's own; what is a view holds the whole that it is a view of."""
    sizes = {}
    for array in arrays:
        if isinstance(array, Tensor):
            storage = array.untyped_storage()
            sizes[storage.data_ptr()] = storage.nbytes()
        elif array is not None:
            while isinstance(array.base, np.ndarray):
                array = array.base
            sizes.setdefault(array.ctypes.data, array.nbytes)
    own = {tensor.untyped_storage().data_ptr() for tensor in (*network.parameters(), *network.buffers())}
    return sum(size for pointer, size in sizes.items() if pointer not in own)
