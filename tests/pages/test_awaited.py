"""While the model of a link is loading, no page shows what another one makes of the text; what was in use before stays in use."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.pages.opening import open_given, words_on
from ui.choices import picker
from ui.memory import loaded

LINK = {"text": "The cat sat on the mat", "model": "owner/slow"}


class Slow:
    """A loading that does not end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        loaded.model("writer")
        self.job = SimpleNamespace(name="owner/slow", done=False, error="", progress=None)
        monkeypatch.setattr(loaded.shelf, "ask", lambda name, visitor, **more: self.job)
        monkeypatch.setattr(loaded.shelf, "look", lambda job, visitor: job)
        monkeypatch.setattr(loaded.shelf, "leave", lambda job, visitor: None)
        monkeypatch.setattr(picker, "refusal", lambda name: "")


@pytest.mark.parametrize("page", ["type", "attention", "heads"])
def test_a_linked_model_that_is_loading_has_no_answer_of_another(page, monkeypatch):
    Slow(monkeypatch)
    app = open_given(page, LINK)
    assert not app.exception and "“owner/slow” is loading" in words_on(app).replace("\\", "")
    assert not [
        element
        for element in app.get("bidi_component")
        if "prediction_bars" in str(element.proto) or "token_chips" in str(element.proto)
    ]
    assert "you continue with" not in words_on(app)
    assert app.text_input[0].value == LINK["text"]


def test_the_model_that_was_in_use_answers_while_the_next_one_is_loading(monkeypatch):
    Slow(monkeypatch)
    app = open_given("type", {"text": LINK["text"]}, listed=("owner/slow",))
    app.selectbox(key="model").set_value("owner/slow").run()
    assert not app.exception and "is loading" not in words_on(app)
    assert "you continue with “writer”" in words_on(app)
