"""Model folders that ask for more time and memory than there is, opened by a link as a visitor does it.

Each attack writes a folder, opens it, types into it where that matters, and gives in one line what the server answered.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.protocol import Visitor
from benchmarks.reading import drawn
from tests.models.networks import network, tokenizer

SAY = "{{ messages[0]['content'] }}"
LOOPS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}" + SAY
DOUBLED = "{% set ns = namespace(x='ab') %}{% for a in range(31) %}{% set ns.x = ns.x + ns.x %}{% endfor %}" + SAY
REPEATS = r"(?:[a-c]|[a-c]{2})*[xy]{2}"  # found out when the folder is opened
HIDDEN = r"№(?:[q-s]|[q-s]{2})*[xy]{2}"  # slow only for a run of letters behind a sign
SLOW_TEXT = ("№" + "r" * 30 + "!") * 600  # 18 s of one core, where nobody stops it
EXPERTS = {"model_type": "switch_transformers", "num_experts": 10**6}
LONGER = {"type": "Replace", "pattern": {"String": "e"}, "content": "e" * 9_000}
MOST_SHOWN = 160  # characters of an answer
FIRST = 60.0  # seconds at most, in which a server opens its first folder
CROWD = 12  # visitors who type at once and leave

Change = Callable[[Path], None]


class Guest(Visitor):
    """A visitor who remembers all that the page says in a box of its own, whatever its colour. alerts: the newest last."""

    def __init__(self, url: str, folder: Path, page: str = "") -> None:
        super().__init__(url, drawn, {"model": str(folder), "level": "intermediate"}, page)
        self.alerts: list[str] = []

    def read(self, delta, arrival: float) -> None:
        super().read(delta, arrival)
        if delta.new_element.WhichOneof("type") == "alert":
            self.alerts.append(" ".join(delta.new_element.alert.body.split()))

    @property
    def answer(self) -> str:
        refusals = [alert for alert in self.alerts if "is loading" not in alert]
        if refusals:
            return refusals[-1][:MOST_SHOWN]
        return "it was drawn" if self.drawn.is_set() else "no answer within the time"


def write_folder(folder: Path, change: Change) -> Path:
    """A small sound model of the Hub's format, changed."""
    network("Llama, grouped-query").save_pretrained(folder)
    tokenizer("decoder").save_pretrained(folder)
    change(folder)
    return folder


def edit(name: str, **values: Any) -> Change:
    """Sets values in one of the JSON files of a folder."""

    def change(folder: Path) -> None:
        file = folder / name
        content = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps(content | values), encoding="utf-8")

    return change


def split_by(pattern: str) -> Change:
    step = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return edit("tokenizer.json", pre_tokenizer=step)


def replace_config(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps(EXPERTS), encoding="utf-8")


def written_template(template: str) -> Change:
    return lambda folder: (folder / "chat_template.jinja").write_text(template, encoding="utf-8") and None


async def visit(url: str, folder: Path, seconds: float, page: str = "", texts: Sequence[str] = ()) -> str:
    """Open the folder, type each text when the one before has had its time, and stay for so many seconds in all."""
    async with Guest(url, folder, page) as guest:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while page and not guest.answer.startswith("The chat"):  # a page with other views than tokens
                    guest.finished.clear()
                    await guest.send()
                    await guest.finished.wait()
                    await asyncio.sleep(0.3)
                if not page:
                    await guest.open(seconds)
                for text in texts:
                    guest.finished.clear()
                    await guest.type(text)
                    await guest.finished.wait()
        return guest.answer


def attack(change: Change, page: str = "", texts: Sequence[str] = ()) -> Callable[[str, float], str]:
    """The attack that opens a folder with that change."""

    def run(url: str, seconds: float) -> str:
        with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
            return asyncio.run(visit(url, write_folder(Path(folder), change), seconds, page, texts))

    return run


def prepare(url: str) -> None:
    """Open a sound folder: the first one makes a server import a library and start the process in which models are tried."""
    attack(lambda folder: None)(url, FIRST)


def crowd(url: str, seconds: float) -> str:
    """Many visitors type texts that a tokenizer is slow for and leave; another visitor then opens the writer."""

    async def come_and_go(folder: Path) -> str:
        async def type_and_leave(number: int) -> None:
            async with Guest(url, folder) as guest:
                with suppress(TimeoutError):
                    await guest.open(seconds / 3)
                    await guest.type(SLOW_TEXT + str(number))

        await asyncio.gather(*map(type_and_leave, range(CROWD)))
        async with Visitor(url, drawn) as late:
            begun = asyncio.get_running_loop().time()
            try:
                await late.open(seconds)
            except TimeoutError:
                return "a visitor who came after them was not answered"
            return f"a visitor who came after them was answered in {asyncio.get_running_loop().time() - begun:.1f} s"

    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        return asyncio.run(come_and_go(write_folder(Path(folder), split_by(HIDDEN))))


ATTACKS: dict[str, Callable[[str, float], str]] = {
    "chat template: nested loops": attack(written_template(LOOPS), "generate"),
    "chat template: a doubled string": attack(written_template(DOUBLED), "generate"),
    "tokenizer: nested repeats": attack(split_by(REPEATS)),
    "tokenizer: nested repeats behind a sign": attack(split_by(HIDDEN), texts=[SLOW_TEXT + str(number) for number in range(5)]),
    "tokenizer: a letter becomes thousands": attack(edit("tokenizer.json", normalizer=LONGER), texts=["e" * 50_000]),
    "tokenizer: a crowd that leaves": crowd,
    "config.json: a million experts": attack(replace_config),
}
