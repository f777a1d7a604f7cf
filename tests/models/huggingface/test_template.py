"""A chat template is anybody’s program: it is rendered with little time and memory, and a sentence says when it takes more."""

from __future__ import annotations

import gc

import psutil
import pytest

from models.huggingface import forking, template
from tests.models.chatting import CHATML, chat_model

SAY = "{{ messages[0]['content'] }}"
HOSTILE = {
    "nested loops": "{% for a in range(300) %}{% for b in range(99999) %}{% endfor %}{% endfor %}" + SAY,
    "a doubled string": "{% set ns = namespace(x='ab') %}{% for a in range(26) %}{% set ns.x = ns.x + ns.x %}{% endfor %}" + SAY,
    "a wide field": "{% set x = 'a' | center(300000000) %}" + SAY,
    "a long answer": SAY + "{% for a in range(99999) %}" + "x" * 20 + "{% endfor %}",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_template_that_takes_too_much_is_refused_once_and_for_all(kind, monkeypatch):
    monkeypatch.setattr(template, "SECONDS", 0.3)
    model = chat_model(HOSTILE[kind])
    with pytest.raises(ValueError, match=r"takes more than 0.3 s or 200 MB for a text, so it is not used. Switch"):
        model.as_chat("The cat")
    monkeypatch.setattr(model.vocabulary.template._answerer, "ask", lambda *_: pytest.fail("it was tried again"))
    with pytest.raises(ValueError, match="so it is not used"):
        model.as_chat("The dog")
    assert chat_model(CHATML).as_chat("The cat").written, "and others answer"


def test_a_template_that_is_slow_for_some_texts_has_said_the_others(monkeypatch):
    monkeypatch.setattr(template, "SECONDS", 0.3)
    model = chat_model("{% if 'ж' in messages[0]['content'] %}" + HOSTILE["nested loops"] + "{% else %}" + SAY + "{% endif %}")
    assert model.as_chat("The cat").written == "The cat"
    with pytest.raises(ValueError, match="takes more than"):
        model.as_chat("ж")


def test_a_text_is_rendered_once(monkeypatch):
    model = chat_model(CHATML)
    first = model.as_chat("The cat")
    questions = []
    monkeypatch.setattr(model.vocabulary.template._answerer, "ask", lambda question, seconds: questions.append(question))
    assert model.as_chat("The cat") == first and not questions


def test_a_long_text_of_many_characters_is_rendered():
    text = "the 猫 🙂 " * 20_000
    assert chat_model(CHATML).vocabulary.template.render(text).count(text.strip()) == 1


def test_its_process_goes_with_the_model():
    chat_model(CHATML).as_chat("The cat")
    waiting = psutil.Process(forking._process.pid)
    before = set(waiting.children())
    model = chat_model(CHATML)
    model.as_chat("The cat")
    own = set(waiting.children()) - before
    assert own
    del model
    gc.collect()
    assert not psutil.wait_procs(own, timeout=60)[1]
