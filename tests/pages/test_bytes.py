"""A token that holds a byte of a character is named in plain words, in bars and texts for beginners and in the menus of all."""

from __future__ import annotations

import numpy as np
import pytest

import models
from pages.generate import recipes as generated
from pages.inside import recipes as inside
from pages.type import recipes as typed
from tests.pages.taking import header, opened
from ui.lessons import files

TEXT, BEGUN = "My name is Müller.", "Je m'appelle M"


@pytest.mark.parametrize("simple", [True, False])
def test_bars_name_a_byte_in_plain_words_to_beginners_alone(simple):
    model = models.load("translator")
    trace = model.trace(TEXT, BEGUN)
    place = len(trace.read) - 1
    words = {"ids": [], "target": BEGUN, "chat": False}
    drawn = [
        typed.bars(model, trace, position=place, count=10, temperature=1.0, scores=not simple),
        generated.bars(model, trace, answer=words, strategy={}, count=10, simple=simple),
        inside.choice(model, trace, token=place, top=10, plainly=simple),
    ]
    for view in drawn:
        assert (b"<0xC3>" not in view.data and b"part of a character" in view.data) == simple


def test_the_hint_on_an_emoji_names_what_a_beginner_sees_below_its_chip():
    step = files.find("tokens").steps[3]
    trace = models.load("writer").trace(step.link["text"])
    quiet = {"ids": False, "positions": False, "surprising": False}
    view = typed.chips(trace, target=False, special=True, simple=True, chosen=None, link="", **quiet)
    assert b"4 bytes" in view.data and step.question.expect == 4
    assert step.question.hint.startswith("Below the emoji’s chip stands how many bytes it has")


def test_beside_what_the_model_says_no_bytes_are_counted_for_beginners():
    trace = models.load("translator").trace(TEXT, "Müller")
    quiet = {"special": True, "chosen": None, "link": "", "ids": False, "positions": False, "surprising": False}
    typed_text, target = (typed.chips(trace, target=target, simple=True, **quiet) for target in (False, True))
    assert b"2 bytes" in typed_text.data and b"bytes" not in target.data and "ü".encode() in target.data


def spoken(model, word: str) -> dict:
    """A word that the translator is given to say."""
    ids = [token.id for token in model.trace(TEXT, word).target[1:]]
    return {"ids": ids, "target": "", "chat": False}


@pytest.mark.parametrize("simple", [True, False])
def test_a_generated_character_of_several_tokens_is_one_piece_for_beginners(simple):
    model = models.load("translator")
    trace, answer = model.trace(TEXT, "Müller"), spoken(model, "Müller")
    options = {"more": False, "kind": "decoder", "layer": 0, "head": 0, "chosen": 0, "simple": simple}
    text = header(generated.text(model, trace, answer=answer, **options))
    branch = header(generated.branch(model, trace, answer=answer, at=0, simple=simple))
    for drawn in (text, branch):
        pieces = ["".join(piece) for piece in drawn["tokens"]]
        assert ("ü" in pieces and not any("<0x" in piece for piece in pieces)) == simple
        assert ("<0xC3>" in pieces) != simple


def test_the_chance_of_a_character_is_that_of_all_its_tokens():
    model = models.load("translator")
    trace, answer = model.trace(TEXT, "Müller"), spoken(model, "Müller")
    steps = generated.generate_again(model, trace, answer, False)
    whole, groups = generated.in_text([step.token for step in steps], simple=True)
    at = [token.text for token in whole].index("ü")
    assert len(groups[at]) == 2
    each = generated.chances(steps)
    quantity = header(generated.branch(model, trace, answer=answer, at=0, simple=True))["quantity"]["words"]
    share = float(quantity[at].partition("\u00a0")[0].removeprefix("under "))
    np.testing.assert_allclose(share, 100 * each[groups[at][0]] * each[groups[at][1]], rtol=0.01, atol=0.001)


def test_a_character_of_bytes_is_one_piece_in_the_text_and_in_the_answer():
    model = models.load("translator")
    trace, answer = model.trace(TEXT, "Müller"), spoken(model, "Müller")
    options = {"more": False, "kind": "cross", "layer": 1, "head": 0, "chosen": 0}
    whole, each = (header(generated.text(model, trace, answer=answer, simple=simple, **options)) for simple in (True, False))
    assert len(whole["tokens"]) == len(each["tokens"]) - 2


LINKS = {  # each page with a menu of tokens: where the model hesitates among bytes, or of a text that has some
    "explain": f"target={BEGUN}",
    "flow": f"target={BEGUN}",
    "change": f"experiment=What+wrote+it&target={BEGUN}",
    "attention": "view=Query-key&attention=Decoder&target=Müller",
    "change, a row": "attention=Decoder&target=Müller",
    "change, two texts": "experiment=Two+texts&other-text=My+name+is+Anna.&target=Müller",
}


@pytest.mark.parametrize("name", LINKS)
def test_no_menu_offers_a_raw_byte(monkeypatch, name):
    app, _ = opened(monkeypatch, name.partition(",")[0], f"model=translator&level=expert&text={TEXT}&{LINKS[name]}")
    options = [option for box in app.selectbox for option in box.options]
    assert any("part of a character (byte C3)" in option for option in options), options
    assert not any("<0x" in option or "Ã" in option for option in options)
