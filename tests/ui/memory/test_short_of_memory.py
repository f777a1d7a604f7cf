"""Where no memory is left, a page says so in a sentence; others go on meanwhile, and nothing stays locked."""

from __future__ import annotations

import threading

import pytest
from streamlit.testing.v1 import AppTest

from models.errors import ModelError
from models.generation.strategy import Strategy
from models.huggingface.trial import plainly
from models.reading import together
from models.scratch.config import TransformerConfig
from models.training.live import SIZES, Budget, Training
from models.training.tasks import TASKS
from pages.generate import run
from pages.generate.continuation import Beginning, Continuation
from tests.pages.opening import open_link
from tests.pages.test_left_behind import until
from ui.memory import jobs, loaded
from ui.memory.eviction import NO_MEMORY, Shelf
from ui.parts import SHORT_OF_MEMORY

LARGE, SMALL = "text=The+largest+text", "text=A+dog"
OF_TORCH = "[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: you tried to allocate 99 bytes."


def errors(app: AppTest) -> list[str]:
    assert not app.exception
    return [error.value.replace("\\", "") for error in app.error]


@pytest.mark.parametrize("page", ["type", "layers", "change", "generate"])
def test_a_text_that_no_memory_is_left_for_is_said_and_another_visitor_reads_theirs(monkeypatch, page):
    trace = together._trace

    def short_of_memory(model, asked, part):
        if asked.text == "The largest text":
            raise MemoryError
        return trace(model, asked, part)

    loaded.model("writer").forget()  # a text that was read before needs no memory
    with monkeypatch.context() as patch:
        patch.setattr(together, "_trace", short_of_memory)
        app = open_link(page, LARGE, finished=False)
        assert errors(app) == [f"This text could not be read. {SHORT_OF_MEMORY}"]
        assert not errors(open_link(page, SMALL))
    assert not errors(app.run()), "and where there is memory again, the page stands"


PARTS = {"flow": "show=Which+to+believe", "explain": "explain=Methods", "change": "try-all=true"}


@pytest.mark.parametrize("page", PARTS)
def test_a_calculation_that_no_memory_is_left_for_is_said_and_ends(monkeypatch, page):
    def fail(report):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "_on_one_core", lambda work: fail)
        app = open_link(page, f"{PARTS[page]}&{LARGE}", finished=False)
        until(lambda: jobs.under_way() == (0, 0))
        sentences = [*errors(app.run()), *(warning.value.replace("\\", "") for warning in app.warning)]
        assert any(SHORT_OF_MEMORY in sentence for sentence in sentences), sentences
    open_link(page, f"{PARTS[page]}&{SMALL}")


def test_a_calculation_that_others_want_too_is_tried_again_soon_after_memory_was_short():
    """Many calculations are of the model alone, and so the same for all visitors."""
    now, failing = [0.0], [True]

    def work(report) -> str:
        if failing[0]:
            raise MemoryError
        return "done"

    shared = jobs.Jobs(clock=lambda: now[0])
    for expected in (MemoryError, MemoryError, None):
        job = shared.ask("scores", work, "Counting", "a visitor")
        assert job.ended.wait(60)
        assert isinstance(job.error, expected) if expected else job.value == "done"
        now[0] += 0.6 * jobs.NO_MEMORY_STAYS
        failing[0] = False
    assert jobs.NO_MEMORY_STAYS < jobs.ERRORS_STAY / 2


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError(OF_TORCH)])
def test_a_text_that_grows_ends_in_a_sentence_and_grows_again(monkeypatch, error):
    def fail(*given, **more):
        raise error

    growing = Continuation(Beginning("writer", "The cat"))
    with monkeypatch.context() as patch:
        patch.setattr(loaded, "next_step", fail)
        run.step_forward(growing, Strategy(), 3)
    assert growing.trouble == f"The text could not be continued. {SHORT_OF_MEMORY}" and not growing.steps
    run.step_forward(growing, Strategy(), 3)
    assert not growing.trouble and len(growing.steps) == 1


def test_a_run_that_no_memory_is_left_for_ends_in_a_sentence_and_the_buttons_work(monkeypatch):
    def fail(report):
        raise MemoryError

    app = open_link("generate", f"level=expert&{SMALL}+runs")
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "_on_one_core", lambda work: fail)
        app.button(key="generate-run").click().run()
        until(lambda: jobs.under_way() == (0, 0))
        app.run()
    assert not errors(app)
    assert f"The text could not be continued. {SHORT_OF_MEMORY}" in [element.value.replace("\\", "") for element in app.warning]
    app.button(key="generate-next").click().run()
    assert not errors(app) and len(app.session_state["generated"].steps) == 1


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError(OF_TORCH)])
def test_a_model_that_no_memory_is_left_for_is_refused_and_others_load(error):
    def load(name, report):
        if name == "large":
            raise error
        return loaded.model("writer")

    shelf = Shelf(load, lambda: 10**12)
    for _ in range(6):  # more than load at a time
        with pytest.raises(ModelError) as caught:
            shelf.get("large")
        assert str(caught.value) == f"“large” could not be loaded. {NO_MEMORY}"
    assert shelf.get("small") is loaded.model("writer") and "large" not in shelf
    with pytest.raises(ModelError, match="There was not enough memory for “large”"), plainly("large"):
        raise error


def test_a_training_that_no_memory_is_left_for_says_so_and_the_next_one_has_its_turn(monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda given: None)  # it is in the log too
    config = TransformerConfig(**SIZES | {"d_model": 16, "layers": 1})
    large, small = (Training(TASKS["copy"](), config, Budget(steps=8, rows=1, every=4)) for _ in range(2))
    monkeypatch.setattr(large, "_run_step", lambda: bytearray(2**62))
    for training in (large, small):
        training.start()
    until(lambda: small.state == "done" and large.state == "failed")
    assert large.says == "It stopped at step 0: the server has too little memory for it now."
