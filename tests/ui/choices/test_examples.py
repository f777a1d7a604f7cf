"""Examples with a purpose: what each says is true of its model, and one press shows it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import streamlit as st
from streamlit.util import calc_hash

import models
from analysis.true_answers import answer
from models.edits import Head
from models.scratch.config import TransformerConfig
from models.training.live import SIZES, Budget, Training
from models.training.tasks import TASKS
from tests.pages.opening import open_link, words_on
from ui.choices import examples, text_boxes
from ui.choices.examples import Example, guided_examples
from ui.escaping import plain
from ui.lessons import files
from ui.memory import trainings

HEAD = {"layer": "L1", "head": "H0"}
ALL = {(example.model, example.title): example for example in guided_examples()}
NAMES = {"ids": lambda key: " ".join(key)}
# What a sentence says of a head: from which token it looks at which, with how many per cent at the least and at most
LOOKS = {
    ("writer", "Facts"): [],
    ("writer", "Names"): [("to", "Tom", 80, 95), ("to", "Anna", 0, 20)],
    ("writer", "Pronouns"): [("because", "queen", 80, 95)],
    ("writer", "Repetition"): [("stone", "bridge", 90, 100)],
    ("writer", "A word comes back"): [("the", "ball", 40, 45)],
    ("writer", "Ambiguity"): [("it", "cat", 75, 90), ("it", "mat", 0, 7.5)],
    ("writer", "Agreement"): [("cat", "dogs", 90, 100)],
    ("filler", "Both sides"): [("[MASK]", "tea", 85, 100)],
    ("filler", "Repetition"): [("[MASK]", "ball", 75, 95)],
    ("filler", "Agreement"): [("[MASK]", "keys", 90, 100), ("[MASK]", "door", 0, 10)],
    ("sorter", "Question or statement"): [("<|start|>", "Have", 70, 95)],
    ("translator", "Translation"): [("Le", "cat", 90, 100), ("chat", "black", 90, 100)],
}
GUESSES = {
    ("writer", "Facts"): "Paris",
    ("writer", "Names"): "Tom",
    ("writer", "Pronouns"): "she",
    ("writer", "A word comes back"): "ball",
    ("writer", "Agreement"): "are",
    ("filler", "Repetition"): "ball",
    ("filler", "Agreement"): "were",
}


def test_there_is_an_example_for_each_subject():
    titles = {title for _, title in ALL}
    assert next(iter(ALL)) == ("writer", "Facts")
    assert titles >= {"Names", "Pronouns", "Repetition", "Ambiguity", "Agreement", "Translation"}
    assert ALL.keys() == LOOKS.keys() and {example.model for example in guided_examples()} == set(models.names())
    for example in guided_examples():
        assert example.look.startswith("Look for ") and example.look.endswith(".") and len(example.look) <= 120, (
            "one line beside the page's name"
        )


@pytest.mark.parametrize("key", ALL, **NAMES)
def test_a_head_looks_where_its_example_says(key):
    example = ALL[key]
    for start, end, least, most in LOOKS[key]:
        assert f"{example.link['layer']} {example.link['head']}" in example.look
        given = {"layer": int(example.link["layer"][1:]), "head": int(example.link["head"][1:]), "from": start, "to": end}
        given |= {"kind": "cross"} if example.model == "translator" else {}
        value = answer(models.load(example.model), "weight", example.text, example.link.get("target", ""), **given).value
        assert least <= value <= most


@pytest.mark.parametrize("key", GUESSES, **NAMES)
def test_the_first_guess_is_what_its_example_says(key):
    example = ALL[key]
    assert answer(models.load(example.model), "likeliest token", example.text).value == GUESSES[key]
    assert ("first guess" in example.look) == (example.page == "type"), "page Attention shows no guess"


def test_the_menu_offers_what_the_level_can_show(monkeypatch):
    writer = models.load("writer").info
    every = [example.title for example in guided_examples() if example.model == "writer"]
    for level, titles in (("beginner", ["Facts"]), ("intermediate", every), ("expert", every)):
        monkeypatch.setattr(examples.state, "level", lambda level=level: level)
        assert [example.title for example in examples.for_menu(writer)] == titles


def test_what_the_sentences_say_beside_that():
    cat, mat = (
        answer(models.load("writer"), "weight", ALL["writer", "Ambiguity"].text, layer=4, head=4, **{"from": "it"}, to=to).value
        for to in ("cat", "mat")
    )
    assert cat > 10 * mat
    writer, text = models.load("writer"), ALL["writer", "A word comes back"].text
    ball = writer.predict(text)[0].id
    chances = [writer.chances(writer.trace(text, edits=edits).logits[-1])[ball] for edits in ((), [Head(5, 1)])]
    assert [f"{100 * chance:.0f}" for chance in chances] == ["77", "30"]
    example = ALL["translator", "Translation"]
    trace = models.load("translator").trace(example.text, example.link["target"])
    cross, rows = trace.attention["cross"][2][3], [token.text.strip() for token in trace.target]
    keys = [token.text.strip() for token in trace.tokens]
    looked = {row: keys[int(weights.argmax())] for row, weights in zip(rows, cross, strict=True)}
    assert (looked["Le"], looked["chat"]) == ("cat", "black"), "the rows that said “chat” and “noir”"
    asked = models.load("sorter").predict(ALL["sorter", "Question or statement"].text)
    assert (asked[0].text, models.load("sorter").info.labels.first) == ("question", True)
    tea = models.load("filler").trace(ALL["filler", "Both sides"].text)
    assert [token.text.strip() for token in tea.tokens].index("[MASK]") < [token.text.strip() for token in tea.tokens].index(
        "tea"
    )


@pytest.mark.parametrize("case", guided_examples(), ids=lambda item: f"{item.model} {item.title}")
def test_one_press_shows_it(monkeypatch, case):
    app = open_link("train", f"model={case.model}&level=beginner")
    pressed = {}
    monkeypatch.setattr(st, "session_state", pressed)
    examples.open_example(case)
    monkeypatch.undo()
    app.session_state["lesson-next"] = pressed["lesson-next"]
    app.run()
    assert f"# {case.page.capitalize()}" in words_on(app) and examples.as_markdown(case) in words_on(app)
    chosen = {"text": case.text, "level": case.level, "target": case.link.get("target", ""), "view": case.link.get("view", "")}
    chosen |= {name: int(case.link[name][1:]) for name in ("layer", "head") if name in case.link}
    for name, value in chosen.items():
        assert not value or app.session_state[name] == value, name
    assert not app.warning and not app.error and not app.exception
    app.text_input(key="text").set_value("Something else").run()
    app._page_hash = calc_hash("type")
    app.run()
    assert "Look for" not in words_on(app), "of another text it says nothing"


def test_a_link_to_an_example_says_what_to_look_for_and_leads_on_to_the_lesson(monkeypatch):
    example = ALL["writer", "Repetition"]
    link = f"text={example.text}&level=intermediate&view=Head&layer=L4&head=H5"
    app = open_link("attention", link)
    assert plain(example.look) in words_on(app)
    assert plain(example.look) not in words_on(open_link("attention", link.replace("H5", "H6"))), (
        "another head does something else"
    )
    next(button for button in app.button if button.key == "example-then").click().run()
    assert files.find(example.then).steps[0].title in words_on(app) and app.session_state["lesson"] == "find"
    text = files.find("find").steps[1].link["text"]
    monkeypatch.setattr(examples, "guided_examples", lambda: (replace(example, text=text),))
    link = link.replace(example.text, text)
    assert plain(example.look) in words_on(open_link("attention", link))
    assert plain(example.look) not in words_on(open_link("attention", f"{link}&lesson=find&step=2")), (
        "the lesson asks for just that"
    )


def test_a_text_without_a_purpose_stays_on_its_page(monkeypatch):
    info = models.load("writer").info
    monkeypatch.setattr(st, "session_state", {"example": text_boxes.examples(info)[1], "token": 3})
    text_boxes.take_example(info)
    assert st.session_state["text"] == text_boxes.examples(info)[1] and st.session_state["token"] is None
    assert "lesson-next" not in st.session_state


@pytest.fixture(scope="module", params=["repeat", "copy", "reverse", "sort", "dates", "add", "brackets", "text"])
def made(request) -> tuple[Training, trainings.Trained]:
    """A small model of each task, after a few steps."""
    task = (
        TASKS["text"]("The cat sat on the mat, and the dog sat on the cat.")
        if request.param == "text"
        else TASKS[request.param]()
    )
    training = Training(task, TransformerConfig(**SIZES | {"d_model": 16, "heads": 2, "d_ff": 16}), Budget(rows=2, steps=4))
    training.advance(4)
    return training, trainings.write_model(f"{len(request.param)}abcdef{ord(request.param[0]):x}", training)


def test_a_trained_model_says_what_to_look_for_with_the_number_that_its_head_has(made):
    training, trained = made
    own = examples.trained_example(trained.name)
    layer, head, share = trained.reads
    assert own and own.text == trained.examples[0] and own.title == training.task.name.capitalize() and own.page == "attention"
    assert f"L{layer} H{head} gives it" in own.look and len(own.look) <= 130
    assert own.link == {"view": "Head", "layer": f"L{layer}", "head": f"H{head}"}
    newest = training.snapshots[-1]
    if training.task.name in ("text", "repeat"):
        scores = newest.previous if training.task.name == "text" else newest.induction
        assert share == scores[layer, head] == scores.max()
        return
    from models.scratch.model_folder import from_folder

    given, answered = training.probe
    trace = from_folder(trained.folder, "mine").trace(given + answered[:-1])
    weights = trace.attention["self"]
    spelt = [token.text for token in trace.tokens]
    assert len(spelt) == len(given + answered), "the start, and a token for each character"
    rows = [(len(given) + at, [i for i in range(1, len(given) + 1) if spelt[i] == sign]) for at, sign in enumerate(answered)]
    every = [
        np.mean([weights[layer][:, row, keys].sum(-1) for row, keys in rows if keys], axis=0) for layer in range(weights.layers)
    ]
    assert share == pytest.approx(np.max(every), abs=2e-3) and every[layer][head] == pytest.approx(share, abs=2e-3)


def test_from_a_model_that_learned_to_repeat_one_press_leads_to_the_like_head_of_the_writer(monkeypatch):
    monkeypatch.setattr(
        examples, "trained_example", lambda name: Example("Repeat", "Look for …", "abcab", name, "attention", HEAD)
    )
    app = open_link("attention", "text=abcab&level=intermediate&layer=L1&head=H0")
    next(button for button in app.button if button.label == "Find this head in the writer").click()
    monkeypatch.undo()
    app.run()
    like = ALL["writer", "Repetition"]
    assert plain(like.look) in words_on(app) and (app.session_state["layer"], app.session_state["head"]) == (4, 5)
    assert answer(models.load("writer"), "head that looks most", like.text, at="induction").value == "L4 H5"
    assert examples.find_counterpart(Example("Copy", "Look for …", "abc", "", "attention")) is None, (
        "only that task takes an induction head"
    )


def test_who_comes_for_the_first_time_is_offered_a_beginning_once():
    def offered(app):
        return {button.label for button in app.button} & {"Look around", "Lesson 1"}

    app = open_link("type")
    assert len(offered(app)) == 2
    next(button for button in app.button if button.label == "Look around").click().run()
    assert not offered(app) and not offered(app.run()) and "# Type" in words_on(app)
    app = open_link("type")
    next(button for button in app.button if button.key == "welcome-lesson").click().run()
    assert not offered(app) and files.find("tokens").steps[0].title in words_on(app)
    app = open_link("type")
    app.text_input(key="text").set_value("A dog").run()
    assert len(offered(app.run())) == 2, "who types may still want to be shown around"
    app = open_link("type")
    for page, key in (("lessons", "begin-tokens"), ("type", "lesson-close")):
        app._page_hash = calc_hash(page)
        app.run()
        next(button for button in app.button if button.key == key).click().run()
    assert "# Type" in words_on(app) and not offered(app), "who began a lesson from the list has begun too"
    for page, link in (("type", "text=A+dog"), ("type", "level=expert"), ("attention", ""), ("type", "lesson=tokens")):
        assert not offered(open_link(page, link)), "the link says where to go"
