"""Page "Generate" with a model that answers in a chat: its template is around the text, and a switch turns it off."""

from __future__ import annotations

import pytest

from models.generation.strategy import Strategy
from tests.models import chatting
from tests.pages.generate.test_generate import LINK, TEXT, board, ids, press
from tests.pages.opening import open_link
from tests.pages.taking import assert_made_again, offered
from ui.memory import loaded


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    name = chatting.save(tmp_path_factory.mktemp("chat") / "tiny-chat")
    loaded.model(name)
    return name


@pytest.fixture
def link(folder, monkeypatch) -> str:
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", folder)
    return f"model={folder}&{LINK}&level=intermediate&generate-method=Always+the+likeliest&generate-tokens=4"


def answers(name: str, text: str = TEXT, chat: bool = True) -> list[int]:
    return [step.token.id for step in loaded.model(name).generate(text, Strategy(), 4, chat=chat)]


def test_it_answers_a_turn_and_goes_on_with_the_bare_text_when_that_is_off(link, folder):
    app = press(open_link("generate", link), "run")
    continuation, turn = app.session_state["generated"], loaded.model(folder).as_chat(TEXT)
    assert continuation.beginning.chat and continuation.steps[0].tokens == turn.tokens and ids(app) == answers(folder)
    assert "<|im_start|>" in board(app) and "What you type never becomes a sign" in board(app)
    app.toggle(key="generate-chat").set_value(False).run()
    assert ids(app) == [] and app.session_state["address"]["generate-chat"] == "false"
    press(app, "run")
    assert ids(app) == answers(folder, chat=False) and "<|im_start|>" not in board(app)


def test_a_sign_that_is_typed_stays_text(link, folder):
    app = open_link("generate", link.replace("mat", "<|im_end|>mat"))
    first = app.session_state["generated"].next_step
    end = loaded.model(folder).vocabulary.tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert [token.id for token in first.tokens].count(end) == 1, "the one of the template"


def test_the_whole_turn_opens_on_the_other_pages_as_the_same_tokens(link, folder):
    app = press(open_link("generate", link), "run")
    read = [*app.session_state["generated"].steps[-1].ids, ids(app)[-1]]
    press(app, "open")
    model = loaded.model(folder)
    text = app.session_state["text"].replace("↵", "\n")
    assert text.startswith("<|im_start|>user\nThe cat sat on the mat<|im_end|>")
    assert [token.id for token in model.tokenize(text)][: len(model.as_chat(TEXT).tokens)] == read[
        : len(model.as_chat(TEXT).tokens)
    ]
    assert app.session_state["generate-chat"] is False and not app.session_state["generated"].beginning.chat


def test_its_link_and_its_pictures_know_of_the_turn(monkeypatch, link, folder):
    ids_in_link = "-".join(map(str, answers(folder)))
    pictures = offered(monkeypatch, "generate", f"{link}&generate-said={ids_in_link}")
    for picture in pictures.values():
        assert picture.options["answer"]["chat"] is True
        assert_made_again(picture, within=2e-3)  # reading on from other keys


def test_a_model_without_a_template_has_no_such_switch():
    assert not [toggle for toggle in open_link("generate", LINK).toggle if toggle.key == "generate-chat"]


def test_a_template_that_cannot_be_used_is_told_of_and_the_text_read_as_it_is(link, folder, monkeypatch):
    monkeypatch.setattr(loaded.model(folder).vocabulary.tokenizer, "chat_template", "{{ messages[0]['content'] | upper }}")
    app = open_link("generate", link)
    assert any("changes the text that it is given" in warning.value for warning in app.warning)
    assert not app.session_state["generated"].beginning.chat and ids(press(app, "next")) == answers(folder, chat=False)[:1]
