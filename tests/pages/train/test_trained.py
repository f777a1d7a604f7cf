"""A model that was trained on page Train, opened by its link: by its own name, with its own text and its own head."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from models.scratch.config import TransformerConfig
from models.training.live import SIZES, Budget, Training
from models.training.tasks import TASKS
from tests.pages.opening import open_link, press, words_on
from ui.choices import examples
from ui.escaping import plain
from ui.lessons import files
from ui.memory import allowed, loaded, own_folder, trainings

KEY = "89abcdef01234567" * 2
LONG = "The farmer gave the hungry dog a bone, and the dog ran into the forest. "  # more than 24 letters, and more than 64


@pytest.fixture(scope="module")
def model() -> trainings.Trained:
    """A model of 24 letters, after one step, in the memory of the server."""
    task = TASKS["repeat"](length=24)
    training = Training(task, TransformerConfig(**SIZES | {"context": 24}), Budget(rows=1))
    training.advance(1)
    model = trainings.write_model(KEY, training)
    loaded.model(model.name)
    return model


def open_page(model: trainings.Trained, page: str = "type", **more: str):
    return open_link(page, urlencode({"model": "repeat, 1 step", "trained": KEY, **more}))


def test_a_link_opens_it_with_its_own_text_through_its_induction_head(model):
    app = open_page(model, level="intermediate")
    assert app.session_state["model"] == app.session_state["in-use"] == model.name
    assert app.selectbox(key="model").options.count("repeat, 1 step") == 1
    assert app.text_input(key="text").value == model.examples[0]
    assert (app.session_state["layer"], app.session_state["head"]) == model.induction[:2]
    words = words_on(app)
    assert "It was trained on page Train." in words and KEY not in words and str(own_folder.folder()) not in words


def test_without_its_key_a_link_opens_nothing_of_somebody_elses(model):
    app = open_link("type", urlencode({"model": "repeat, 1 step"}))
    assert app.session_state["model"] == "writer"
    assert "stays for as long as its server runs" in words_on(app)


def test_page_train_says_nothing_of_a_text_that_the_model_in_use_cannot_read(model):
    cut = "tokens at a time, so the first"
    assert cut in words_on(open_page(model, text=LONG))
    assert cut not in words_on(open_page(model, "train", text=LONG))


def test_what_it_is_called_is_enough_where_its_key_is_known(model):
    """A browser sends what the picker shows, which may come before the picker knows what is meant by it."""
    app = open_link("type", urlencode({"trained": KEY}))
    app.session_state["model"] = "repeat, 1 step"
    app.run()
    assert app.session_state["in-use"] == model.name and app.selectbox(key="model").options.count("repeat, 1 step") == 1


@pytest.mark.parametrize("here", [True, False], ids=["at the machine", "elsewhere"])
def test_where_the_log_lies_is_told_to_who_sits_at_the_machine_only(monkeypatch, here):
    def page(name, training):
        from pathlib import Path

        from pages.train import use

        use.place(Path(use.__file__).parent, name, training)

    monkeypatch.setattr(allowed, "sits_here", lambda: here)
    trainings.logs(KEY).mkdir(parents=True, exist_ok=True)
    training = Training(TASKS["repeat"](length=24), TransformerConfig(**SIZES | {"context": 24}), Budget(rows=1))
    app = AppTest.from_function(page, args=(KEY, training), default_timeout=60)
    app.session_state["level"] = "expert"
    app.run()
    assert not app.exception
    assert [str(own_folder.folder()) in block.value for block in app.code] == ([True] if here else [])


def test_one_press_leads_from_a_training_to_its_own_text_through_its_head_and_on_to_the_writer(model, monkeypatch):
    training = Training(TASKS["repeat"](length=24), TransformerConfig(**SIZES | {"context": 24}), Budget(rows=1))
    training.advance(1)
    monkeypatch.setattr(trainings, "mine", lambda: (KEY, training))
    app = open_link("train")
    next(button for button in app.button if button.key == "train-open-head").click().run()
    trained = trainings.find(app.session_state["in-use"])
    layer, head, _ = trained.reads
    assert trained is model and trained.reads == trained.induction
    assert plain(examples.trained_example(trained.name).look) in words_on(app), "with the number that was measured"
    chosen = {name: app.session_state[name] for name in ("text", "view", "layer", "head", "level")}
    assert chosen == {"text": trained.examples[0], "view": "Head", "layer": layer, "head": head, "level": "intermediate"}
    press(app, "Find this head in the writer")
    assert app.session_state["in-use"] == "writer" and "Look for “bridge”" in words_on(app)
    press(app, f"Lesson: {files.find('find').title}")
    assert app.session_state["lesson"] == "find" and files.find("find").steps[0].title in words_on(app)
