"""A store for several owners, bounded by its bytes, so that a full room does not fill the memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar


class Sized(Protocol):
    @property
    def bytes(self) -> int:
        """The bytes it holds in memory."""


K = TypeVar("K", bound=Hashable)
S = TypeVar("S", bound=Sized)


class Bounded(Generic[K, S]):
    """Entries by owner and key, bounded in number for each owner and in bytes for all. Not thread-safe: callers lock.

    When there are too many bytes, the newest entry of each owner stays longest; the last one stays, however large.
    """

    def __init__(self, each: int, bytes: int):
        self.each, self.bytes = each, bytes
        self._things: OrderedDict[Hashable, OrderedDict[K, S]] = OrderedDict()  # the owner of the newest thing comes last
        self._sizes: dict[Hashable, int] = {}

    @property
    def size(self) -> int:
        """The bytes of all entries, measured for each owner when the owner's entries last changed."""
        return sum(self._sizes.values())

    @property
    def owners(self) -> list[Hashable]:
        return list(self._things)

    def of(self, owner: Hashable) -> OrderedDict[K, S]:
        """Return the entries of an owner, the oldest first."""
        return self._things.get(owner, OrderedDict())

    def keep(self, owner: Hashable, key: K, thing: S) -> None:
        """Keep an entry as its owner's newest, and drop what exceeds the bounds."""
        mine = self._things.setdefault(owner, OrderedDict())
        mine[key] = thing
        mine.move_to_end(key)
        while len(mine) > self.each:
            mine.popitem(last=False)
        self._things.move_to_end(owner)
        self._weigh(owner)
        self._make_room()

    def drop(self, owner: Hashable, *keys: K) -> None:
        """Drop some entries of an owner."""
        mine = self.of(owner)
        for key in keys:
            mine.pop(key, None)
        self._weigh(owner)

    def keep_for(self, stays: Callable[[Hashable], bool]) -> None:
        """Drop the entries of all owners except those for whom `stays` returns true."""
        for owner in self.owners:
            if not stays(owner):
                self.drop(owner, *self.of(owner))

    def clear(self) -> None:
        self._things.clear()
        self._sizes.clear()

    def _weigh(self, owner: Hashable) -> None:
        if mine := self.of(owner):
            self._sizes[owner] = sum(thing.bytes for thing in mine.values())
        else:
            self._things.pop(owner, None)
            self._sizes.pop(owner, None)

    def _make_room(self) -> None:
        """Drop older entries of each owner first, then whole owners, those without new entries for the longest time first."""
        while self.size > self.bytes:
            owner = next((candidate for candidate, things in self._things.items() if len(things) > 1), next(iter(self._things)))
            if len(self._things) == 1 == len(self._things[owner]):
                return
            self.drop(owner, next(iter(self._things[owner])))
