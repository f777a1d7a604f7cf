"""A class follows its teacher: 60 join a room in ten seconds and go where the teacher goes, Headlight beside a bare app.

    python -m benchmarks.room [--followers 60] [--moves 4] [--idle 15] [--again] [--only Headlight]

All speak Streamlit's protocol, and beside it the room's line, from this process. The bare app is the one that echoes a text, with
a level and a second page, moved by the same line and strip. The table says what the server's processor did while nothing
happened; how long a text, a level and a page took until the last follower had them drawn; the same of the last of 20 letters that
the teacher typed; and the server's memory before the class came, at its most, and when all had gone; with `--again` also when a
second class has come and gone: what a server takes once is no leak. Who goes may come back for two minutes, which the bare app
fills; so it takes less than four, or less than eight. It ends with an error where anything was not as it should be.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import cycle, islice, pairwise

import psutil
from websockets.exceptions import WebSocketException

from benchmarks.attendee import Attendee
from benchmarks.reading import APPS, STORY
from benchmarks.rounds import STORED, held, tracebacks
from tests.serving import ROOT, Server, serve
from ui.rooms.route import cookie
from ui.rooms.store import Rooms

SECRET, CODE = "a secret of this benchmark", "CRWDAB"
WITHIN = 10.0  # seconds in which all join
AIM = 1.0  # seconds until the last one has a move, more than the bare app takes in the same run
LETTERS, IDLE = 2.0, 1.0  # the same of the last of the letters, and of the processor in a minute in which nothing happens
PATIENCE = 30.0  # seconds for which a move is waited for
TYPED, EVERY = 20, 0.12  # letters, and seconds from one to the next
REST = 1.5  # seconds after a move, in which what belongs to it is done
GIVEN_BACK = 2.0  # seconds after which the server has given back what was freed when somebody went
KEPT = 0.05  # of the memory at the start, that may be more when all have gone
KINDS = ("a text", "a level", "a page")


class Pupil(Attendee):
    """Somebody of the class: what stands on their page is told by `place`, as (page, level, text)."""

    level = levels = ""

    @property
    def place(self) -> tuple[str, str, str]:
        return self.script, self.level, self.text

    def read(self, delta, arrival: float) -> None:
        element = delta.new_element
        kind = element.WhichOneof("type")
        if kind == "markdown" and element.markdown.body.startswith("Level: "):
            self.level = element.markdown.body.split()[1]
        if kind == "button_group" and len(element.button_group.options) == 3 and "evel" in element.button_group.label:
            self.levels, self.names = element.button_group.id, [option.content for option in element.button_group.options]
        super().read(delta, arrival)

    def had_since(self, version: int) -> float | None:
        """When that version, or a later one, stood on the page."""
        return min((when for which, when in self.had.items() if which >= version), default=None)


class Teacher(Pupil):
    """Who leads, by the cookie of the browser that has opened the room."""

    def __init__(self, url: str) -> None:
        super().__init__(url, CODE)
        self.headers["Cookie"] = f"{cookie(CODE)}={Rooms(SECRET.encode(), 60).key(CODE)}"

    async def write(self, text: str) -> None:
        await self.type(text)
        self.text = text  # a browser is not sent what it has typed

    async def choose(self, level: str) -> None:
        message = self.request()
        group = message.rerun_script.widget_states.widgets.add()
        group.id = self.levels
        group.string_array_value.data.append(next(name for name in self.names if name.lower() == level))
        await self.socket.send(message.SerializeToString())

    async def turn_to(self, page: str) -> None:
        await self.visit(page, {"room": CODE})


@dataclass
class Lesson:
    """What a class came to on one server. moves: seconds until the last one had it, and the server's processor, by kind; wrong:
    what was not as it should be, as sentences."""

    moves: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    joining: tuple[float, float] = (0, 0)
    idle: float = 0
    typing: tuple[float, float, float] = (0, 0, 0)
    most: float = 0
    wrong: list[str] = field(default_factory=list)

    def median(self, kind: str) -> float:
        return statistics.median(took for took, _ in self.moves[kind])


def busy(process: psutil.Process) -> float:
    """Seconds of processor that a server has used."""
    return sum(process.cpu_times()[:2])


async def all_have(class_: list[Pupil], teacher: Teacher, version: int) -> bool:
    """Wait until everybody has a version drawn, and is where the teacher is; whether it came to that."""
    until = time.perf_counter() + PATIENCE
    while time.perf_counter() < until:
        if all(pupil.had_since(version) and pupil.place == teacher.place for pupil in class_):
            return True
        await asyncio.sleep(0.02)
    return False


async def join(pupil: Pupil, after: float) -> float:
    """Come into the room, after so many seconds; how long that took."""
    await asyncio.sleep(after)
    began = time.perf_counter()
    await pupil.join(PATIENCE)
    return time.perf_counter() - began


async def fill(url: str, size: int, process: psutil.Process, stack: AsyncExitStack, outcome: Lesson) -> list[Pupil]:
    """A class comes. Who could not join is not in it."""
    used, class_ = busy(process), []

    async def come(number: int) -> float:
        pupil = await stack.enter_async_context(Pupil(url, CODE))
        took = await join(pupil, WITHIN * number / size)
        class_.append(pupil)
        return took

    came = await asyncio.gather(*(come(number) for number in range(size)), return_exceptions=True)
    if failed := [result for result in came if isinstance(result, BaseException)]:
        if unknown := [error for error in failed if not isinstance(error, (OSError, TimeoutError, WebSocketException))]:
            raise unknown[0]
        outcome.wrong.append(f"{len(failed)} of {size} could not join: {failed[0]!r}.")
    outcome.joining = max((seconds for seconds in came if isinstance(seconds, float)), default=0), (busy(process) - used) / size
    return class_


async def move(
    class_: list[Pupil], teacher: Teacher, process: psutil.Process, kind: str, go: Callable[[], Awaitable[None]], outcome: Lesson
) -> float:
    """The teacher does something; how long it took until the last one had it, and in `outcome` what it cost."""
    before, used, began = teacher.news["version"], busy(process), time.perf_counter()
    await go()
    try:
        await teacher.until(lambda: teacher.news["version"] > before, PATIENCE)
        there = await all_have(class_, teacher, before + 1)
    except TimeoutError:
        there = False
    took = max((pupil.had_since(before + 1) or float("inf") for pupil in class_), default=float("inf")) - began
    if not there:
        short = sum(pupil.place != teacher.place for pupil in class_)
        outcome.wrong.append(f"After {kind}, {short} of {len(class_)} were not where the teacher was within {PATIENCE:.0f} s.")
    await asyncio.sleep(REST)
    if kind in outcome.moves:
        outcome.moves[kind].append((took, busy(process) - used))
    return took


async def letters(class_: list[Pupil], teacher: Teacher, process: psutil.Process, outcome: Lesson) -> None:
    """The teacher types; the last letter is the move that counts."""
    runs, used = sum(pupil.runs for pupil in class_), busy(process)
    text, began = teacher.text, time.perf_counter()
    for number in range(1, TYPED):
        await teacher.write(text + STORY[:number])
        await asyncio.sleep(max(0.0, began + EVERY * number - time.perf_counter()))
    await teacher.write(text + STORY[:TYPED])
    last = time.perf_counter()
    there = await all_have(class_, teacher, 0)
    took = time.perf_counter() - last
    if not there:
        outcome.wrong.append(f"Not all had the last of {TYPED} letters within {PATIENCE:.0f} s.")
    await asyncio.sleep(REST)
    outcome.typing = took, busy(process) - used, (sum(pupil.runs for pupil in class_) - runs) / max(1, len(class_))


async def lesson(server: Server, size: int, moves: int, idle: float) -> Lesson:
    """A room from its opening until all have left it."""
    outcome, process = Lesson(), psutil.Process(server.process.pid)
    async with AsyncExitStack() as stack:
        teacher = await stack.enter_async_context(Teacher(server.url))
        await teacher.join()
        await teacher.write("The cat")
        class_ = await fill(server.url, size, process, stack, outcome)
        await teacher.until(lambda: teacher.news.get("here") == len(class_), PATIENCE)
        await asyncio.sleep(REST)
        used = busy(process)
        await asyncio.sleep(idle)
        outcome.idle = 60 * (busy(process) - used) / idle if idle else 0
        words = iter(STORY.split())
        for _ in range(moves):
            await move(class_, teacher, process, KINDS[0], lambda: teacher.write(f"{teacher.text} {next(words)}"), outcome)
        for level in islice(cycle(("intermediate", "expert", "beginner")), moves):
            await move(class_, teacher, process, KINDS[1], lambda level=level: teacher.choose(level), outcome)
        for page in islice(cycle(("attention", "type")), moves):
            await move(class_, teacher, process, KINDS[2], lambda page=page: teacher.turn_to(page), outcome)
        await letters(class_, teacher, process, outcome)
        outcome.most = process.memory_info().rss / 1e6
        if teacher.news["follow"] != len(class_):
            outcome.wrong.append(f"Only {teacher.news['follow']} of {len(class_)} still follow.")
        if errors := [error for who in (teacher, *class_) for error in who.tally.errors]:
            outcome.wrong.append(f"Something was said in red {len(errors)} times: {errors[0]}.")
    if traced := tracebacks(server.log.read_text()):
        outcome.wrong.append(f"The log holds {traced} tracebacks.")
    return outcome


async def visit(url: str) -> None:
    """Somebody comes and goes: Streamlit lets go of who has gone when somebody does."""
    async with Teacher(url) as visitor:
        await visitor.join()
    await asyncio.sleep(GIVEN_BACK)


def row(what: str, lessons: dict[str, Lesson], describe: Callable[[Lesson], str]) -> None:
    print(f"| {what} | " + " | ".join(describe(outcome) for outcome in lessons.values()) + " |")


def show(size: int, moves: int, lessons: dict[str, Lesson]) -> None:
    print(f"\n| {size} followers | " + " | ".join(lessons) + " |\n|---|" + "---|" * len(lessons))
    joined = f"they join in {WITHIN:.0f} s: the longest wait, CPU for each"
    row(joined, lessons, lambda outcome: f"{outcome.joining[0]:.2f} s, {1000 * outcome.joining[1]:.0f} ms")
    row("nothing happens: CPU a minute", lessons, lambda outcome: f"{outcome.idle:.2f} s")
    for kind in KINDS:

        def describe(outcome: Lesson, kind: str = kind) -> str:
            worst, used = max(took for took, _ in outcome.moves[kind]), statistics.median(cpu for _, cpu in outcome.moves[kind])
            return f"{outcome.median(kind):.2f} s ({worst:.2f}), {used:.2f} s"

        row(f"{kind} until the last has it: median (worst) of {moves}, CPU", lessons, describe)
    what = f"{TYPED} letters in {EVERY * TYPED:.1f} s: until the last has the last, CPU, runs of each"
    row(what, lessons, lambda outcome: f"{outcome.typing[0]:.2f} s, {outcome.typing[1]:.1f} s, {outcome.typing[2]:.1f}")


def in_class(server: Server, arguments: argparse.Namespace, first: Callable[[], None] = lambda: None) -> Lesson:
    """A class, after a lesson for one, with which comes what comes once; `first` is called in between."""
    asyncio.run(lesson(server, 1, 2, 0))
    first()
    return asyncio.run(lesson(server, arguments.followers, arguments.moves, arguments.idle))


def compare(arguments: argparse.Namespace) -> list[str]:
    """Both apps, and what is printed of them. What was not as it should be, as sentences."""
    before: dict[str, float] = {}
    after: list[dict[str, float]] = []
    with serve(ROOT / "app.py") as server:
        process = psutil.Process(server.process.pid)

        def look() -> None:
            time.sleep(GIVEN_BACK)
            before.update(held(server), memory=process.memory_info().rss / 1e6)

        def wait_for_memory(gone: float) -> None:
            time.sleep(max(0.0, gone + STORED - time.monotonic()))
            asyncio.run(visit(server.url))
            after.append({**held(server), "memory": process.memory_info().rss / 1e6})

        lessons = {"Headlight": in_class(server, arguments, look)}
        gone = time.monotonic()
        if not arguments.only:
            with serve(APPS / "room.py") as bare:
                lessons["bare echo"] = in_class(bare, arguments)
        show(arguments.followers, arguments.moves, lessons)
        wait_for_memory(gone)
        if arguments.again:
            lessons["Headlight again"] = asyncio.run(lesson(server, arguments.followers, arguments.moves, arguments.idle))
            wait_for_memory(time.monotonic())
    left = " and then ".join(f"{state['memory']:.0f}" for state in after)
    print(f"\nMemory: {before['memory']:.0f} MB before, {lessons['Headlight'].most:.0f} with the class, {left} after.", end=" ")
    print(f"Sessions: {before['sessions']:.0f} before, {after[-1]['sessions']:.0f} after.")
    wrong = [f"{name}: {sentence}" for name, outcome in lessons.items() for sentence in outcome.wrong]
    ours, bare = lessons["Headlight"], lessons.get("bare echo")
    bounded = [(f"The last has {kind}", AIM, lambda outcome, kind=kind: outcome.median(kind)) for kind in KINDS]
    bounded.append(("The last has the last letter", LETTERS, lambda outcome: outcome.typing[0]))
    if ours.idle - (bare.idle if bare else 0) > IDLE:
        wrong.append(f"A minute in which nothing happens takes {ours.idle:.1f} s of processor.")
    for what, most, of in bounded:
        if of(ours) - (of(bare) if bare else 0) > most:
            wrong.append(f"{what} more than {most:.0f} s {'later than in the bare app' if bare else 'later'}.")
    for earlier, later in pairwise([before, *after]):
        if later["memory"] > earlier["memory"] * (1 + KEPT):
            wrong.append(f"More than {KEPT:.0%} of memory is kept: {earlier['memory']:.0f} MB became {later['memory']:.0f}.")
    if after[-1]["sessions"] > before["sessions"]:
        wrong.append("Sessions are left.")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--followers", type=int, default=60)
    parser.add_argument("--moves", type=int, default=4, help="of each kind")
    parser.add_argument("--idle", type=float, default=15, help="seconds in which nothing happens")
    parser.add_argument("--again", action="store_true", help="a second class, for what is left of both")
    parser.add_argument("--only", choices=["Headlight"], help="without the bare app")
    os.environ["HEADLIGHT_ROOM_SECRET"] = SECRET
    wrong = compare(parser.parse_args())
    print(
        "\n".join(wrong)
        or "Everybody was where the teacher was each time, less than a second after the bare app's, and memory is back."
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
