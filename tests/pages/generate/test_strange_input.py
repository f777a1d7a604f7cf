"""Page "Generate" with input that is too little, too much, or comes at the wrong moment."""

from __future__ import annotations

import time

import pytest
import transformers as T

from models.generation.strategy import Strategy
from pages.generate import choose, run
from pages.generate.continuation import Beginning, Continuation
from tests.models.networks import GROUPED, network, tokenizer
from tests.pages.generate.test_generate import GREEDY, LINK, board, ids, own, press
from tests.pages.opening import PATIENCE, open_link, unmarked, words_on
from ui.memory import loaded


@pytest.fixture
def keep(tmp_path, monkeypatch):
    """`keep(network)`: a folder that the app may open it from."""
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", str(tmp_path))

    def save(model: T.PreTrainedModel, name: str) -> str:
        folder = tmp_path / name
        model.save_pretrained(folder)
        tokenizer("decoder").save_pretrained(folder)
        loaded.model(str(folder))
        return str(folder)

    return save


@pytest.mark.parametrize("level", ["beginner", "intermediate", "expert"])
def test_a_decoder_without_a_head_says_that_it_has_none_and_offers_another(keep, level):
    folder = keep(T.LlamaModel(T.LlamaConfig(**GROUPED)), "headless")
    app = open_link("generate", f"model={folder}&{LINK}&level={level}")
    sentence = "makes no guesses" if level == "beginner" else "has no language-model head"
    assert sentence in words_on(app) and app.button(key="generate-switch").label == "Switch to the writer"


def test_an_end_that_comes_at_once_is_said_and_nothing_comes_after_it(keep):
    model = network("GPT-2")
    model.generation_config.eos_token_id = own(Strategy(), 1, name=keep(network("GPT-2"), "plain"))[0]
    app = press(open_link("generate", f"model={keep(model, 'ends')}&{GREEDY}&level=intermediate"), "run")
    assert ids(app) == [model.generation_config.eos_token_id]
    assert "The model chose its end token" in board(app)
    assert app.button(key="generate-run").disabled and app.button(key="generate-next").disabled
    assert ids(press(app, "back")) == [] and not app.button(key="generate-run").disabled


def test_a_press_that_the_model_cannot_answer_is_said_and_the_next_one_is_answered(monkeypatch):
    def refuse(*arguments):
        raise ValueError("It is away.")

    continuation = Continuation(Beginning("writer", "The cat"))
    with monkeypatch.context() as patch:
        patch.setattr(loaded, "next_step", refuse)
        run.step_forward(continuation, Strategy(), 3)
    assert (continuation.trouble, continuation.steps) == ("It is away.", [])
    run.step_forward(continuation, Strategy(), 3)
    assert not continuation.trouble and len(continuation.steps) == 1


@pytest.mark.parametrize("controls", ["generate-top-k=0", "generate-top-p=1", "generate-min-p=0&generate-typical=1"])
def test_controls_that_keep_everything_are_off(controls):
    app = open_link("generate", f"{LINK}&level=expert&generate-temperature=1&{controls}")
    assert "these are the model’s own probabilities" in unmarked(board(app)) and not app.warned


@pytest.mark.parametrize(
    ("name", "value"), [("temperature", "0"), ("top-p", "0"), ("top-p", "1.5"), ("top-k", "-1"), ("beams", "0"), ("tokens", "0")]
)
def test_controls_that_make_no_sense_are_told_of_and_left_at_their_default(name, value):
    method = "Beams" if name == "beams" else "Draw by dice"
    app = open_link("generate", f"{LINK}&level=expert&generate-{name}={value}&generate-method={method}")
    assert len(app.warned) == 1 and f"at “{value}”, which does not exist here" in app.warned[0].replace("\\", "")
    assert app.session_state[f"generate-{name}"] == choose.CONTROLS[name].default


def test_two_visitors_who_run_at_once_have_their_own_texts():
    texts = ("The cat sat on the mat", "The dog sat on the mat")
    link = "generate-method=Always+the+likeliest&level=intermediate&generate-tokens=30&text="
    apps = [open_link("generate", link + text.replace(" ", "+")) for text in texts]
    for app in apps:
        app.button(key="generate-run").click().run()
    until = time.monotonic() + PATIENCE
    while any(app.get("progress") for app in apps) and time.monotonic() < until:
        for app in apps:
            app.run()
    for app, text in zip(apps, texts, strict=True):
        assert ids(app) == own(Strategy(), 30, text)


def test_a_text_that_is_typed_while_it_runs_begins_anew_and_stops_the_run():
    app = open_link("generate", f"{GREEDY}&level=intermediate&generate-tokens=400")
    app.button(key="generate-run").click().run()
    continuation = app.session_state["generated"]
    first_run = continuation.run
    app.text_input(key="text").set_value("A dog").run()
    assert not app.exception and not app.error
    assert app.session_state["generated"].beginning.text == "A dog" and ids(app) == []
    assert continuation.run is None and (first_run is None or first_run.cancelled), "its work ends before the next token"


def test_what_nobody_wants_any_more_says_nothing_more():
    continuation = Continuation(Beginning("writer", "The cat"))
    continuation.begin(Strategy(), 40)
    first_run = continuation.run

    def type_another(share: float, words: str) -> None:
        if share > 0.1:
            continuation.end_run(stopped=True)

    run._work(continuation.beginning, first_run, type_another)
    assert len(continuation.steps) == 5 and continuation.why == "stopped"


def test_the_whole_context_is_gone_on_from():
    text = "The cat sat on the mat and the dog ran. " * 40
    model = loaded.model("writer")
    assert len(model.tokenize(text)) > model.room
    app = press(open_link("generate", f"text={text.strip().replace(' ', '+')}&level=intermediate&generate-tokens=3"), "run")
    (step, *_) = app.session_state["generated"].steps
    assert step.cut > 0 and len(step.tokens) == model.room and "characters are left out" in words_on(app)
