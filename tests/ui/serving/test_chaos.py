"""What goes wrong for one visitor, or for the machine, while others type: they are answered, and nothing of it is in red.

What happens to a browser whose server is killed or whose line is cut is in tests/browser/test_coming_back.py.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Awaitable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import ConnectionClosed

from benchmarks.crowd import texts, typing
from benchmarks.protocol import Visitor
from benchmarks.reading import drawn
from benchmarks.rounds import nothing, tracebacks
from models.catalog import WEIGHTS
from tests.serving import ROOT, Server, serve_by

OTHERS, EACH, EVERY = 3, 10, 0.25  # visitors who type meanwhile, their texts, and seconds between two
HERE = Path(__file__).parent
WEEK = 24 * 7  # hours
FOR_DEVELOPERS = ("debug_shutdown_runtime", "debug_disconnect_websocket", "clear_cache", "install_skills")


@pytest.fixture(scope="module")
def hours(tmp_path_factory) -> Path:
    """By how many hours the server's clock is off."""
    file = tmp_path_factory.mktemp("clock") / "hours"
    file.write_text("0")
    return file


@pytest.fixture(scope="module")
def server(hours) -> Iterator[Server]:
    command = [sys.executable, str(HERE / "rough.py"), str(hours), "run", str(ROOT / "app.py")]
    with serve_by(command, "--server.port={port}", "--server.headless=true") as running:
        yield running


def run(story: Awaitable) -> None:
    with ThreadPoolExecutor(1) as other:  # the thread of a worker that also drives browsers has an event loop already
        other.submit(asyncio.run, story).result()


async def answered(visitor: Visitor, text: str) -> None:
    async with asyncio.timeout(240):
        while text not in visitor.tally.took:
            await asyncio.sleep(0.02)


async def undisturbed(server: Server, trouble: Awaitable) -> None:
    """While there is trouble others type: the last text of each is answered, nothing is said in red, the log has no traceback."""
    before = tracebacks(server.log.read_text())
    async with AsyncExitStack() as stack:
        others = [await stack.enter_async_context(Visitor(server.url, drawn)) for _ in range(OTHERS)]
        await asyncio.gather(*(visitor.open() for visitor in others))
        await asyncio.gather(trouble, *(typing(item, number, EACH, EVERY, patience=60) for number, item in enumerate(others)))
        assert [texts(number, EACH)[-1] in item.tally.took for number, item in enumerate(others)] == [True] * OTHERS
        assert not [error for visitor in others for error in visitor.tally.errors]
    assert tracebacks(server.log.read_text()) == before, server.log.read_text()[-3000:]


# ---------------------------------------------------------------- folders


def cut_short(folder: Path) -> None:
    os.truncate(folder / "model.safetensors", 1000)


def no_json(folder: Path) -> None:
    (folder / "config.json").write_text('{"kind": "decoder", ')


def of_another_kind(folder: Path) -> None:
    shutil.copy(WEIGHTS / "filler" / "config.json", folder)


