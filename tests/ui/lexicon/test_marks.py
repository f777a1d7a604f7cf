"""Words of the field are marked where they first stand on a page, and nothing that a visitor wrote is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui import state
from ui.lexicon import files, marks
from ui.lexicon.marks import capitalize_heads
from ui.words import mark_again, mark_head, words

PAGE = """## line
Each layer has heads, and each head gives attention.

## again
A head of another layer, in “{word}”, and {head}.

## title
What a head looks at

## passed
Choose “Head” on page Attention at *Expert*: `layer`, $head$, and attention-like. {layer} is no word, nor is a key press.

## both
In L{layer} H{head}, where {verdict} is said.
"""


@pytest.fixture
def say(tmp_path, monkeypatch):
    """`say(heading, **values)`: what a page says, as long as this visitor has it open."""
    held: dict[str, object] = {"explained": {}}
    monkeypatch.setattr(state.st, "session_state", held)
    (tmp_path / "beginner.md").write_text(PAGE, "utf-8")
    return lambda heading, **values: words(tmp_path, heading, **values)


LINE = "Each [layer](#w-layer) has [heads](#w-head), and each head gives [attention](#w-attention)."


def test_a_word_is_marked_where_it_stands_first_and_there_again_when_it_is_said_again(say):
    assert say("line") == LINE
    assert say("again", word="x", head="L2 H1") == "A head of another layer, in “x”, and [L2 H1](#w-head-name)."
    assert say("line") == LINE


def test_titles_names_code_and_other_senses_are_left_as_they_are(say):
    assert say("title") == "What a head looks at"
    assert "#w-" not in say("passed", layer="attention")


def test_no_mark_comes_from_what_is_filled_in(say):
    assert (
        say("again", word="attention", head="a head")
        == "A [head](#w-head) of another [layer](#w-layer), in “attention”, and a head."
    )
    typed = "[attention](#w-attention)"
    assert say("again", word=typed, head="").endswith(f"in “\\{typed}”, and .")
    inner = say("line")
    both = say("both", layer=2, head=1, verdict=inner)
    assert both == f"In [L2 H1](#w-head-name), where {inner} is said.", "the page's own words may be"


@given(st.text(max_size=60))
def test_whatever_is_filled_in_makes_no_mark(text):
    made = marks.escape_marks(text)
    assert made.replace("\\[", "[") == text.replace("\\[", "[")
    assert not marks.re.search(r"(?<!\\)\[[^\]]*\]\(#w-", made)


def test_a_heads_kind_has_a_capital_where_it_begins(say):
    assert say("both", layer=2, head=1, verdict="x").startswith("In [L2 H1]")
    assert capitalize_heads("[cross L2 H1](#w-head-name) looks.") == "[Cross L2 H1](#w-head-name) looks."


def test_a_part_that_runs_again_may_mark_elsewhere(say):
    own: set[str] = set()
    with mark_again(own):
        say("again", word="", head="")
    assert own == {"head", "layer"}
    with mark_again(own):
        assert say("line") == LINE
    assert own == {"head", "layer", "attention"}


def test_a_title_can_say_a_head_in_words(say):
    assert mark_head("Cross L2 H1") == "[Cross L2 H1](#w-head-name)"
    assert mark_head("cross L3 H1") == "cross L3 H1", "once is enough"


def test_every_form_of_every_word_is_found_in_a_sentence(say):
    for entry in files.entries().values():
        for form in (entry.word, *entry.also):
            assert [spot.name for spot in marks.spots(f"Here is {form} in words.")] == [entry.name], form


@pytest.mark.parametrize(
    "words",
    [
        "See at every key what it is.",  # of the keyboard
        "Move it with the arrow keys.",
        "The bar is drawn up to its largest value.",
        "The absolute value hides the sign.",
        "Each part is given what it adds (Owen values).",
        "Predictions are made at masks, and this text has none.",  # the sign for a gap, and not what hides the future
        "This token is not masked.",
    ],
)
def test_a_word_of_everyday_or_of_another_thing_is_not_marked(words):
    assert not {spot.name for spot in marks.spots(words)} & {"key", "value", "mask"}
