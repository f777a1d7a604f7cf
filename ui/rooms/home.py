"""Finds the process that has a room: the room's code names it, and a cookie sends a browser there."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

ELSEWHERE = (
    "Room {code} is with another process of this server, and your page goes there by itself. If it stays here, your browser "
    "takes no cookies: allow them for this address, and load the page again."
)
MONTH = 30 * 24 * 3600  # seconds


class Home:
    """This process among the server's processes. name: the cookie that tells the proxy where a browser belongs; values: its value
    for each process; here: the number of this process. A single process has no values, and every room."""

    def __init__(self) -> None:
        self.name, self.values, self.here = "", (), 0  # type: tuple[str, Sequence[str], int]

    def settle(self, name: str, values: Sequence[str], here: int) -> None:
        self.name, self.values, self.here = name, values, here

    @property
    def count(self) -> int:
        """The number of processes that serve."""
        return max(1, len(self.values))

    def of(self, code: str) -> int:
        """Return the number of the process that has the room of this code, whether or not there is such a room."""
        return crc32(code.encode()) % len(self.values) if self.values else self.here

    def has(self, code: str) -> bool:
        return self.of(code) == self.here

    def cookie(self, code: str) -> str:
        """Return the cookie that leads a browser to the process of this code; "" for a single process."""
        return self.values[self.of(code)] if self.values else ""


home = Home()
