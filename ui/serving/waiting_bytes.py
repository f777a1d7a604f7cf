"""Limits the bytes of incomplete and waiting messages, for all browsers together."""

from __future__ import annotations

from collections.abc import Callable, Hashable

MOST = 100_000_000  # bytes: the longest texts of a class of sixty, pasted by all in the same second, are 72 million


class WaitingBytes:
    """Waiting bytes by sender. If all together are too many, the sender with the most is disconnected."""

    def __init__(self, most: int = MOST) -> None:
        self.most, self.total = most, 0
        self._sizes: dict[Hashable, int] = {}
        self._ends: dict[Hashable, Callable[[], object]] = {}

    def note(self, who: Hashable, size: int, end: Callable[[], object]) -> None:
        """Note how many bytes of a sender wait. end: called to disconnect that sender when all together are too many."""
        self.total += size - self._sizes.pop(who, 0)
        if size:
            self._sizes[who], self._ends[who] = size, end
        else:
            self._ends.pop(who, None)
        while self.total > self.most:
            largest = max(self._sizes, key=self._sizes.__getitem__)
            self.total -= self._sizes.pop(largest)
            self._ends.pop(largest)()

    def forget(self, who: Hashable) -> None:
        self.note(who, 0, lambda: None)


of_all = WaitingBytes()
