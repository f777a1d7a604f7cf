"""The part Order of page Inside: it opens for every kind of model, and says what it cannot do."""

from __future__ import annotations

import numpy as np
import pytest

import models
from pages.inside import state as page_state
from pages.inside.boards import order
from pages.inside.compose import ORDER
from pages.inside.order import choose, drawings, kept, recipes, sentences
from tests.analysis import test_inside_models as seen
from tests.grids import grid
from tests.models.networks import NETWORKS
from tests.pages.opening import open_link, words_on
from ui import state
from ui.lexicon.marks import sections
from ui.look import Look
from ui.picture.board import Draft

TEXT = "The cat sat on the mat"


@pytest.mark.parametrize("level", grid(state.LEVELS, ["intermediate"]))
@pytest.mark.parametrize(
    ("link", "swapped"),
    [
        (f"text={TEXT}", "0.2.1.3.4.5"),
        ("model=filler&text=The [MASK] sat on the mat", "0.5.2.3.4.1"),
        ("model=translator&text=The cat sleeps here.&target=Le", "0.3.2.1"),
        ("model=translator&text=The cat sleeps here.&attention=Encoder", "0.3.2.1"),
        ("model=translator&text=The cat sleeps here.&target=Le&attention=Decoder", "0.3.2.1"),
    ],
)
def test_it_opens_for_our_models_with_an_order_and_as_typed(level, link, swapped):
    for more in ("", f"&word-order={swapped}"):
        app = open_link("inside", f"{link}&level={level}&stage=order{more}")
        assert not app.warned and app.session_state["stage"] == "order"
        assert {"As typed", "Shuffle"} <= {button.label for button in app.button}


@pytest.mark.parametrize("asked", ["9.9", "0.1", "a.b", "-1", "0.1.2.3.4.5.6", "٠.١.٢.٣.٤.٥", "0.2.1.3.4.4", "1" * 5000])
def test_nonsense_in_a_link_is_told_of_and_ignored(asked):
    app = open_link("inside", f"text={TEXT}&stage=order&word-order={asked}")
    assert any("the order of the words" in warning for warning in app.warned)
    assert app.session_state[page_state.WORD_ORDER.name] == "" and "“sat” and “the” have changed places" in words_on(app)


def test_it_opens_with_two_words_exchanged_and_a_link_can_ask_for_the_order_as_typed():
    assert "have changed places" in words_on(open_link("inside", f"text={TEXT}&stage=order"))
    app = open_link("inside", f"text={TEXT}&stage=order&word-order={choose.TYPED}")
    assert "as you typed them" in words_on(app) and not app.warned
    assert [choose.exchanged(count) for count in (2, 3, 10)] == [(1, 0), (0, 2, 1), (0, 1, 2, 6, 4, 5, 3, 7, 8, 9)]


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "no two words"), ("word", "no two words"), ("   ", "no two words"), ("word " * 300, "longer than writer")],
)
def test_what_cannot_be_moved_is_said(text, words):
    app = open_link("inside", f"text={text}&stage=order&level=intermediate")
    assert words in words_on(app) and not any(button.label == "Shuffle" for button in app.button)


def test_a_long_text_is_shown_around_the_token_that_is_followed():
    app = open_link("inside", f"text={'the cat and ' * 60}&stage=order&level=intermediate&token=100")
    assert not app.error and not app.warned


def test_too_many_words_are_refused_before_anything_is_read(monkeypatch):
    monkeypatch.setattr(order, "MOST", 5)
    monkeypatch.setattr(kept, "read", lambda *arguments: pytest.fail("it was read"))
    app = open_link("inside", f"text={TEXT}&stage=order")
    assert "6 words" in words_on(app) and not any(button.label == "Shuffle" for button in app.button)


def test_a_press_shuffles_and_another_brings_the_text_back():
    app = open_link("inside", f"text={TEXT}&stage=order&level=intermediate")
    next(button for button in app.button if button.label == "Shuffle").click().run()
    first = app.session_state["word-order"]
    assert first.startswith("0.") and choose.read(first, 6) is not None  # the first word would become another token
    next(button for button in app.button if button.label == "Shuffle").click().run()
    assert app.session_state["word-order"] not in (first, "") and app.session_state["order-seed"] == 2
    next(button for button in app.number_input if button.label == "Seed").set_value(1).run()
    assert app.session_state["word-order"] == first
    next(button for button in app.button if button.label == "As typed").click().run()
    assert app.session_state["word-order"] == choose.TYPED and not app.error


