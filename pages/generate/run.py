"""The buttons by which a text grows, and a text that grows by itself."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import streamlit as st

from models.language_model import LanguageModel
from models.strategy import Strategy
from pages.generate import choose, doing
from pages.generate.grown import BYTES, Beginning, Grown, Run, size
from ui import state
from ui.memory import jobs, loaded
from ui.text import plain

TEXT = "generate-text"  # the place of the text, while it grows and before and after
WIDTH = 130  # pixels of the first button, so that “Stop” stands where “Go on” stood


def buttons(grown: Grown, strategy: Strategy, most: int, cancel: Callable[[], None] | None = None) -> None:
    """A run, one token, back, and all over again; beams are searched in one go and then looked at step by step. cancel: ends the
    run that is under way; the button that began it is then one that stops it, and stays where it is."""
    beams, busy = strategy.method == "beam", cancel is not None
    over = bool((grown.search and grown.reached >= len(grown.search)) if beams else grown.ended)
    back = grown.reached > 1 if beams else grown.steps

    def stop() -> None:
        if cancel:
            cancel()
        grown.end_run(stopped=True)

    label, icon = ("Stop", ":material/stop:") if busy else (doing.button(grown, beams), ":material/fast_forward:")
    st.button(
        label, icon=icon, type="primary", key="generate-run", width=WIDTH,
        on_click=stop if busy else lambda: grown.begin(strategy, most), disabled=over and not beams and not busy,
    )  # fmt: skip
    by_one = doing.by_one(loaded.info(grown.beginning.name))
    ways = [
        (by_one, ":material/arrow_forward:", "next", over, lambda: forward(grown, strategy, most)),
        ("Step back", ":material/undo:", "back", not back, lambda: backward(grown, beams)),
        ("Draw again", ":material/casino:", "draw", False, choose.draw_again),
        ("Start over", ":material/restart_alt:", "over", not (grown.steps or grown.search), start_over),
    ]
    for label, icon, name, off, press in ways:
        if name != "draw" or strategy.method == "sampling":
            st.button(label, icon=icon, key=f"generate-{name}", disabled=bool(off or busy), on_click=press)


def forward(grown: Grown, strategy: Strategy, most: int) -> None:
    if strategy.method != "beam":
        try:
            grown.trouble = ""
            grown.go_on(strategy)
        except ValueError as error:
            grown.trouble = str(error)
    else:
        if not grown.search:  # all of it is searched, and its first step is looked at
            grown.begin(strategy, most)
        grown.reached = min(grown.reached + 1, max(1, len(grown.search)))


def backward(grown: Grown, beams: bool) -> None:
    if beams:
        grown.reached = max(1, grown.reached - 1)
    else:
        grown.back()


def start_over() -> None:
    state.GENERATED.pop()


def under_way(grown: Grown, place: Callable[[Callable[[], None]], None], meanwhile: Callable[[], None]) -> bool:
    """Whether the text grows by itself now; then it is drawn here by `meanwhile`, again and again. place: the buttons, given what
    stops the run."""
    run = grown.run
    if run is None:
        return False
    name = grown.beginning.name
    at_work = "Searching" if run.strategy.method == "beam" else doing.MEANWHILE[doing.written(loaded.info(name))]
    key = ("generate", run.key)
    try:
        found = jobs.result(key, lambda report: _work(grown.beginning, run, report), at_work, meanwhile, place, where=TEXT)
    except ValueError as error:
        grown.trouble, found = str(error), 0
    if found is None:
        return True
    grown.end_run()
    st.rerun()  # the buttons stop a run that has ended


def read_again(beam: Grown) -> int | None:
    """A beam as a text that is said again; how many tokens were read, None while it is under way."""
    run = beam.run
    assert run is not None, "a beam that is not read yet"
    return jobs.result(("generate", run.key), lambda report: _work(beam.beginning, run, report), "Reading the beam again")


def _work(beginning: Beginning, run: Run, report: jobs.Report) -> int:
    """Say token after token, run after run; what was said stays when nobody waits any more. Returns how many were."""
    count, one = 0, run
    with loaded.shelf.reading(beginning.name) as model:
        while True:
            count += _say(model, beginning, one, run, report)
            if one.then is None:
                return count
            one = one.then


def _say(model: LanguageModel, beginning: Beginning, one: Run, first: Run, report: jobs.Report) -> int:
    """The tokens of one run, from where it was left."""
    into, count, taken = one.into, 0, 0
    if one.front and not into:
        into += one.front[0][: one.front[1]]
    beams = one.strategy.method == "beam" and not one.given
    if beams:
        into.clear()
    done = len(into) - one.begun
    if done >= one.most or (into and into[-1].end in ("end", "full")):
        return 0
    said = into[-1].said if into else ()
    _, text, target, chat = beginning
    begun = model.generate(text, one.strategy, one.most - done, target, said, given=one.given[done:], chat=chat)
    with closing(begun) as steps:
        for count, step in enumerate(steps, 1):
            if first.over:
                break
            into.append(step)
            taken += size(step)
            if taken > BYTES:
                break
            report((done + count) / one.most, f"{done + count} of at most {one.most} tokens")
    return count


def trouble(grown: Grown) -> None:
    """What the last run could not do."""
    if grown.trouble:
        st.warning(plain(grown.trouble), icon=":material/report:")
