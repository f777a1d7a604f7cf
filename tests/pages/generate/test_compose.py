"""What page Generate shows is composed without Streamlit: on any thread, to what a run of the page mounts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import pytest
from streamlit.testing.v1 import AppTest

from analysis import escape
from analysis.step_time import StepTime
from models.generation.strategy import Strategy
from pages.generate import cache
from pages.generate import settings as readings
from pages.generate.boards.cache import last_step
from pages.generate.compose import compose
from pages.generate.continuation import Continuation
from pages.generate.parts import BOARD
from pages.generate.settings import Beginning, Grown, Reading, Searched, Settings
from tests.pages.explain.test_compose import answers, assert_drawn  # noqa: F401
from tests.pages.mounting import assert_mounted
from tests.pages.opening import open_link
from tests.pages.test_compose import NAMES, folders, look, open_page, traces  # noqa: F401
from ui.look import Look
from ui.memory import loaded
from ui.state import LEVELS

SAID = "14-15-16~1-17"  # two branches, which share a token
WAYS = {"encoder-decoder": "translate-method"}
GROWING = [kind for kind in NAMES if kind != "encoder"]
FEW = {("decoder", "expert"), ("encoder-decoder", "beginner")}


def cells(levels: tuple[str, ...], few: set[tuple[str, str]]) -> list:
    """All kinds that grow and these levels; a few of them in `make test`."""
    each = product(GROWING, levels)
    return [pytest.param(*cell, marks=() if cell in few else pytest.mark.thorough) for cell in each]


def open_grown(kind: str, folder: str, method: str, more: str) -> tuple[AppTest, Continuation]:
    app = open_page("generate", kind, folder, f"{WAYS.get(kind, 'generate-method')}={method.replace(' ', '+')}&{more}")
    assert not app.warned
    return app, app.session_state["generated"]


def assert_all_mounted(app: AppTest, seen: Look, settings: Settings, parts: Iterator[Reading]) -> None:
    for reading in parts:
        assert_drawn(app, assert_mounted(app, partial(compose, seen, settings, reading)))


@pytest.mark.parametrize(("kind", "level"), cells(LEVELS, FEW))
def test_generate_composes_what_a_run_mounts(folders, traces, answers, kind, level):  # noqa: F811
    more = f"level={level}&generate-said={SAID}{'&generate-cache=true' * (level != 'beginner')}"
    app, continuation = open_grown(kind, folders[kind], "Always the likeliest", more)
    seen, grown = look(kind, folders[kind], traces[-1], app, {"level": level}), continuation.grown()
    assert [len(line) for line in grown.lines] == [3, 2]
    parts = [grown, readings.Branches(grown), *([] if level == "beginner" else cached(seen, continuation, grown, answers))]
    assert_all_mounted(app, seen, Settings(Strategy()), iter(parts))


def cached(seen: Look, continuation: Continuation, grown: Grown, answers: dict) -> Iterator[Reading]:  # noqa: F811
    """What is shown of the cache, from what the page has measured."""
    yield readings.Cached(grown)
    step = last_step(grown)
    read, source = len(step.tokens), len(step.source)
    cost = cache._costs(seen.model, grown.beginning.text, source)
    timing = answers[("generate-times", *grown.beginning, continuation.ids)]
    times = StepTime(cost, timing[2], read, *timing[:2]) if timing else None
    yield readings.Cost(cost, read, source, times)
    yield readings.Measured(timing or None)


@pytest.mark.parametrize("chosen", ["generate-at=0", "generate-branch=1&generate-temperature=1.5&generate-top-k=5"])
def test_generate_composes_with_all_that_is_chosen(folders, traces, chosen):  # noqa: F811
    """A token that is looked at again; another branch, drawn by dice, through another head."""
    more = f"level=expert&layer=L1&head=H2&special=false&generate-said={SAID}&{chosen}"
    app, continuation = open_grown("our own", "writer", "Draw by dice", more)
    seen = look("our own", "writer", traces[-1], app, {"level": "expert", "layer": 1, "head": 2, "special": False})
    dice = {"temperature": 1.5, "top_k": 5} if "temperature" in chosen else {"temperature": 0.8}
    grown = continuation.grown()
    assert (grown.at, grown.current) == ((0, 0) if "at=" in chosen else (None, 1))
    assert_all_mounted(app, seen, Settings(Strategy("sampling", **dice)), iter([grown, readings.Branches(grown)]))


@pytest.mark.parametrize(("kind", "level"), cells(LEVELS[1:], {("decoder", "intermediate"), ("encoder-decoder", "expert")}))
def test_a_search_composes_what_a_run_mounts(folders, traces, kind, level):  # noqa: F811
    more = f"level={level}&generate-beams=3&generate-tokens=5&generate-beam=2&generate-searched=4"
    app, continuation = open_grown(kind, folders[kind], "Beams", more)
    seen, step = look(kind, folders[kind], traces[-1], app, {"level": level}), continuation.search[continuation.reached - 1]
    ended = (continuation.why or step.end) if continuation.reached >= len(continuation.search) else ""
    searched = Searched(continuation.beginning, step, continuation.reached, ended)
    beam = continuation.beam(searched.search.answers[1].ids).grown()
    parts = [readings.Searching(searched), readings.Tree(searched), readings.Answers(searched), readings.Beam(beam)]
    assert_all_mounted(app, seen, Settings(step.strategy, 5, 1), iter(parts))


def test_what_stands_before_a_search_is_composed(folders, traces):  # noqa: F811
    app, _ = open_grown("decoder", folders["decoder"], "Beams", "level=expert")
    seen = look("decoder", folders["decoder"], traces[-1], app, {"level": "expert"})
    assert_all_mounted(app, seen, Settings(Strategy("beam")), iter([readings.Unsearched("Go on")]))


def test_a_loop_is_composed(traces):  # noqa: F811
    ids = [token.id for token in loaded.model("writer").tokenize(" the cat sat there")[1:]] * 7
    link = f"text=The+cat&level=beginner&generate-method=Always+the+likeliest&generate-said={'-'.join(map(str, ids))}"
    app = open_link("generate", link)
    seen = look("our own", "writer", traces[-1], app, {"level": "beginner"})
    remedy = escape(app.session_state["generated"].steps)
    assert remedy is not None
    assert_all_mounted(app, seen, Settings(Strategy()), iter([readings.Looped(remedy)]))


@pytest.mark.parametrize("level", LEVELS)
def test_a_model_that_does_not_grow_composes_why(folders, traces, level):  # noqa: F811
    app = open_page("generate", "encoder", folders["encoder"], f"level={level}")
    seen = look("encoder", folders["encoder"], traces[-1], app, {"level": level})
    assert_all_mounted(app, seen, Settings(Strategy()), iter([readings.CannotGrow()]))


def test_the_words_above_an_answer_are_composed(folders, traces):  # noqa: F811
    app, _ = open_grown("encoder-decoder", folders["encoder-decoder"], "Always the likeliest", "level=expert&attention=Encoder")
    seen = look("encoder-decoder", folders["encoder-decoder"], traces[-1], app, {"level": "expert", "attention": "encoder"})
    assert_all_mounted(app, seen, Settings(Strategy()), iter([readings.Above(False, False)]))


def test_a_board_stays_as_it_was_while_the_text_goes_on():
    model, continuation = loaded.model("writer"), Continuation(Beginning("writer", "The cat"))
    seen, settings = Look(model, model.trace("The cat"), "self", "expert"), Settings(Strategy())
    continuation.go_on(Strategy())
    grown = continuation.grown()
    before = compose(seen, settings, grown).data
    continuation.go_on(Strategy())
    assert compose(seen, settings, grown).data == before != compose(seen, settings, continuation.grown()).data


def test_what_keeps_a_model_from_reading_on_stands_on_the_board(monkeypatch):
    def refuse(*beginning: object) -> None:
        raise ValueError("This text cannot be read.")

    model = loaded.model("writer")
    monkeypatch.setattr(loaded, "next_step", refuse)
    grown = Continuation(Beginning("writer", "The cat")).grown()
    board = compose(Look(model, model.trace("The cat"), "self", "expert"), Settings(Strategy()), grown)
    assert board.data[BOARD].count(b"could not be drawn. This text cannot be read.") == 3 and not board.pictures
