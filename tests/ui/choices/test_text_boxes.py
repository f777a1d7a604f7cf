"""Each model that ships has examples that it can do something with."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from tokenizers import Tokenizer

import models
from models.catalog import ORDER, WEIGHTS
from models.info import ModelInfo
from models.scratch.signs import MASK, START
from models.tokens import ByteLevelTokens
from models.training.corpus import with_mask
from tests.serving import ROOT
from ui.choices import text_boxes
from ui.choices.text_boxes import EXAMPLES, LONGEST, follow, offer
from ui.state import DEFAULT_TEXT

WRITER = ModelInfo("writer", "decoder", 6, 8, 8, 256, 8192, 256, 1, "Headlight")
FILLER = replace(WRITER, name="filler", kind="encoder", mask=MASK)
TRANSLATOR = replace(WRITER, name="translator", kind="encoder-decoder")
FOUND = ("time", "Paris", "door", "cup", "tree", "eyes", "ball")  # what stands at the filler's masks


def test_there_are_examples_for_each_kind_and_what_ships():
    ours = {"filler", "translator", "sorter", "image", "photo"}
    assert EXAMPLES.keys() == {"decoder", "encoder", "encoder-decoder", "classifier", *ours}
    assert set(ORDER) - {"writer"} <= EXAMPLES.keys() and DEFAULT_TEXT in EXAMPLES["decoder"]
    assert EXAMPLES["decoder"][1] == "The capital of France is", "a fact comes early"
    for examples in EXAMPLES.values():
        assert len(set(examples)) == len(examples) >= 3 and not any(
            re.search(r"\s\s|\n|^\s|\s$", example) for example in examples
        )


@pytest.mark.parametrize("kind", ["encoder", "filler"])
def test_an_encoder_has_one_thing_to_find(kind):
    assert all(example.count("MASK") == 1 and example.endswith((".", "?", "!")) for example in EXAMPLES[kind])


@pytest.mark.parametrize(("example", "word"), list(zip(EXAMPLES["filler"], FOUND, strict=True)))
def test_what_the_filler_should_find_is_one_of_its_tokens(example, word):
    """One mask is one token; the mask takes the space before it along."""
    words = Tokenizer.from_file(str(WEIGHTS / "writer" / "tokenizer.json"))
    tokens = ByteLevelTokens(with_mask(words), START, mask=MASK)
    (mask,) = (token for token in tokens.body(example.replace("MASK", MASK)) if token.special)
    before = example.index(" MASK")
    assert (mask.start, mask.end) == (before, before + 1 + len(MASK))
    assert [token.text for token in tokens.body(example.replace("MASK", word)) if token.start == before] == [f" {word}"]


def test_the_translator_gets_plain_short_sentences():
    """It was trained on pairs of at most twelve English words."""
    for example in EXAMPLES["translator"]:
        assert len(re.findall(r"[\w']+", example)) <= 12 and re.fullmatch(r"[A-Z][a-zA-Z' ]+[.?]", example)


@pytest.mark.parametrize(
    ("before", "text", "after", "next"),
    [
        (WRITER, DEFAULT_TEXT, TRANSLATOR, EXAMPLES["translator"][0]),
        (TRANSLATOR, EXAMPLES["translator"][0], FILLER, EXAMPLES["filler"][0].replace("MASK", MASK)),
        (FILLER, EXAMPLES["filler"][0].replace("MASK", MASK), WRITER, DEFAULT_TEXT),
        (WRITER, "My own words.", TRANSLATOR, None),
        (WRITER, DEFAULT_TEXT, replace(FILLER, name="bert"), None),
    ],
)
def test_the_text_that_nobody_typed_gives_way_to_that_of_the_next_model(monkeypatch, before, text, after, next):
    monkeypatch.setattr(st, "session_state", {"text": text})
    follow(before, after)
    assert st.session_state.get("text-next") == next


def test_an_offered_text_is_for_one_model_and_never_takes_the_place_of_ones_own(monkeypatch):
    toy = replace(WRITER, name="/tmp/toy")
    monkeypatch.setattr(st, "session_state", {"text": DEFAULT_TEXT})
    assert offer("abcab", toy.name) and st.session_state["text"] == "abcab"
    follow(WRITER, toy)
    assert "text-next" not in st.session_state, "it stays for the model that it is for"
    follow(toy, WRITER)
    assert st.session_state["text-next"] == DEFAULT_TEXT
    st.session_state["text"] = "My own words."
    assert not offer("abcab", toy.name) and st.session_state["text"] == "My own words."


def test_a_text_of_any_length_is_cut_to_what_the_box_holds_and_that_is_said(monkeypatch):
    def page():
        from models.info import ModelInfo
        from ui.choices import text_boxes

        text_boxes.write(ModelInfo("writer", "decoder", 6, 8, 8, 256, 8192, 256, 1, "Headlight"))

    app = AppTest.from_function(page, default_timeout=60).run()
    assert not app.info
    text = "".join(f"{number} " for number in range(LONGEST // 4))
    app.text_input(key="text").set_value(text).run()
    assert app.text_input(key="text").value == text[-LONGEST:] and app.session_state["text-last"] == text[-LONGEST:]
    assert [element.value for element in app.info] == [
        f"The box holds at most 100,000 characters, so the first {len(text) - LONGEST:,} of your text are left out. "
        "A link carries at most 6,000 characters, so this text is not in the address: "
        "to share it, send the text together with the link."
    ]
    app.text_input(key="text").set_value("x" * 220_000).run()  # the most that a browser passes on, of a text of any length
    assert app.info[0].value.startswith("The box holds at most 100,000 characters, so all but the last 100,000 of your text are")
    app.text_input(key="text").set_value("The cat").run()
    assert not app.info and not app.exception
    monkeypatch.setenv("HEADLIGHT_TEXT", "10")  # as a public host may bound it
    app.text_input(key="text").set_value("The dog ran into the garden").run()
    assert app.session_state["text-last"] == "the garden" and "at most 10 characters" in app.info[0].value


def test_what_was_typed_stays_when_its_run_ends_before_the_box_is_placed():
    """As when somebody types the last letter and presses another page: that page's address says nothing of the text yet."""

    def page():
        from contextlib import nullcontext
        from unittest.mock import patch

        import streamlit as st

        from models.info import ModelInfo
        from ui.choices import text_boxes
        from ui.state import Key

        late = st.session_state.get("text") == "The cat sat" and "again" not in st.session_state
        if late:
            st.session_state["again"] = True
        interrupted = patch.object(st, "text_input", lambda *_, **__: st.rerun()) if late else nullcontext()
        with patch.object(Key, "in_address", None), interrupted:
            text_boxes.write(ModelInfo("writer", "decoder", 6, 8, 8, 256, 8192, 256, 1, "Headlight"))

    app = AppTest.from_function(page, default_timeout=60).run()
    for text in ("The cat sa", "The cat sat"):
        app.text_input(key="text").set_value(text).run()
    assert "again" in app.session_state and app.text_input(key="text").value == "The cat sat"


