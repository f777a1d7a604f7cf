"""The buttons by which a text grows, and a text that grows by itself."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import streamlit as st

from models.strategy import Strategy
from pages.generate import choose
from pages.generate.grown import BYTES, Grown, Run, size
from ui import state
from ui.look import Look
from ui.memory import jobs, loaded
from ui.text import plain


def buttons(grown: Grown, look: Look, strategy: Strategy, most: int) -> None:
    """One token, a run, back, and all over again; beams are searched in one go and then looked at step by step."""
    beams, busy = strategy.method == "beam", grown.run is not None
    translates = look.model.info.kind == "encoder-decoder"
    over = (grown.search and grown.reached >= len(grown.search)) if beams else grown.ended
    back = grown.reached > 1 if beams else grown.steps
    with st.container(key="generate-buttons", horizontal=True, gap="small"):
        st.button(
            "Translate" if translates else "Run", icon=":material/fast_forward:", type="primary", key="generate-run",
            disabled=busy or bool(over and not beams), on_click=grown.begin, args=(strategy, most),
        )  # fmt: skip
        st.button(
            "Next token", icon=":material/arrow_forward:", key="generate-next", disabled=busy or bool(over),
            on_click=forward, args=(grown, strategy, most),
        )  # fmt: skip
        st.button(
            "Step back", icon=":material/undo:", key="generate-back", disabled=busy or not back,
            on_click=backward, args=(grown, beams),
        )  # fmt: skip
        if strategy.method == "sampling":
            st.button(
                "Throw again", icon=":material/casino:", key="generate-throw", disabled=busy, on_click=choose.throw_again,
                help="Another number for the dice: other draws from the same chances.",
            )  # fmt: skip
        if grown.steps or grown.search:
            st.button("Start over", icon=":material/restart_alt:", key="generate-over", disabled=busy, on_click=start_over)


def forward(grown: Grown, strategy: Strategy, most: int) -> None:
    if strategy.method != "beam":
        grown.go_on(strategy)
    elif grown.search:
        grown.reached = min(grown.reached + 1, len(grown.search))
    else:
        grown.begin(strategy, most)


def backward(grown: Grown, beams: bool) -> None:
    if beams:
        grown.reached = max(1, grown.reached - 1)
    else:
        grown.back()


def start_over() -> None:
    state.GENERATED.pop()


def under_way(grown: Grown, meanwhile: Callable[[], None]) -> bool:
    """Whether the text grows by itself now; then it is drawn here by `meanwhile`, again and again, with a way to stop it."""
    run = grown.run
    if run is None:
        return False
    doing = "Searching" if run.strategy.method == "beam" else "Going on"
    try:
        found = jobs.result(
            ("generate", run.key), lambda report: _work(grown.beginning, run, report), doing, meanwhile, ("Stop", grown.end_run)
        )
    except ValueError as error:
        grown.trouble, found = str(error), 0
    if found is not None:
        grown.end_run()
    return found is None


def _work(beginning: tuple[str, str, str], run: Run, report: jobs.Report) -> int:
    """Say token after token; what was said stays when nobody waits any more. Returns how many were."""
    name, text, target = beginning
    count, taken = 0, 0
    with loaded.shelf.reading(name) as model:
        begun = model.generate(text, run.strategy, run.most, target, run.said)
        with closing(begun) as steps:
            for count, step in enumerate(steps, 1):
                run.into.append(step)
                taken += size(step)
                if taken > BYTES:
                    break
                report(count / run.most, f"{count} of at most {run.most} tokens")
    return count


def trouble(grown: Grown) -> None:
    """What the last run could not do."""
    if grown.trouble:
        st.warning(plain(grown.trouble), icon=":material/report:")
