"""What is kept for several owners, bounded by its bytes, so that a full room does not fill the memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar


class Sized(Protocol):
    @property
    def bytes(self) -> int:
        """What it holds in memory."""


K = TypeVar("K", bound=Hashable)
S = TypeVar("S", bound=Sized)


class Bounded(Generic[K, S]):
    """Things by owner and key, so many for each owner and so many bytes in all. Not safe between threads: whoever has one locks.

    When there are too many bytes, the newest of each owner stays longest; the last one stays, however large.
    """

    def __init__(self, each: int, bytes: int):
        self.each, self.bytes = each, bytes
        self._kept: OrderedDict[Hashable, OrderedDict[K, S]] = OrderedDict()  # who kept something last comes last
        self._sizes: dict[Hashable, int] = {}

    @property
    def size(self) -> int:
        """The bytes of all that is kept, each owner's as they were when they kept something last."""
        return sum(self._sizes.values())

    @property
    def owners(self) -> list[Hashable]:
        return list(self._kept)

    def of(self, owner: Hashable) -> OrderedDict[K, S]:
        """What is kept of an owner, the oldest first."""
        return self._kept.get(owner, OrderedDict())

    def keep(self, owner: Hashable, key: K, thing: S) -> None:
        """Keep a thing as its owner's newest; what is too much leaves."""
        mine = self._kept.setdefault(owner, OrderedDict())
        mine[key] = thing
        mine.move_to_end(key)
        while len(mine) > self.each:
            mine.popitem(last=False)
        self._kept.move_to_end(owner)
        self._weigh(owner)
        self._make_room()

    def drop(self, owner: Hashable, *keys: K) -> None:
        """Let go of some things of an owner."""
        mine = self.of(owner)
        for key in keys:
            mine.pop(key, None)
        self._weigh(owner)

    def keep_for(self, stays: Callable[[Hashable], bool]) -> None:
        """Let go of all that is kept of other owners than those that stay."""
        for owner in self.owners:
            if not stays(owner):
                self.drop(owner, *self.of(owner))

    def clear(self) -> None:
        self._kept.clear()
        self._sizes.clear()

    def _weigh(self, owner: Hashable) -> None:
        if mine := self.of(owner):
            self._sizes[owner] = sum(one.bytes for one in mine.values())
        else:
            self._kept.pop(owner, None)
            self._sizes.pop(owner, None)

    def _make_room(self) -> None:
        """All but each owner's newest leave first, then owners, those who have kept nothing for the longest."""
        while self.size > self.bytes:
            owner = next((one for one, things in self._kept.items() if len(things) > 1), next(iter(self._kept)))
            if len(self._kept) == 1 == len(self._kept[owner]):
                return
            self.drop(owner, next(iter(self._kept[owner])))
