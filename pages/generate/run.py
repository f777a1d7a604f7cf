"""The buttons that continue a text, and the runs in which it grows by itself."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import streamlit as st

from models.generation.strategy import Strategy
from models.language_model import LanguageModel
from pages.generate import choose, wording
from pages.generate import state as page_state
from pages.generate.continuation import BYTES, Beginning, Continuation, Run, size
from ui.escaping import plain
from ui.memory import jobs, loaded
from ui.parts import complaint

TEXT = "generate-text"  # the place of the text, before, during and after a run
WIDTH = 130  # pixels of the first button, so that “Stop” stands where “Go on” stood


def buttons(continuation: Continuation, strategy: Strategy, most: int, cancel: Callable[[], None] | None = None) -> None:
    """Place the buttons for a run, one token, a step back, and a new beginning. A beam search runs in one go and is then shown
    step by step. cancel: ends the present run; the first button, in the same place, then stops the run."""
    beams, busy = strategy.method == "beam", cancel is not None
    ended = bool((continuation.search and continuation.reached >= len(continuation.search)) if beams else continuation.end_reason)
    can_step_back = continuation.reached > 1 if beams else continuation.steps

    def stop() -> None:
        if cancel:
            cancel()
        continuation.end_run(stopped=True)

    label, icon = ("Stop", ":material/stop:") if busy else (run_label(continuation, beams), ":material/fast_forward:")
    st.button(
        label,
        icon=icon,
        type="primary",
        key="generate-run",
        width=WIDTH,
        on_click=stop if busy else lambda: continuation.begin(strategy, most),
        disabled=ended and not beams and not busy,
    )
    step_label = wording.step_label(loaded.info(continuation.beginning.name))
    row = [
        (step_label, ":material/arrow_forward:", "next", ended, lambda: step_forward(continuation, strategy, most)),
        ("Step back", ":material/undo:", "back", not can_step_back, lambda: step_back(continuation, beams)),
        ("Draw again", ":material/casino:", "draw", False, choose.draw_again),
        ("Start over", ":material/restart_alt:", "over", not (continuation.steps or continuation.search), start_over),
    ]
    for label, icon, name, disabled, on_click in row:
        if name != "draw" or strategy.method == "sampling":
            st.button(label, icon=icon, key=f"generate-{name}", disabled=bool(disabled or busy), on_click=on_click)


def run_label(continuation: Continuation, beams: bool) -> str:
    """Return the label of the first button: the model's action, or once it has begun, its continuation."""
    steps = continuation.search if beams else continuation.steps
    if steps or continuation.beginning.target:
        return wording.CONTINUE
    return wording.FIRST[wording.output_kind(loaded.info(continuation.beginning.name))]


def step_forward(continuation: Continuation, strategy: Strategy, most: int) -> None:
    if strategy.method != "beam":
        try:
            continuation.trouble = ""
            continuation.go_on(strategy)
        except Exception as error:
            continuation.trouble = as_sentence(error)
    else:
        if not continuation.search:  # the whole search runs, and its first step is on screen
            continuation.begin(strategy, most)
        continuation.reached = min(continuation.reached + 1, max(1, len(continuation.search)))


def step_back(continuation: Continuation, beams: bool) -> None:
    if beams:
        continuation.reached = max(1, continuation.reached - 1)
    else:
        continuation.step_back()


def start_over() -> None:
    continuation = page_state.GENERATED.pop()
    if continuation and continuation.opened:  # a search that was dropped is not begun again without a click
        page_state.GENERATED.set(Continuation(continuation.beginning, opened=True))


def show_run(continuation: Continuation, place: Callable[[Callable[[], None]], None], meanwhile: Callable[[], None]) -> bool:
    """Return whether a run is in progress; meanwhile `meanwhile` redraws the text. place: draws the buttons, given the function
    that stops the run."""
    run = continuation.run
    if run is None:
        return False
    name = continuation.beginning.name
    at_work = "Searching" if run.strategy.method == "beam" else wording.MEANWHILE[wording.output_kind(loaded.info(name))]
    key = ("generate", run.key)
    try:
        count = jobs.result(key, lambda report: _work(continuation.beginning, run, report), at_work, meanwhile, place, where=TEXT)
    except Exception as error:
        continuation.trouble, count = as_sentence(error), 0
    if count is None:
        return True
    continuation.end_run()
    st.rerun()  # the buttons on screen would stop a run that has ended


def as_sentence(error: Exception) -> str:
    """Return the reason why the text stopped: a refusal in its own words, any other error as on every page."""
    return str(error) if isinstance(error, ValueError) else complaint("The text", error, "continued")


def read_again(beam: Continuation) -> int | None:
    """Let the model generate a beam again; return how many tokens it read, None while it runs."""
    run = beam.run
    assert run is not None, "a beam that is not read yet"
    return jobs.result(("generate", run.key), lambda report: _work(beam.beginning, run, report), "Reading the beam again")


def _work(beginning: Beginning, run: Run, report: jobs.Report) -> int:
    """Generate token after token, run after run, and return how many. The tokens stay even when nobody waits any more."""
    count, current = 0, run
    with loaded.shelf.reading(beginning.name) as model:
        while True:
            count += _say(model, beginning, current, run, report)
            if current.next_run is None:
                return count
            current = current.next_run


def _say(model: LanguageModel, beginning: Beginning, run: Run, first: Run, report: jobs.Report) -> int:
    """Generate the tokens of one run, from where it stopped, and return how many."""
    steps, count, memory = run.into, 0, 0
    if run.prefix and not steps:
        steps += run.prefix[0][: run.prefix[1]]
    beams = run.strategy.method == "beam" and not run.ids
    if beams:
        steps.clear()
    count_before = len(steps) - run.start
    if count_before >= run.most or (steps and steps[-1].end in ("end", "full")):
        return 0
    ids = steps[-1].continuation if steps else ()
    _, text, target, chat = beginning
    generation = model.generate(
        text, run.strategy, run.most - count_before, target, ids, forced=run.ids[count_before:], chat=chat
    )
    with closing(generation) as new_steps:
        for count, step in enumerate(new_steps, 1):
            if first.cancelled:
                break
            steps.append(step)
            memory += size(step)
            if memory > BYTES:
                break
            report((count_before + count) / run.most, f"{count_before + count} of at most {run.most} tokens")
    return count


def show_trouble(continuation: Continuation) -> None:
    """Show the error of the last run."""
    if continuation.trouble:
        st.warning(plain(continuation.trouble), icon=":material/report:")
