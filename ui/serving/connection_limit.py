"""Limits the open connections of a server; when there are too many, an idle one is closed."""

from __future__ import annotations

from collections import Counter
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Protocol

CONNECTIONS = 4096  # open at most: a room of 300 has two lines each, and six connections for a moment while its pages load
FILES = 96  # descriptors left for models, logs and processes where few are allowed; a server that reads a model has about 40
BEYOND = 16  # connections beyond that, on which only those who look after the server are answered
BURST = 2048  # connections that the system takes at once, before the server sees the first of them
SITE = 64  # bits of an IPv6 address by which networks are told apart: one household or machine has all that follow


class Connection(Protocol):
    def give_way(self) -> None:
        """End the connection at once."""


class Addresses(Protocol):
    def __contains__(self, address: str, /) -> bool:
        """Return whether an address belongs to one of these networks."""


class Places:
    """The open connections of a server.

    most: the limit for all; each: the limit for one network, except for `trusted` proxies, which speak for many visitors. At a
    limit, the oldest connection without a request under way is closed: in the same network if that has too many, otherwise in the
    network that has most. If all are busy, a new one is `beyond`: see `take`.
    """

    def __init__(self, most: int = CONNECTIONS, trusted: Addresses = frozenset[str]()) -> None:
        self.most, self.each, self.trusted = most, max(1, most // 2), trusted
        self.networks: dict[Connection, str] = {}  # of each that is open
        self.beyond: dict[Connection, None] = {}  # in the order in which they came, as those that wait
        self._counts: Counter[str] = Counter()
        self._waiting: dict[str, dict[Connection, None]] = {}

    def take(self, connection: Connection, address: str) -> bool:
        """Count a connection from an address. Return False if it is beyond the limit: then it may only ask whether the server is
        alive.
        """
        network = "" if address in self.trusted else network_of(address)
        free = self._make_room(network)
        if not free and len(self.beyond) >= BEYOND:
            self._end(next(iter(self.beyond)))
        self.networks[connection] = network
        if free:
            self._counts[network] += 1
        else:
            self.beyond[connection] = None
        return free

    def leave(self, connection: Connection) -> None:
        """Stop counting a connection that has ended or continues as another one. A connection that is not counted is ignored."""
        if (network := self.networks.pop(connection, None)) is None:
            return
        self.set_waiting(connection, network, False)
        if connection in self.beyond:
            del self.beyond[connection]
            return
        self._counts[network] -= 1
        if not self._counts[network]:
            del self._counts[network]

    def wait(self, connection: Connection, waits: bool) -> None:
        """Note whether a connection has no request under way, so that it may be closed."""
        if connection in self.networks and connection not in self.beyond:
            self.set_waiting(connection, self.networks[connection], waits)

    def set_waiting(self, connection: Connection, network: str, waits: bool) -> None:
        if waits:
            self._waiting.setdefault(network, {}).setdefault(connection)
        elif connection in (those := self._waiting.get(network, {})):
            del those[connection]
            if not those:
                del self._waiting[network]

    def _make_room(self, network: str) -> bool:
        """Return whether there is room for one more from a network, after closing another if necessary."""
        if network and self._counts[network] >= self.each:
            return self._end_oldest(network)
        if self._counts.total() >= self.most:
            return self._end_oldest(max(self._waiting, key=lambda other: len(self._waiting[other]), default=""))
        return True

    def _end_oldest(self, network: str) -> bool:
        if not (those := self._waiting.get(network)):
            return False
        self._end(next(iter(those)))
        return True

    def _end(self, connection: Connection) -> None:
        self.leave(connection)
        connection.give_way()


def network_of(address: str) -> str:
    """Return the network of an address: an IPv4 address itself, the first 64 bits of an IPv6 address."""
    try:
        number = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(number, IPv6Address):
        return str(number.ipv4_mapped or ip_network((number, SITE), strict=False))
    return str(number)


def allowed() -> int:
    """Return how many connections this process may hold, after asking the system for as many file descriptors as it needs."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + BEYOND + BURST + FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return CONNECTIONS
    return max(1, min(CONNECTIONS, soft - FILES - BEYOND))
