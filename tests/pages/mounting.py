"""Comparisons of the bytes that a page has mounted with what is composed on a plain thread and with what the line answers."""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import pytest
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.testing.v1 import AppTest

from models.trace import Trace
from tests.pages.taking import data
from ui.live import answers, visits
from ui.memory import loaded
from ui.picture.board import Board, Note, Table
from ui.picture.picture import Picture

T = TypeVar("T")


def assert_mounted(app: AppTest, compose: Callable[[], Board]) -> Board:
    """A page has what is composed: on a plain thread, twice, to the same bytes and words."""
    boards = [on_a_plain_thread(compose) for _ in range(2)]
    assert content(boards[0]) == content(boards[1]) and boards[0].contents
    assert boards[0].beside == boards[1].beside
    assert set(boards[0].data.values()) <= set(mounted(app))
    places = {"caption": app.caption, "text": app.markdown, "info": app.info, "error": app.error, "code": app.code}
    for note in (*boards[0].beside, *(part for part in boards[0].contents.values() if isinstance(part, Note))):
        assert note.text.strip() in [element.value for element in places[note.kind]]
    for picture in (part for part in boards[0].contents.values() if isinstance(part, Picture)):
        assert figure_data(data(picture.drawn)) in [figure_data(chart.proto.spec) for chart in app.get("plotly_chart")]
    for table in (part for part in boards[0].contents.values() if isinstance(part, Table)):
        assert any(table.rows.equals(element.value) for element in (app.dataframe if table.scrolls else app.table))
    return boards[0]


def assert_answered(app: AppTest, traces: list[Trace], *keys: str) -> None:
    """The line answers to these bytes what the page has mounted, when a browser asks for the text that is there already."""
    (page,) = [json.loads(data) for data in mounted(app) if data.startswith(b'{"key"')]
    visit = visits.of_key(page["key"])
    assert visit is not None
    text, target = page["texts"]
    asked = {name: page[name] for name in ("run", "page", "model", "choices", "values")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loaded, "read", partial(last_reading, traces))
        message = json.dumps({"number": 1, "text": text, "target": target} | asked)
        answer = on_a_plain_thread(lambda: answers.answer(message, visit))
    assert isinstance(answer, bytes), answer
    (length,) = struct.unpack_from("<I", answer)
    header, start = json.loads(answer[4 : 4 + length]), -(-(4 + length) // 8) * 8
    boards = {key: answer[start + place["start"] : start + place["end"]] for key, place in header["boards"].items()}
    assert boards.keys() == {*keys} and {*boards.values()} <= {*mounted(app)}


def last_reading(traces: list[Trace], *given: Any) -> Trace:
    """The last of these traces that was read with edits, or without."""
    return next(trace for trace in reversed(traces) if bool(trace.edits) == bool(given[3:] and given[3]))


def figure_data(figure: str | bytes) -> dict[str, dict]:
    """The data and layout of a figure from its JSON; Streamlit adds its own template."""
    parts = json.loads(figure)
    return {"data": parts["data"], "layout": {name: value for name, value in parts["layout"].items() if name != "template"}}


def content(board: Board) -> dict[str, object]:
    """The contents of a board, as values that can be compared."""
    return {
        key: part.rows.to_csv() if isinstance(part, Table) else data(part.drawn) if isinstance(part, Picture) else part
        for key, part in board.contents.items()
    }


def mounted(app: AppTest) -> list[bytes]:
    return [bytes(component.proto.bytes) for component in app.get("bidi_component")]


def on_a_plain_thread(work: Callable[[], T]) -> T:
    """The result of work on a thread that no page runs on."""
    results = list[T]()

    def run() -> None:
        assert get_script_run_ctx(suppress_warning=True) is None
        results.append(work())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return results[0]