def test_an_order_of_another_text_is_let_go():
    app = open_link("inside", f"text={TEXT}&stage=order&word-order=0.2.1.3.4.5")
    app.text_input[0].set_value("Three words only").run()
    assert app.session_state["word-order"] == "" and not app.warning and not app.error


@pytest.mark.parametrize("name", ["GPT-2", "Falcon", "BLOOM", "BERT", "BERT without a head", "XLNet", "T5", "BART"])
def test_a_model_of_the_hub_is_shown_as_it_is(name):
    assert name in NETWORKS
    model = seen.model(name)
    trace = model.trace("one two three")
    look = Look(model, trace, "cross" if model.info.kind == "encoder-decoder" else "self", "expert", picked=(0, 1))
    read = kept.read(model, trace, "", (0, 2, 1))
    assert list(read.orders) == [True] and read.note == "hub"
    cards, pictures = order.compare(Draft(ORDER, look), (0, 2, 1), read.orders)
    assert "without" not in name or any("language-model head" in part.above for card in cards for part in card.parts)
    assert all(drawing.drawn.data and drawing.numbers() for drawing in pictures)


def test_what_is_read_is_kept_for_each_visitor_and_goes_with_its_model():
    writer = models.load("writer")
    trace = writer.trace(TEXT)
    first = kept.readings("me", writer, trace, "", (0, 2, 1, 3, 4, 5))
    assert kept.readings("me", writer, trace, "", (0, 2, 1, 3, 4, 5)) is first and first.bytes > 0
    assert kept.readings("me", writer, trace, "", (0, 1, 2, 3, 4, 5)) is not first
    kept.forget(writer)
    assert "me" not in kept.store.owners


def test_the_end_and_the_followed_token_are_compared_where_they_differ():
    writer = models.load("writer")
    trace = writer.trace(TEXT)
    look = Look(writer, trace)
    reading = recipes.read(writer, trace, [0, 5, 2, 3, 4, 1], "", True)
    assert drawings.spots(look, reading) == {"end": (6, 6), "token": (6, 2)}
    assert drawings.spots(Look(writer, trace, chosen_token=2), reading) == {"end": (6, 6), "token": (2, 6)}
    same = recipes.read(writer, trace, [0, 2, 1, 3, 4, 5], "", True)
    assert drawings.spots(look, same) == {"end": (6, 6)}


def test_all_levels_say_the_same_things():
    headings = [set(sections(ORDER / f"{level}.md")) for level in state.LEVELS]
    assert headings[0] == headings[1] == headings[2]


def test_what_is_said_of_a_decoder_is_of_the_token_that_is_followed():
    writer = models.load("writer")
    look = Look(writer, writer.trace(TEXT), level="expert", chosen_token=6)
    draft = Draft(ORDER, look)
    bare = recipes.read(writer, look.trace, [0, 2, 1, 3, 4, 5], "", False)
    changes = bare.changes("self")
    assert recipes.power(float(changes[-1, 6])) in sentences.say_example(draft, bare) and changes[-1, 6] > 1e-3
    assert "same set" in sentences.say_example(draft, recipes.read(writer, look.trace, list(range(6)), "", False))


def test_what_became_another_piece_is_no_difference_of_a_map():
    filler = models.load("filler")
    look = Look(filler, filler.trace("The cat sat"), picked=(0, 0))
    reading = recipes.read(filler, look.trace, [1, 0, 2], "", True)
    before, after = reading.maps("self", 0, 0, False)
    most = np.nanmax(np.abs(before - after))
    assert (
        reading.changed == (0, 1)
        and most < 0.5
        and sentences.percent(float(most)) in sentences.say_gap(Draft(ORDER, look), reading)
    )


@pytest.mark.parametrize(("value", "text"), [(4.2e-7, "4.2 · 10⁻⁷"), (0.5, "5.0 · 10⁻¹"), (0, ""), (np.nan, "")])
def test_a_small_number_is_written_with_its_power_of_ten(value, text):
    assert recipes.power(value) == text