def test_the_languages_of_a_translator_are_chosen_beside_the_boxes_and_stand_in_them():
    def page() -> None:
        import streamlit as st

        from models.info import ModelInfo
        from ui.choices.text_boxes import write

        facts = ModelInfo("m", "encoder-decoder", 1, 1, 1, 1, 1, None, 1, "", languages=("de", "fr"))
        text, second, _ = write(facts, answers=False)
        st.text(f"{text}|{second}")

    app = AppTest.from_function(page, default_timeout=60)
    app.query_params["text"], app.query_params["target"] = "the cat", "le chat"
    app.run()
    menus = {menu.label: menu for menu in app.selectbox}
    assert [(menu.value, menu.options) for menu in menus.values()] == [("", ["not chosen", "de", "fr"])] * 2
    menus["To"].select("fr").run()
    assert app.text[0].value == "the cat|__fr__ le chat"
    next(menu for menu in app.selectbox if menu.label == "From").select("de").run()
    assert app.text[0].value == "__de__ the cat|__fr__ le chat"
    app.text_input[1].set_value("__de__ die Katze").run()
    assert [menu.value for menu in app.selectbox] == ["de", "de"], "a sign that is typed is a choice too"
    app.selectbox[1].select("").run()
    assert app.text[0].value == "__de__ the cat|die Katze"
    assert not app.exception


def test_every_box_takes_only_so_many_characters():
    """Streamlit cuts what a program sends to as many. The two boxes of texts do it themselves, and say so; of the code of a room
    page Room reads only the beginning."""
    calls = []
    for file in (file for folder in ("ui", "pages") for file in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("text_input", "text_area", "chat_input"):
                calls.append((file.relative_to(ROOT).as_posix(), {keyword.arg for keyword in node.keywords}))
    assert len(calls) > 8, "else this test has lost its subject"
    assert [file for file, keywords in calls if "max_chars" not in keywords] == ["ui/choices/text_boxes.py", "pages/room/page.py"]


def test_what_is_cut_off_for_a_guess_after_an_earlier_token_is_named(monkeypatch):
    notices, texts = [], []
    monkeypatch.setattr(text_boxes.state, "box_text", lambda key: "The cat sat on the mat")
    monkeypatch.setattr(text_boxes, "change", lambda key, text: texts.append(text))
    monkeypatch.setattr(text_boxes.state.TOKEN.__class__, "set", lambda key, value: None)
    monkeypatch.setattr(st, "toast", lambda words, icon: notices.append(words))
    cat, *_, mat = models.load("writer").tokenize("The cat sat on the mat")[2:]
    text_boxes.cut_after(cat, text_boxes.state.TEXT)
    text_boxes.cut_after(mat, text_boxes.state.TEXT)
    assert texts == ["The cat", "The cat sat on the mat"]
    assert notices == ["“sat on the mat” is gone, because the guess follows an earlier token."]
