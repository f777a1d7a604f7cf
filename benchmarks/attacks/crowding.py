"""Attacks that take up what a server keeps for its visitors: rooms, codes, answers, trainings, calculations, keys.

They come from one address that is not that of the honest visitors (the header that a proxy on the server's machine writes says
so), and from as many browsers as they like: each cookie is an invented one.
"""

from __future__ import annotations

import asyncio
import json
import random
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from urllib.parse import urlsplit

from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from benchmarks.attendee import Attendee
from ui.rooms.codes import LETTERS

ADDRESS = "203.0.113.66"
AT_ONCE = 6  # visitors of one attack
PATIENCE = 20.0  # seconds for one answer
FAILED = (OSError, TimeoutError, WebSocketException)
OPEN, START = "Open a room", "Start"


def invented() -> dict[str, str]:
    """Return the headers of a further browser at the same address."""
    return {"X-Forwarded-For": ADDRESS, "Cookie": f"_streamlit_xsrf={generate_xsrf_token_string(secrets.token_bytes(16))}"}


class Intruder(Attendee):
    """A visitor with a cookie that nobody has given them, who presses buttons. messages: the sentences of toasts and alerts."""

    def __init__(self, url: str, page: str = "", **query: str) -> None:
        super().__init__(url, "", page, **query)
        self.headers = invented()
        self.buttons: dict[str, tuple[str, str]] = {}  # the widget and its fragment, by label
        self.messages: list[str] = []

    def go_there(self) -> None:
        """There is no room to go to."""

    def read(self, delta, arrival: float) -> None:
        super().read(delta, arrival)
        element = delta.new_element
        match element.WhichOneof("type"):
            case "button":
                self.buttons[element.button.label] = element.button.id, delta.fragment_id
            case "toast":
                self.messages.append(element.toast.body)
            case "alert":
                self.messages.append(element.alert.body)

    async def run(self, label: str = "") -> None:
        """Open the page, or press a button on it, until that run is over."""
        self.finished.clear()
        message = self.request()
        if self.page:
            message.rerun_script.page_name = self.page
        if label:
            button, message.rerun_script.fragment_id = self.buttons[label]
            state = message.rerun_script.widget_states.widgets.add()
            state.id, state.trigger_value = button, True
        await self.socket.send(message.SerializeToString())
        async with asyncio.timeout(PATIENCE):
            await self.finished.wait()


def in_time(seconds: float, step: Callable[[int], Awaitable[str]]) -> str:
    """Run the steps of several visitors at once until the time is over, and count each answer."""
    answers, numbers = Counter[str](), count()

    async def go_on() -> None:
        while time.monotonic() < until:
            try:
                answers[await step(next(numbers))] += 1
            except (*FAILED, KeyError) as error:
                answers[f"no answer ({type(error).__name__})"] += 1

    async def all_of_them() -> None:
        await asyncio.gather(*(go_on() for _ in range(AT_ONCE)))

    until = time.monotonic() + seconds
    asyncio.run(all_of_them())
    return "; ".join(f"{times} × {answer}" for answer, times in answers.most_common(4))


def rooms(url: str, seconds: float) -> str:
    """Open one room after another, and keep the pages of some of them open."""

    async def step(number: int) -> str:
        async with Intruder(url) as intruder:
            await intruder.run()
            await intruder.run(OPEN)
            if not intruder.messages:
                with suppress(TimeoutError):
                    await intruder.until(lambda: intruder.seat.get("role") == "leads", PATIENCE)
            if intruder.messages:
                return intruder.messages[-1]
            return "a room was opened" if intruder.seat.get("role") == "leads" else "no room"

    return in_time(seconds, step)


def codes(url: str, seconds: float) -> str:
    """Try codes of rooms on the line of a room, each with another cookie."""
    host = urlsplit(url).netloc

    async def step(number: int) -> str:
        code = "".join(random.choices(LETTERS, k=6))
        address = f"ws://{host}/rooms/{code}/line?who={number}"
        async with connect(address, origin=f"http://{host}", additional_headers=invented()) as line:
            message = json.loads(await asyncio.wait_for(line.recv(), PATIENCE))
        return str(message.get("gone", "a room was there")).replace(code, "…")

    return in_time(seconds, step)


def answers(url: str, seconds: float) -> str:
    """Ask nothing, and send answers and points to a room of one's own as fast as its line takes them."""

    sent = refused = 0

    async def flood() -> None:
        nonlocal sent, refused
        async with Intruder(url) as intruder:
            await intruder.run()
            await intruder.run(OPEN)
            await intruder.until(lambda: intruder.seat.get("who"), PATIENCE)
            intruder.room = intruder.seat["code"]
            await intruder.listen_to_room()
            intruder.hearing.cancel()
            async with asyncio.timeout(seconds):
                while True:
                    for _ in range(50):
                        await intruder.line.send(json.dumps({"answer": "x" * 3900, "name": "x" * 39}))
                        sent += 1
                    with suppress(TimeoutError):
                        while reply := await asyncio.wait_for(intruder.line.recv(), 0.05):
                            refused += '"wrong"' in reply

    with suppress(*FAILED):  # it does not hang up as politely as it should
        asyncio.run(flood())
    return f"{sent} answers went out, {refused} of them were heard and refused"


def trainings(url: str, seconds: float) -> str:
    """Start a training, and another one from another browser."""

    async def step(number: int) -> str:
        async with Intruder(url, "train") as intruder:
            await intruder.run()
            if START not in intruder.buttons:
                return "no button to start one"
            await intruder.run(START)
            return intruder.messages[-1] if intruder.messages else "a training was started"

    return in_time(seconds, step)


def calculations(url: str, seconds: float) -> str:
    """Ask for one long calculation after another, of another text each, and go without waiting for it."""

    async def step(number: int) -> str:
        text = (
            f"The {number} farmers of {secrets.token_hex(4)} gave the hungry dog a bone, and the dog ran into the garden with it"
        )
        async with Intruder(url, "space", space="Tokens", projection="t-SNE", level="expert", text=text) as intruder:
            await intruder.run()
            return intruder.messages[-1] if intruder.messages else "the page was drawn"

    return in_time(seconds, step)


def keys(url: str, seconds: float) -> str:
    """Open links with ten thousand keys of trained models each."""

    async def step(number: int) -> str:
        wrong = ",".join(f"{secrets.token_hex(4)}" for _ in range(10_000))
        async with Intruder(url, "", model="repeat, 400 steps", trained=wrong) as intruder:
            await intruder.run()
            return intruder.messages[-1] if intruder.messages else "the page was drawn"

    return in_time(seconds, step)


ATTACKS = {
    "rooms": rooms,
    "codes of rooms": codes,
    "answers": answers,
    "trainings": trainings,
    "calculations": calculations,
    "keys of trained models": keys,
}