def a_folder_for_a_file(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").mkdir()


def nobody_can_read(folder: Path) -> None:
    """A file whose reading fails, whoever reads."""
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to("/proc/self/mem")


def a_pipe(folder: Path) -> None:
    """Who opens it waits for ever."""
    (folder / "config.json").unlink()
    os.mkfifo(folder / "config.json")


def gone(folder: Path) -> None:
    shutil.rmtree(folder)


DAMAGES = (cut_short, no_json, of_another_kind, a_folder_for_a_file, nobody_can_read, a_pipe, gone)


async def opens(server: Server, folder: Path) -> str:
    """What a visitor reads who asks for a folder, and types on."""
    notices: list[str] = []

    def read(element) -> str | None:
        if element.WhichOneof("type") == "alert" and "could not be opened" in element.alert.body:
            notices.append(element.alert.body)
        return drawn(element)

    async with Visitor(server.url, read, {"model": str(folder)}) as visitor, asyncio.timeout(240):
        await visitor.open()
        while not notices:
            visitor.finished.clear()
            await visitor.send()
            await visitor.finished.wait()
            await asyncio.sleep(0.2)
        await visitor.type("The page stands")
        await answered(visitor, "The page stands")
        assert not visitor.tally.errors
    return notices[0]


def test_a_damaged_folder_is_a_sentence_on_a_page_that_stands_and_others_notice_nothing(server, tmp_path):
    folders = [Path(shutil.copytree(WEIGHTS / "writer", tmp_path / damage.__name__)) for damage in DAMAGES]
    for damage, folder in zip(DAMAGES, folders, strict=True):
        damage(folder)
    sentences: list[str] = []

    async def ask() -> None:
        sentences.extend(await asyncio.gather(*(opens(server, folder) for folder in folders)))

    run(undisturbed(server, ask()))
    for sentence in sentences:
        assert str(tmp_path) not in sentence.replace("\\", "") and "went wrong" not in sentence and "Error" not in sentence, (
            sentence
        )
    print(*sentences, sep="\n")


# ---------------------------------------------------------------- the clock


def test_a_clock_that_jumps_disturbs_nobody(server, hours):
    """A week ahead, two back, and to the right time again: what waits, is bounded or ends goes by a clock that only goes on."""

    async def jump() -> None:
        for off in (WEEK, -WEEK, 0):
            hours.write_text(str(off))
            await asyncio.sleep(0.7)
            async with Visitor(server.url, nothing, {"level": "expert"}, page="attention") as late, asyncio.timeout(180):
                await late.send()
                await late.finished.wait()
                assert not late.tally.errors

    run(undisturbed(server, jump()))


def test_no_bound_is_carried_by_a_clock_that_can_be_set():
    """But for how long a teacher's key holds, which must mean the same after a restart: that clock is read when a server begins.
    The time of an answer is only shown."""
    offenders = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for folder in ("ui", "pages", "models", "analysis", "viz")
        for file in sorted((ROOT / folder).rglob("*.py"))
        for line in file.read_text("utf-8").splitlines()
        if any(clock in line for clock in ("time.time(", "datetime.now(", "utcnow(", "date.today("))
    ]
    allowed = re.compile(r"ui/rooms/store\.py: .*(self\.epoch = time\.time\(\) - clock\(\)|= Reply\(.*, time\.time\(\)\)$)")
    assert not [line for line in offenders if not allowed.match(line)]


# ---------------------------------------------------------------- a flood


def test_a_flood_of_one_who_never_reads_an_answer_leaves_the_others_answered(server):
    async def flood() -> None:
        async with Visitor(server.url, nothing) as visitor:
            await visitor.send()
            await asyncio.wait_for(visitor.finished.wait(), 60)
            visitor.listening.cancel()  # from now on nothing is read
            with suppress(ConnectionClosed):
                for number in range(3000):
                    await visitor.type(f"{number} " + "flood " * 50)
                    if number % 100 == 99:
                        await asyncio.sleep(0)
            visitor.socket.transport.abort()

    run(undisturbed(server, flood()))


def test_noise_on_a_line_ends_that_line_and_is_no_error_of_the_server(server):
    async def noise() -> None:
        for sent in (b"\xff" * 100, "text", b"\x08", os.urandom(1000), b"\0" * 10**6):
            async with Visitor(server.url, nothing) as visitor:
                await visitor.send()
                with suppress(ConnectionClosed):
                    await visitor.socket.send(sent)
                async with asyncio.timeout(120):
                    await visitor.socket.wait_closed()

    run(undisturbed(server, noise()))


def test_what_no_page_of_ours_asks_for_is_not_done(server):
    """Streamlit's messages for developers: to stop the server, to write files for other programs into the project's folder."""

    async def ask() -> None:
        async with Visitor(server.url, drawn) as visitor:
            await visitor.open()
            for number, name in enumerate(FOR_DEVELOPERS):
                message = BackMsg()
                if name in BackMsg.DESCRIPTOR.fields_by_name:
                    setattr(message, name, True)
                else:
                    getattr(message.backend_operation_request, name).SetInParent()
                await visitor.socket.send(message.SerializeToString())
                await visitor.type(f"The cat {number}")
                await answered(visitor, f"The cat {number}")

    run(undisturbed(server, ask()))


# ---------------------------------------------------------------- lines and servers that go


def test_a_line_that_a_proxy_cuts_or_a_phone_drops_leads_back_to_the_same_visit(server):
    async def story() -> None:
        async with Visitor(server.url, drawn, {"text": "The cat"}) as visitor:
            await visitor.open()
            visit = visitor.session
            for text in ("The cat sat", "The cat sat on the mat"):
                await visitor.type(text)
                visitor.socket.transport.abort()  # without a good-bye
                await asyncio.sleep(0.2)
                await visitor.come_back(text)
                await answered(visitor, text)
            assert visitor.session == visit and not visitor.tally.errors

    run(undisturbed(server, story()))
