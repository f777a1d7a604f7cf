"""The app while other machines read: its pages show the same, a key press is one question, and little crosses."""

from __future__ import annotations

from itertools import product

import pytest

from models.remote import backend
from tests.grids import grid
from tests.models.remote.serving import die, replicas
from tests.pages.opening import finish, open_given, open_link, press, words_on
from ui.memory import loaded
from ui.memory.eviction import Shelf
from ui.state import LEVELS

TEXTS = {
    "writer": ("text=The+cat+sat+on", "The cat sat on the"),
    "filler": ("text=The+[MASK]+sat", "The [MASK] sat on"),
    "translator": ("text=The+cat+sleeps&target=Le", "The cat sleeps."),
}
MOST = 64_000  # bytes


@pytest.fixture
def elsewhere(monkeypatch):
    """Has a server of models of its own read at a port from now on."""

    def at(port: int):
        monkeypatch.setenv("HEADLIGHT_BACKEND", f"ray://127.0.0.1:{port}")
        backend._backend.cache_clear()
        monkeypatch.setattr(loaded, "shelf", Shelf(loaded._load, lambda: 10**9, stay=("writer",)))
        return backend.backend().far

    yield at
    backend._backend.cache_clear()


@pytest.mark.parametrize(
    ("model", "level"), grid(product(TEXTS, ["beginner", "expert"]), [*zip(TEXTS, ["expert", "beginner"] * 2, strict=False)])
)
def test_a_key_press_is_one_question_and_little_crosses(elsewhere, model, level):
    link, longer = TEXTS[model]
    address = f"model={model}&{link}&level={level}"
    before = words_on(open_link("type", address))
    with replicas() as port:
        far = elsewhere(port)
        app = open_link("type", address)
        assert words_on(app) == before and not app.warned
        app = typed(app, longer[:-1])  # from here on what the page asks for is known
        asked, sent, received = far.asked, far.sent, far.received
        app = typed(app, longer)
        asked, sent, received = far.asked - asked, far.sent - sent, far.received - received
        print(f"\n{model}, {level}: a key press is {asked} question of {sent:,} bytes, and an answer of {received:,}")
        assert asked == 1 and sent < 2000 and received < (MOST if level == "beginner" else 4 * MOST)


def typed(app, text: str):
    (box,) = (element for element in (*app.text_area, *app.text_input) if element.key == "text")
    return finish(box.set_value(text).run())


def test_a_machine_that_dies_between_two_key_presses_takes_nothing_along(elsewhere):
    dead = []
    with replicas(lambda request: bool(dead) and die(request)) as port:
        elsewhere(port)
        app = open_link("type", "text=The+cat+sat+on")
        dead.append(True)
        app = typed(app, "The cat sat on the")
        assert "The cat sat on the" in [element.value for element in (*app.text_area, *app.text_input)]
        assert any("do not answer" in element.value for element in finish(app.run()).warning)


def test_a_cluster_that_is_not_there_is_told_of_on_the_page_and_the_page_stands(elsewhere):
    before = words_on(open_link("type", "text=The+cat+sat+on"))
    elsewhere(9)
    app = open_link("type", "text=The+cat+sat+on")
    assert any("The models that ship with Headlight are read by" in element.value for element in finish(app.run()).warning)
    assert set(before.splitlines()) <= set(words_on(app).splitlines())


@pytest.mark.thorough
@pytest.mark.parametrize("level", LEVELS)
def test_where_an_answer_cannot_grow_page_generate_says_why_and_leads_to_a_model_that_can(elsewhere, level):
    with replicas() as port:
        elsewhere(port)
        loaded.model("GPT-2")
        app = finish(open_given("generate", {"model": "GPT-2", "text": "The cat", "level": level}, ("GPT-2",)))
        assert any("“GPT\\-2” runs on" in element.value for element in app.info)
        assert "Go on" not in [button.label for button in app.button]
        app = finish(press(app, "Switch to the writer"))
        assert "Go on" in [button.label for button in app.button] and not app.info
