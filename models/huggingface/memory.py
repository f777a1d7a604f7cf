"""The device and precision in which a network fits, chosen from counts alone before a weight is read or downloaded."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from models.errors import ModelError
from models.huggingface.names import quoted
from models.numbers.sizes import count, size

RESERVE = 1_000_000_000  # bytes left for the work itself: activations, the app, the rest of the machine
HALVES = {"F16": "float16", "float16": "float16"}  # what is stored otherwise goes to bfloat16, with float32's range
SIZES = {"float32": 4, "float16": 2, "bfloat16": 2}
UNLIMITED = 1 << 60  # cgroup v1 writes about 2**63 where there is no limit


@dataclass(frozen=True)
class Placement:
    """A device and a precision for a network, and its size in bytes.

    device: "cpu", "cuda:0", "mps", or "auto" (spread over all of them); dtype: "float32" | "bfloat16" | "float16".
    """

    device: str
    dtype: str
    bytes: int


def place(
    name: str, parameters: int, stored: str, device: str | None, passing: int = 0, required: str | None = None
) -> Placement:
    """Find room for the parameters: in float32 where it fits, else in 16 bits. passing: additional numbers held while reading.

    stored: the dtype in the files, as safetensors or a config spells it. device: where it must go; None: a GPU if there is one.
    required: a dtype that it must be.
    Errors: ModelError with the figures when there is no room, or when there is no such device.
    """
    choices = [(device, free_on(device))] if device else places()
    for dtype in (required,) if required else ("float32", HALVES.get(stored, "bfloat16")):
        needed = parameters * SIZES[dtype]
        for choice, free in choices:
            if needed + passing * SIZES[dtype] <= free:
                return Placement(choice, dtype, needed)
    best = max(free for _, free in choices)
    where = "this machine" if not device else quoted(device)
    more = f" and {size(passing * SIZES[dtype])} more while it is read" if passing else ""
    raise ModelError(
        f"{quoted(name)} has {count(parameters)} parameters: {size(needed)} in {dtype}{more}, and {where} has {size(best)} free."
    )


def places() -> list[tuple[str, int]]:
    """Return the devices to try and the bytes free on each, the best first."""
    import torch

    devices = []
    if torch.cuda.is_available():
        free = [(f"cuda:{index}", free_on(f"cuda:{index}")) for index in range(torch.cuda.device_count())]
        devices.append(max(free, key=lambda each: each[1]))
        devices.append(("auto", sum(bytes for _, bytes in free) + free_on("cpu")))
    elif torch.backends.mps.is_available():
        devices.append(("mps", free_on("mps")))
    return [*devices, ("cpu", free_on("cpu"))]


def free_on(device: str) -> int:
    """Return the bytes that a network may take on a device, less the reserve. Errors: ModelError when there is no such device."""
    import torch

    try:
        torch_device = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ModelError(
            f"{quoted(str(device))} is not a device. There is “cpu”, and where the machine has them “cuda” and “mps”."
        ) from error
    if torch_device.type == "cuda" and torch.cuda.is_available() and (torch_device.index or 0) < torch.cuda.device_count():
        return max(torch.cuda.mem_get_info(torch_device)[0] - RESERVE, 0)
    # A Mac's GPU works in the main memory.
    if torch_device.type == "cpu" or (torch_device.type == "mps" and torch.backends.mps.is_available()):
        return max(free_memory() - RESERVE, 0)
    raise ModelError(f"This machine has no device {quoted(device)}, or torch was installed without it.")


def free_memory(cgroup: Path = Path("/sys/fs/cgroup"), membership: Path = Path("/proc/self/cgroup")) -> int:
    """Return the free bytes of main memory: those of the machine, or of the container's limit if that leaves less."""
    import psutil

    free = [psutil.virtual_memory().available]
    try:
        lines = [line.split(":", 2) for line in membership.read_text().splitlines()]
    except OSError:  # no Linux
        lines = []
    for _, controllers, inside in (line for line in lines if len(line) == 3):
        if controllers not in ("", "memory"):
            continue
        # Version 2 has no controller named here. A limit may stand at any height of the tree.
        top, limit, usage = (
            (cgroup / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
            if controllers
            else (cgroup, "memory.max", "memory.current")
        )
        path = top / inside.lstrip("/")
        for group in (path, *path.parents):
            if group.is_relative_to(top) and (room := left_in(group, limit, usage)) is not None:
                free.append(room)
    return max(min(free), 0)


def left_in(group: Path, limit: str, usage: str) -> int | None:
    """Return the bytes that a control group leaves; None without a limit. Pages of files that can be dropped count as free."""
    try:
        most = (group / limit).read_text().strip()
        if most == "max" or int(most) > UNLIMITED:
            return None
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        droppable = int(stat.get("total_inactive_file", stat.get("inactive_file", 0)))
        return int(most) - int((group / usage).read_text()) + droppable
    except (OSError, ValueError):
        return None


def check_disk(name: str, needed: int, folder: Path) -> None:
    """Check that a download of `needed` bytes fits on the disk that holds `folder`. Errors: ModelError."""
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if needed + RESERVE > free:
        raise ModelError(f"{quoted(name)} is a download of {size(needed)}, and the disk with the cache has {size(free)} free.")
