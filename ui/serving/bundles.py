"""Sends the messages of a run in bundles, from its thread to the event loop and on to the browser.

Streamlit wakes the event loop for each message of a run, and the loop takes one turn for each message that it sends. When the
teacher of a class of sixty moves, these are two and a half thousand messages at once.

Streamlit also ignores what a run handed on last if the next request comes before the loop has looked: the browser then never
hears that the run has ended, and keeps showing the page from before it. Here everything is looked at before a new run begins.

Gain: fewer turns of the loop for each answer, most of all in a full room; `benchmarks.replacements`, "bundles".
Needless when Streamlit sends all messages that wait for a browser in one turn. No upstream issue is known.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from streamlit import runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.session_manager import SessionClientDisconnectedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

MOST = 100  # messages that go at once; a client has room for 500 that wait

call_one_by_one = AppSession._call_soon_on_event_loop
tell_each_time = Runtime._enqueued_some_message
flush = AppSession.flush_browser_queue
begin_run = AppSession._create_scriptrunner


class Handed:
    """The calls that runs have passed to an event loop and that it has not made yet, in order."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._waiting: deque[Callable[[], None]] = deque()
        self._asked = False  # whether the loop is going to look

    def call(self, session: AppSession, do: Callable[[], None]) -> None:
        """Let the loop call a function soon, from any thread. The loop is woken only if no wake-up is pending."""
        if session._event_loop is not self.loop:
            return call_one_by_one(session, do)
        self._waiting.append(do)
        if not self._asked:
            self._asked = True
            call_one_by_one(session, self.do_all)

    def do_all(self) -> None:
        self._asked = False  # first: what is handed on from here on is done now, or asks again
        try:
            while self._waiting:
                self._waiting.popleft()()
        finally:
            if self._waiting:  # one went wrong, of which asyncio tells; the others are not to wait for the next one
                self.loop.call_soon(self.do_all)

    def begin_run(self, session: AppSession, request: RerunData) -> None:
        """Begin a run on a new thread, once the browser has been told of everything that the thread before handed on. Called on
        the event loop."""
        self.do_all()
        begin_run(session, request)


def tell_once(server: Runtime) -> None:
    """Let the server look for messages to send, unless it is going to anyway. Called from any thread."""
    if not server._get_async_objs().need_send_data.is_set():
        tell_each_time(server)


def send(session: AppSession) -> list[ForwardMsg]:
    """Send the messages that wait for a browser, and return the rest for Streamlit, which sends one message a turn: the last
    message, and those after the first that could not be sent."""
    waiting = flush(session)
    browser = runtime.get_instance()._session_mgr.get_active_session_info(session.id) if waiting else None
    if browser is None:
        return waiting
    for number, message in enumerate(waiting[:MOST]):
        if number == len(waiting) - 1:
            return waiting[number:]
        try:
            runtime.get_instance()._send_message(browser, message)
        except SessionClientDisconnectedError:
            return waiting[number:]
    return waiting[MOST:]


def hand_on(loop: asyncio.AbstractEventLoop) -> None:
    """Let Streamlit send in bundles, on the event loop of a server."""
    handed = Handed(loop)
    for kind, name, ours in (
        (AppSession, "_call_soon_on_event_loop", lambda session, do: handed.call(session, do)),
        (AppSession, "_create_scriptrunner", lambda session, request: handed.begin_run(session, request)),
        (AppSession, "flush_browser_queue", send),
        (Runtime, "_enqueued_some_message", tell_once),
    ):
        setattr(kind, name, ours)
