"""A visitor's line: it takes the texts that a browser sends, and answers the newest."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from starlette.websockets import WebSocketDisconnect
from threadpoolctl import threadpool_limits

from models.errors import Cancelled
from ui.live import answers
from ui.memory import limits, visitors
from ui.serving.flood import AT_ONCE, Bucket

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.websockets import WebSocket

    from ui.live.visits import Visit

LEFT = 4408  # close code: the visitor is gone, or says nothing
RATE = 60.0  # messages a second that are taken where nothing is bounded: a key that is held sends thirty
BEAT = 15.0  # seconds between two looks at whether the visitor is still there
SILENT = 1800.0  # seconds without a message after which a line ends; the next key opens another one
THREADS = 32  # most wait: what waits for the same model is read in one pass, and turns bound what works at a time

_composing = ThreadPoolExecutor(THREADS, thread_name_prefix="line")
threadpool_limits(1, "blas")  # on small arrays numpy's own threads mostly wait for each other, as in `ui.memory.jobs`


class Line:
    """An open line of a visitor. It takes texts as fast as they come, and answers the newest of those that wait."""

    def __init__(self, socket: WebSocket, visit: Visit, answer: Callable[[str, Visit], bytes | str] = answers.answer) -> None:
        self.socket, self.visit, self.answer = socket, visit, answer
        self.newest: str | None = None
        self.is_over = False
        self.heard = time.monotonic()
        self.bell = asyncio.Event()

    async def serve(self) -> None:
        """Answer until the browser hangs up, or its visitor is gone."""
        self.visit.lines += 1
        hearing = asyncio.create_task(self.hear())
        try:
            await self.speak()
        finally:
            self.visit.lines -= 1
            hearing.cancel()

    async def hear(self) -> None:
        """Take what the browser sends; what comes too fast waits."""
        rate = min(RATE, limits.most(limits.REQUESTS))
        bucket = Bucket(max(1.0, rate), max(1.0, AT_ONCE * rate))
        try:
            while (message := await self.socket.receive())["type"] == "websocket.receive":
                if wait := bucket.take():
                    await asyncio.sleep(wait)
                self.newest, self.heard = message.get("text") or "", time.monotonic()
                self.visit.newest = self.newest
                self.bell.set()
        except (WebSocketDisconnect, RuntimeError):  # it is closed already
            pass
        finally:
            self.is_over = True
            self.bell.set()

    async def speak(self) -> None:
        """Answer the newest text, one at a time, on a thread of those that compose."""
        loop = asyncio.get_running_loop()
        while not self.is_over:
            message = await self.next_message()
            if not visitors.is_here(self.visit.session) or self.is_silent():
                return await self.socket.close(LEFT)
            if message is None:
                continue
            try:
                reply = await loop.run_in_executor(_composing, self.answer, message, self.visit)
            except Cancelled:
                return await self.socket.close(LEFT)
            await (self.socket.send_bytes(reply) if isinstance(reply, bytes) else self.socket.send_text(reply))

    async def next_message(self) -> str | None:
        """Return the newest message when there is one; None after a while without."""
        try:
            async with asyncio.timeout(BEAT):
                await self.bell.wait()
        except TimeoutError:
            return None
        self.bell.clear()
        message, self.newest = self.newest, None
        return None if self.is_over else message

    def is_silent(self) -> bool:
        return time.monotonic() - self.heard > SILENT
