"""Turns of page runs: runs of whole pages, and those that a button requests, take turns within a network while other networks are
active.

Such a run costs several times as much as a key press, and a program can request one after another. While another network is
active, a network has one such run at a time; and once its runs have taken more time than its open pages justify, and more than
those of all other networks, it pauses after each. So a key press of another visitor competes with one such run at most, and
mostly with none. A network that has the server to itself never waits.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from ui.memory import addresses
from ui.serving import waiting_bytes
from ui.serving.early_requests import run_in

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from streamlit.proto.ClientState_pb2 import ClientState

ACTIVE = 2.0  # seconds after its last request for a run for which a network counts as active
LONGEST = 0.5  # seconds that a run may keep its turn: one that waits for a model must not hold up its network
RECENT = 60.0  # seconds for which page runs are counted
FREE, FREE_FOR_A_PAGE = 1.0, 0.2  # seconds of page runs of a network in that time without a pause, and more for each open page
PAUSE = 3.0  # times as long as the run took
AHEAD = 20  # messages of a page that are read while its run waits: among them the one that says that it has left
AHEAD_BYTES = 4_000_000  # of them: no more is read once they are as long as the longest message
SHORT = 100  # bytes: the message that ends a run is shorter
PAGE_OVER = {ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR}
PART_OVER = PAGE_OVER | {ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY}


class Network:
    """One network's open pages, its current and waiting page runs, and the times of the latest ones."""

    def __init__(self) -> None:
        self.pages = self.running = 0
        self.last_request = -math.inf  # the clock may have begun just now
        self.waiting: deque[asyncio.Future[None]] = deque()
        self.runs: deque[tuple[float, float]] = deque()  # when each ended, and how many seconds it took

    def note(self, seconds: float) -> None:
        """Note a page run that ends now."""
        self.forget_old_runs()
        self.runs.append((time.monotonic(), seconds))

    def recent_seconds(self) -> float:
        """Return how many seconds the page runs of the last minute took."""
        self.forget_old_runs()
        return sum(seconds for _, seconds in self.runs)

    def forget_old_runs(self) -> None:
        """Forget the page runs before the last minute."""
        since = time.monotonic() - RECENT
        while self.runs and self.runs[0][0] < since:
            self.runs.popleft()

    def is_forgotten(self) -> bool:
        """Return whether the network has no open page, no current run and no recent one."""
        return not (self.pages or self.running or self.last_request > time.monotonic() - RECENT)


class Networks:
    """All networks that have, or recently had, open pages, by name."""

    def __init__(self) -> None:
        self._networks: dict[str, Network] = {}

    @contextmanager
    def page_of(self, name: str) -> Iterator[Network]:
        """Count a page of a network for as long as it is open, and yield the network."""
        self._networks = {other: network for other, network in self._networks.items() if not network.is_forgotten()}
        network = self._networks.setdefault(name, Network())
        network.pages += 1
        try:
            yield network
        finally:
            network.pages -= 1

    def others_are_active(self, network: Network) -> bool:
        """Return whether another network has asked for a run within the last `ACTIVE` seconds."""
        since = time.monotonic() - ACTIVE
        return any(other.last_request > since for other in self._networks.values() if other is not network)

    def has_had_much(self, network: Network) -> bool:
        """Return whether a network's recent page runs have taken more time than its open pages justify, and more than those of
        all others together: in a full room every run takes long."""
        mine = network.recent_seconds()
        if mine <= FREE + FREE_FOR_A_PAGE * network.pages:
            return False
        return mine > sum(other.recent_seconds() for other in self._networks.values() if other is not network)

    def wait(self, network: Network) -> asyncio.Future[None]:
        """Return a future that is done when it is the turn of a page run that is asked for now."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        network.waiting.append(place)
        self._go_on(network)
        return place

    def leave(self, network: Network) -> None:
        """End a turn of a network."""
        network.running -= 1
        self._go_on(network)

    def _go_on(self, network: Network) -> None:
        alone = not self.others_are_active(network)
        while network.waiting and (alone or not network.running):
            place = network.waiting.popleft()
            if not place.done():  # it is cancelled where a browser has left
                place.set_result(None)
                network.running += 1


class Turn:
    """One page run's turn. It ends with the run, or after `LONGEST` seconds, as the run of a browser that has left goes on."""

    def __init__(self, networks: Networks, network: Network) -> None:
        self._networks, self._network, self._begun = networks, network, time.monotonic()
        self.is_over = False
        self._timer = asyncio.get_running_loop().call_later(LONGEST, self.end)

    def end(self) -> None:
        """Let the next page run of the network begin, after a pause if the network has used much time and others wait."""
        if self.is_over:
            return
        self.is_over = True
        self._timer.cancel()
        seconds = time.monotonic() - self._begun
        self._network.note(seconds)
        pauses = self._networks.others_are_active(self._network) and self._networks.has_had_much(self._network)
        asyncio.get_running_loop().call_later(PAUSE * seconds if pauses else 0.0, self._networks.leave, self._network)


