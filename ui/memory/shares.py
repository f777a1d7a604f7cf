"""Decides what a full server drops: first items that nobody waits for, and among these one of the network that holds most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Bound:
    """The largest number of items, and of their bytes."""

    count: int
    bytes: int


class Share(NamedTuple):
    """An item that is kept for a visitor. leaves: its rank among items that may be dropped, the lowest first; None while somebody
    waits for it."""

    name: str
    network: str
    bytes: int
    leaves: int | None = 0


class Crowded(Exception):
    """There is no room, and nothing that may be dropped. near: whether the visitor's own network is full, or the whole server."""

    def __init__(self, near: bool) -> None:
        super().__init__(near)
        self.near = near


def choose_leaving(held: Sequence[Share], new: Share, of_network: Bound, of_server: Bound) -> list[str]:
    """Return the names of the items to drop so that a new one fits, from the held ones, the oldest first.

    If the network is full, one of its own items is dropped. If the server is full, an item of the network that holds most is
    dropped: if nothing else is left, even an item that somebody waits for (the newest), provided that this network holds more
    than the newcomer's. Errors: Crowded.
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
    """Return whether a new item is too much beside the held ones. A single item may have any size."""
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
    """Return the share of a bound that a network holds."""
    own = [share.bytes for share in held if share.network == network]
    return max(len(own) / bound.count, sum(own) / bound.bytes)
