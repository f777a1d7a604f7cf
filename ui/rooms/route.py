"""The line between a browser in a room and the server: it sends news and receives answers."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from starlette.responses import RedirectResponse, Response

from ui import state
from ui.memory import addresses, trainings
from ui.menu import TITLES
from ui.rooms.home import MONTH, home
from ui.rooms.store import DAY, ENDED, HIDDEN, NAMED, WORDS, GuessError, Person, Room, RoomError, rooms
from ui.serving.flood import Bucket

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection, Request
    from starlette.websockets import WebSocket

GAP, BEAT = 0.1, 15.0  # seconds between two messages to a browser at least, and between signs of life
HEARD, AT_ONCE = 20.0, 60.0  # messages a second from a browser, and of them at once: who points sends eight; what is more waits
LARGEST = 4_000  # characters of a message from a browser
FARTHEST = 10**6  # position of a token
LATE = 1.0  # seconds before the refusal of those who have guessed too many codes
LINES = 4  # that a tab may have open: an old one may not know yet that it is over


def cookie(code: str) -> str:
    """Return the name of the cookie that makes a browser a room's leader."""
    return f"headlight-room-{code}"


def query_value(connection: HTTPConnection, name: str) -> str:
    """Return the value of a name in the address."""
    return dict(parse_qsl(connection.url.query)).get(name, "")


def news(room: Room, person: Person) -> dict[str, Any]:
    """Return the news for a browser. Counts of people are only for the leader."""
    message: dict[str, Any] = {"version": room.version, "fixed": room.fixed_at, "led": room.led}
    if question := room.question:
        counts = question.counts()[:WORDS] if person.leads or question.counts_visible else None
        right = question.counted_right() if question.right_visible else ""
        message["question"] = {
            "number": len(room.questions),
            "words": question.words,
            "kind": question.kind,
            "choices": question.choices,
            "answers": len(question.answers),
            "counts": counts,
            "model": question.model if counts is not None and question.model_visible else "",
            "right": right,
            "right_count": dict(question.counts()).get(right, 0) if right and counts is not None else None,
            "mine": question.answers[person.voter].answer if person.voter in question.answers else "",
            "shown": question.counts_visible,
        }
    if person.leads:
        present = room.here()
        message |= {
            "here": len(present),
            "follow": sum(classmate.follows for classmate in present),
            "places": room.places()[:WORDS],
        }
        message["mirrors"] = room.moved_by_another(person)
        message["held"] = room.fixed
    else:
        message |= {"place": room.place, "pointed": room.pointed, "opened": room.opened}
    return message


async def lead(request: Request) -> Response:
    """Take the leader's key, from a link for another device or from the browser's own request, and put it into a cookie: an
    address is on the projector for all to read."""
    code = request.path_params["code"].upper()
    key = (await request.body()).decode("ascii", "replace") if request.method == "POST" else query_value(request, "key")
    if not rooms.leads(code, key):
        return Response("This link leads no room. It holds for a day.\n", 403, media_type="text/plain")
    if request.method == "POST":
        answer: Response = Response(status_code=204)
    else:
        answer = RedirectResponse(f"../../room?room={code}", 303)
    answer.set_cookie(cookie(code), key, DAY, httponly=True, samesite="lax", secure=is_secure(request))
    return answer


async def there(request: Request) -> Response:
    """Send the browser's next requests to the process that has this room, if there are several."""
    answer = Response(status_code=204)
    if value := home.cookie(request.path_params["code"].upper()):
        answer.set_cookie(home.name, value, MONTH, httponly=True, samesite="lax", secure=is_secure(request))
    return answer


def is_secure(request: Request) -> bool:
    return request.url.scheme == "https" or request.headers.get("X-Forwarded-Proto") == "https"