class PageTurns:
    """ASGI middleware that holds back a page's request for a run of the whole page until it is its network's turn."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.networks = app, Networks()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket" or not scope["path"].endswith("/_stcore/stream"):
            return await self.app(scope, receive, send)
        with self.networks.page_of(addresses.network((scope.get("client") or ("",))[0])) as network:
            page = PageLine(self.networks, network, receive, send)
            try:
                await self.app(scope, page.receive, page.send)
            finally:
                page.end()


class PageLine:
    """The messages between one page and the server."""

    def __init__(self, networks: Networks, network: Network, receive: Receive, send: Send) -> None:
        self._networks, self._network, self._receive, self._send = networks, network, receive, send
        self._turn: Turn | None = None
        self._over = PAGE_OVER  # what ends the turn
        self._coming: asyncio.Future[Message] | None = None
        self._ahead: deque[Message] = deque()  # what the browser has sent while a request waited

    async def receive(self) -> Message:
        """Return the next message for the server; a request for a run of a whole page comes when it is its turn."""
        message = await self._come()
        if (run := run_in(message)) is None:
            return message
        self._network.last_request = time.monotonic()
        if not is_long(run) or (self._turn and not self._turn.is_over):
            return message
        self._over = PART_OVER if run.fragment_id else PAGE_OVER
        return message if await self._has_turn(message) else await self._come()

    async def _has_turn(self, request: Message) -> bool:
        """Wait for a turn; return False where the browser leaves before it comes, or all lines together hold too much, and this
        one most."""
        place, is_taken = self._networks.wait(self._network), False
        try:
            while not place.done() and len(self._ahead) < AHEAD and (ahead := size(self._ahead)) < AHEAD_BYTES:
                waiting_bytes.of_all.note(self, size([request]) + ahead, place.cancel)
                if place.done():
                    break
                self._coming = self._coming or asyncio.ensure_future(self._receive())
                either: set[asyncio.Future[Any]] = {place, self._coming}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if self._coming.done():
                    message, self._coming = self._coming.result(), None
                    self._ahead.append(message)
                    if message["type"] == "websocket.disconnect":
                        self._ahead = deque([message])
                        return False
            waiting_bytes.of_all.note(self, size([request, *self._ahead]), place.cancel)
            await asyncio.wait([place])
            if place.cancelled():
                self._ahead = deque([{"type": "websocket.disconnect", "code": 1013}])
                return False
            self._turn, is_taken = Turn(self._networks, self._network), True
            return True
        finally:
            waiting_bytes.of_all.forget(self)
            # The turn may have come at the moment at which the browser left.
            if not is_taken and not place.cancel() and not place.cancelled():
                self._networks.leave(self._network)

    async def _come(self) -> Message:
        if self._ahead:
            return self._ahead.popleft()
        coming, self._coming = self._coming, None
        return await (coming or self._receive())

    async def send(self, message: Message) -> None:
        await self._send(message)
        if self._turn and status_in(message.get("bytes") or b"") in self._over:
            self._turn.end()
            self._turn = None

    def end(self) -> None:
        """Stop waiting for the browser, whose connection has ended."""
        if self._coming:
            self._coming.cancel()


def size(messages: Iterable[Message]) -> int:
    """Return how many bytes the messages have."""
    return sum(len(message.get("bytes") or b"") for message in messages)


def is_long(run: ClientState) -> bool:
    """Return whether a run is one of a whole page, or one that a button asks for."""
    return not run.fragment_id or any(widget.trigger_value for widget in run.widget_states.widgets)


def status_in(sent: bytes) -> int | None:
    """Return how a run has ended, if a message of the server reports that; None for any other message."""
    if len(sent) > SHORT:
        return None
    try:
        message = ForwardMsg.FromString(sent)
    except DecodeError:
        return None
    return message.script_finished if message.WhichOneof("type") == "script_finished" else None
