"""Decides what a full server drops: first what nobody waits for, and of that from the network that holds most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Bound:
    """How many there may be, and how many bytes of them."""

    count: int
    bytes: int


class Share(NamedTuple):
    """Something that is kept for somebody. leaves: its place among those that leave, the lowest first; None where somebody waits
    for it."""

    name: str
    network: str
    bytes: int
    leaves: int | None = 0


class Crowded(Exception):
    """There is no room, and nothing that could leave. near: whether that is so of one's own network, or of the server."""

    def __init__(self, near: bool) -> None:
        super().__init__(near)
        self.near = near


def choose_leaving(held: Sequence[Share], new: Share, of_network: Bound, of_server: Bound) -> list[str]:
    """The names of what has to leave so that something new fits, from what is held, the oldest first.

    Of a network that is full something of its own leaves. Of a server that is full something of the network that holds most, also
    what somebody waits for (the newest of it) where nothing else is left and that network holds more than the newcomer's.
    Errors: Crowded.
    """
    left = list(held)
    for bound, near in ((of_network, True), (of_server, False)):
        while is_over(bound, counted := [share for share in left if not near or share.network == new.network], new):
            if (first := _first(counted, new, bound, near)) is None:
                raise Crowded(near)
            left.remove(first)
    stay = {share.name for share in left}
    return [share.name for share in held if share.name not in stay]


def is_over(bound: Bound, held: Sequence[Share], new: Share) -> bool:
    """Whether something new is too much beside what is held. A single thing may have any size."""
    return bool(held) and (len(held) >= bound.count or sum(share.bytes for share in held) + new.bytes > bound.bytes)


def _first(held: Sequence[Share], new: Share, bound: Bound, near: bool) -> Share | None:
    parts = {network: _part(held, network, bound) for network in {share.network for share in held}}
    if free := [(share.leaves, -parts[share.network], age) for age, share in enumerate(held) if share.leaves is not None]:
        return held[min(free)[-1]]
    most = max(parts, key=lambda network: parts[network])
    if near or parts[most] <= _part([*held, new], new.network, bound):
        return None
    return [share for share in held if share.network == most][-1]


def _part(held: Sequence[Share], network: str, bound: Bound) -> float:
    """Which part of a bound a network holds."""
    own = [share.bytes for share in held if share.network == network]
    return max(len(own) / bound.count, sum(own) / bound.bytes)
