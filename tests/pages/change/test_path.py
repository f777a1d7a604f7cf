"""The way of a click on a head of page "Change" to the function that computes softmax attention."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

import models
from models.attention import kernel
from models.edits import Edit
from pages.change import switching
from pages.change.settings import Settings
from tests.pages.change.test_change import TEXT, WORDS, session
from tests.pages.opening import open_link
from tests.serving import ROOT
from ui.look import Look

MOST = 14  # files: a longer way is hard to follow
OURS = ("pages", "ui", "analysis", "models")
START = "pages/change/page.py"
SECTION = re.compile(r"\n## From a click on a head to the attention function\n(.*?)\n## ", re.DOTALL)


class Way:
    """The files that a change passes through, from a click until attention is computed with it.

    That is a file with a function that is given the change or returns it, as text or as an edit, by itself or in a list, a tuple
    or a mapping; and a file with a function that is running at that moment, from the page on.
    """

    def __init__(self, change: str):
        self.change, self.files, self.arrived = change, set[str](), False
        self._local = threading.local()  # before: the files that ran in the thread which handed on the work of this one

    def follow(self, frame: FrameType, event: str, value: Any) -> None:
        """Note a call or a return: a function for `sys.setprofile`."""
        if self.arrived or event not in ("call", "return") or not (file := file_of(frame)):
            return
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        values = [value] if event == "return" else [frame.f_locals.get(name) for name in names]
        if any(map(self.carries, values)):
            self.files.add(file)

    def carries(self, value: Any) -> bool:
        if isinstance(value, str):
            return self.change in value.split(",")
        if isinstance(value, Mapping):
            return any(map(self.carries, value.values()))
        return isinstance(value, Edit) or (isinstance(value, list | tuple) and any(map(self.carries, value)))

    def running(self, frame: FrameType | None) -> list[str]:
        """Return the files of the functions that are running, the outermost first."""
        files = []
        while frame:
            files.append(file_of(frame))
            frame = frame.f_back
        return [*getattr(self._local, "before", ()), *filter(None, reversed(files))]

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Follow the change in this thread, in those that begin, and in those that models run on, until it arrives."""
        fused, submit = kernel.fused, ThreadPoolExecutor.submit

        def compute(*arguments: Any, **options: Any) -> Any:
            record, files = kernel.active(), self.running(sys._getframe(1))
            if not self.arrived and record is not None and record.plan is not None and START in files:
                self.arrived = True
                drawn = len(files) - 1 - files[::-1].index(START)  # after the frame of all pages, which calls the page
                self.files |= set(files[drawn:])
            return fused(*arguments, **options)

        def hand_on(pool: ThreadPoolExecutor, work: Callable[..., Any], *arguments: Any, **options: Any) -> Future:
            before = self.running(sys._getframe(1))

            def run(*arguments: Any, **options: Any) -> Any:
                self._local.before = before
                sys.setprofile(self.follow)
                try:
                    return work(*arguments, **options)
                finally:
                    sys.setprofile(None)

            return submit(pool, run, *arguments, **options)

        patch.setattr(kernel, "fused", compute)
        patch.setattr(ThreadPoolExecutor, "submit", hand_on)
        threading.setprofile(self.follow)
        sys.setprofile(self.follow)


def file_of(frame: FrameType) -> str:
    """Return the file of a function of ours, "pages/change/page.py"; "" for any other."""
    path = Path(frame.f_code.co_filename)
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
    return name if name.split("/")[0] in OURS else ""


def files_of_a_click(layer: int, head: int) -> Sequence[str]:
    """Click on a head of the board, as a visitor does, and return the files on the way to the attention function."""
    model, way = models.load("writer"), Way(f"h{layer}.{head}")
    look, app = Look(model, model.trace(WORDS)), open_link("change", TEXT)
    with pytest.MonkeyPatch.context() as patch:
        try:
            way.watch(patch)
            with session(change=SimpleNamespace(chosen={"part": "parts", "value": [layer, head]}), changes="") as held:
                switching.react(look, Settings())
            app.session_state["changes"] = held["changes"]
            app.run()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    assert way.arrived and not app.exception and app.session_state["changes"] == way.change
    return sorted(way.files)


def test_a_click_on_a_head_passes_few_files_and_the_documentation_names_them():
    files = files_of_a_click(2, 3)
    assert len(files) <= MOST, files
    (section,) = SECTION.findall((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))
    assert sorted(set(re.findall(r"^\d+\. `([a-z_/]+\.py)`", section, re.MULTILINE))) == files