async def line(socket: WebSocket) -> None:
    """Serve a browser's line for as long as its page is open."""
    code, who = socket.path_params["code"], query_value(socket, "who")
    await socket.accept()
    try:
        network = "" if was_in(socket) or not socket.client else addresses.network(socket.client.host)
        room, _ = rooms.find(code, network=network, browser=trainings.unmask(socket.cookies.get("_streamlit_xsrf", "")))
    except RoomError as error:
        if isinstance(error, GuessError):
            await asyncio.sleep(LATE)  # answered at once, whoever goes on guessing would take the time of all others
        await socket.send_json({"gone": str(error), "again": was_in(socket)})
        return await socket.close()
    person = room.people.get(who)
    if person is None or person.lines >= LINES:  # of the time before a restart: the page asks for a seat again
        await socket.send_json({"seat": False})
        return await socket.close()
    bell, loop = asyncio.Event(), asyncio.get_running_loop()

    def call() -> None:
        with suppress(RuntimeError):  # the server stops
            loop.call_soon_threadsafe(bell.set)

    room.listeners[call] = person.leads
    person.lines += 1
    room.tell(leading=not person.leads)
    speaking = asyncio.create_task(speak(socket, room, person, bell))
    speaking.add_done_callback(lambda task: task.cancelled() or task.exception())  # else it is logged that they hung up
    try:
        await hear(socket, room, who)
    finally:
        speaking.cancel()
        room.listeners.pop(call, None)
        person.lines -= 1
        person.seen = room.clock()
        if person.leads:
            room.seen = room.clock()
        room.tell(leading=not person.leads)
        rooms.tidy()


def was_in(socket: WebSocket) -> bool:
    return rooms.was_in(socket.path_params["code"], query_value(socket, "ticket"))


async def speak(socket: WebSocket, room: Room, person: Person, bell: asyncio.Event) -> None:
    """Send news, fast changes together, and signs that the line is alive."""
    before = None
    while not room.ended:
        now = news(room, person)
        await socket.send_json(now if now != before else None)
        before = now
        await asyncio.sleep(GAP)
        with suppress(TimeoutError):
            await asyncio.wait_for(bell.wait(), BEAT)
        bell.clear()
        if rooms.is_over(room):
            rooms.close(room)
    await socket.send_json({"gone": ENDED.format(code=room.code), "again": False})
    await socket.close()


async def hear(socket: WebSocket, room: Room, who: str) -> None:
    """Handle the browser's messages until it hangs up."""
    bucket = Bucket(HEARD, AT_ONCE)
    while (message := await socket.receive())["type"] == "websocket.receive":
        if wait := bucket.take():
            await asyncio.sleep(wait)
        text = message.get("text") or ""
        try:
            request = json.loads(text) if len(text) <= LARGEST else None
        except (ValueError, RecursionError):
            request = None
        if isinstance(request, dict) and "held" in request:
            room.fix_again(who, readable(request["held"]))
            continue
        if isinstance(request, dict) and "point" in request:
            point(room, who, request["point"])
            continue
        if isinstance(request, dict) and "open" in request:
            open_part(room, who, request["open"])
            continue
        if isinstance(request, dict) and type(version := request.get("shown")) is int:
            room.note_shown(who, version)
            continue
        if not isinstance(request, dict) or not isinstance(request.get("answer"), str | int | float):
            await socket.send_json({"wrong": "This answer is too long."})
            continue
        try:
            await socket.send_json({"mine": room.answer(who, request["answer"], request.get("name", ""))})
        except RoomError as error:
            await socket.send_json({"wrong": str(error)})


def point(room: Room, who: str, at: Any) -> None:
    """Take the token at which a browser points; ignore anything else."""
    match at:
        case [str(link), int(position)] if len(link) <= NAMED and -1 <= position <= FARTHEST and type(position) is int:
            room.point(who, link, position)


def open_part(room: Room, who: str, part: Any) -> None:
    """Note which folded part of the page a browser has opened or closed; ignore anything else."""
    match part:
        case [str(name), bool(is_open)] if len(name) <= NAMED:
            room.open_part(who, name, is_open)


def readable(saved: Any) -> dict[str, Any]:
    """Return the valid part of the fixed choices that a browser has saved (a level, a model, hidden pages); ignore the rest."""
    if not isinstance(saved, dict):
        return {}
    level, model, hidden = (saved.get(name) for name in (state.LEVEL.name, state.MODEL.name, HIDDEN))
    fixed: dict[str, Any] = {}
    if level in state.LEVELS:
        fixed[state.LEVEL.name] = level
    if isinstance(model, str) and model:
        fixed[state.MODEL.name] = model
    if isinstance(hidden, list) and (pages := [name for name in TITLES if name in hidden]):
        fixed[HIDDEN] = pages
    return fixed
