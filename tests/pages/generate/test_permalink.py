"""A link opens the same text again: its tokens, every branch that the link has room for, and the current branch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import Cancelled
from models.generation.strategy import Strategy
from pages.generate import permalink, run
from pages.generate.continuation import MOST, Beginning, Continuation
from tests.pages.generate.test_generate import LINK, board, ids, own, press
from tests.pages.opening import finish, open_link
from ui import state
from ui.memory import loaded

IDS = st.lists(st.integers(0, 300_000), max_size=MOST)


def again(text: str) -> list[list[int]]:
    """Return the ids of each branch, as the page puts them together."""
    (_, first), *_ = lines = permalink.decode(text)
    return [[*first[:shared], *ids] for shared, ids in lines]


@given(st.lists(IDS, min_size=1, max_size=12), st.data())
def test_what_is_written_is_read_back_as_far_as_a_link_holds_it(lines, data):
    current = data.draw(st.integers(0, len(lines) - 1))
    text, number = permalink.encode(lines, current)
    assert len(text) <= state.LINKED
    if not text:
        return
    branches = again(text)
    assert branches[number] == lines[current], "the branch that is shown is there in any case"
    rest = iter(lines)
    assert all(branch in rest for branch in branches), "the others stay in their order"
    alone = sum(8 * (len(line) + 1) for line in lines)
    assert alone > state.LINKED or len(branches) == len(lines)


@pytest.mark.parametrize(
    "text", ["nonsense", "-1", "1-", "1~", "1~5-2", "1--2", "12345678", "~", "1~1-" + "-".join("1" * MOST), "1-" * 4000]
)
def test_nonsense_is_no_continuation(text):
    with pytest.raises(ValueError, match="branch"):
        permalink.decode(text)


def test_a_text_with_branches_opens_again_from_its_own_address():
    link = f"{LINK}&level=intermediate&generate-temperature=1.3&generate-seed=4&generate-tokens=5"
    app = press(open_link("generate", link), "run")
    continuation = app.session_state["generated"]
    other = next(int(id) for id in continuation.steps[2].logits.argsort()[::-1] if id != continuation.steps[2].token.id)
    continuation.branch(2, other)
    press(app, "next")
    address = app.session_state["address"]
    expected = [[step.token.id for step in line] for line in continuation.lines]
    assert len(expected) == 2 and address["generate-branch"] == "1"
    opened = open_link(
        "generate", "&".join([link, *(f"{name}={address[name]}" for name in ("generate-said", "generate-branch"))])
    )
    reopened = opened.session_state["generated"]
    assert [[step.token.id for step in line] for line in reopened.lines] == expected and reopened.current == 1
    for step, original in zip(reopened.lines[0], continuation.lines[0], strict=True):
        assert step.dart == original.dart, "what the strategy draws is drawn"
        assert abs(step.logits - original.logits).max() < 1e-4
    assert reopened.lines[1][2].dart is None, "what was pressed is not"
    assert opened.session_state["address"] == address and not opened.warned


def test_the_token_that_is_looked_at_stands_in_the_link():
    app = press(press(press(open_link("generate", LINK), "next"), "next"), "next")
    app.session_state["generated"].at = 1
    app.run()
    address = app.session_state["address"]
    opened = open_link("generate", f"{LINK}&generate-said={address['generate-said']}&generate-at={address['generate-at']}")
    assert opened.session_state["generated"].at == 1 and "Here the model said" in board(opened) and not opened.warned
    press(opened, "next")
    assert opened.session_state["address"]["generate-at"] is None


def test_a_search_opens_again_at_the_step_that_was_shown():
    link = f"{LINK}&level=intermediate&generate-method=Beams&generate-beams=2&generate-tokens=4&generate-searched=3"
    continuation = open_link("generate", link).session_state["generated"]
    assert len(continuation.search) == 4 and continuation.reached == 3


def test_an_answer_that_was_said_again_opens_as_it_was():
    app = open_link("generate", "model=translator")
    assert app.session_state["target"], "the translator begins with an example and its answer"
    press(app, "next")
    text, target, address = app.session_state["text"], app.session_state["target"], app.session_state["address"]
    assert address["generate-own"] == "true"
    link = {"model": "translator", "text": text, "target": target, **{name: value for name, value in address.items() if value}}
    opened = open_link("generate", "&".join(f"{name}={value}" for name, value in link.items()))
    continuation = opened.session_state["generated"]
    assert continuation.beginning == Beginning("translator", text) and ids(opened) == ids(app) and len(ids(app)) == 1


@pytest.mark.parametrize(
    ("link", "complaint"),
    [
        ("generate-said=words", "a continuation “words”"),
        ("generate-said=5-6&generate-branch=1", "the branch “1”"),
        ("generate-said=5&generate-at=1", "the token “1”"),
        ("generate-searched=-1", "the step of a search “\\-1”"),
        ("generate-said=9999999", "writer has no token 9999999"),
    ],
)
def test_a_continuation_that_does_not_exist_is_told_of(link, complaint):
    app = open_link("generate", f"{LINK}&{link}")
    assert [warning for warning in app.warned if complaint in warning] and len(app.session_state["generated"].lines) == 1


def test_another_text_leaves_nothing_of_the_old_one_in_the_address():
    app = press(open_link("generate", LINK), "next")
    assert app.session_state["address"]["generate-said"]
    app.text_input(key="text").set_value("A dog").run()
    assert app.session_state["address"]["generate-said"] is None and "typing" not in app.session_state
    app = open_link("generate", f"{LINK}&level=intermediate&generate-method=Beams&generate-beams=2&generate-tokens=3")
    press(app, "back")
    assert app.session_state["address"]["generate-searched"] == "2"
    app.text_input(key="text").set_value("A dog")
    finish(app.run())
    assert app.session_state["address"]["generate-searched"] == "3" and "typing" not in app.session_state


def test_a_run_that_was_left_goes_on_where_it_was():
    """Somebody looked at another page meanwhile, so the work was cancelled."""
    continuation = Continuation(Beginning("writer", "The cat sat on the mat"))
    continuation.begin(Strategy(), 8)

    def leave(share: float, words: str) -> None:
        if share > 0.3:
            raise Cancelled

    with pytest.raises(Cancelled):
        run._work(continuation.beginning, continuation.run, leave)
    assert 0 < len(continuation.steps) < 8
    run._work(continuation.beginning, continuation.run, lambda share, words: None)
    continuation.end_run()
    assert [step.token.id for step in continuation.steps] == own(Strategy(), 8) and continuation.why == "length"


@pytest.mark.parametrize("why", ["length", "stopped"])
def test_why_it_ended_stands_below_the_text(why):
    app = open_link("generate", f"{LINK}&level=intermediate&generate-tokens=3&generate-method=Always+the+likeliest")
    if why == "length":
        press(app, "run")
    else:
        continuation = app.session_state["generated"]
        continuation.go_on(Strategy())
        continuation.begin(Strategy(), 3)
        continuation.end_run(stopped=True)
        app.run()
    sentences = {"length": "as many tokens as it was asked for", "stopped": "You stopped it here"}
    assert [sentences[reason] in board(app) for reason in sentences] == [reason == why for reason in sentences]
    assert not any(reason in board(press(app, "next")) for reason in sentences.values())


def test_a_model_that_does_not_go_on_offers_one_that_does():
    loaded.model("writer")
    app = press(open_link("generate", "model=filler&text=The+[MASK]+sat"), "switch")
    assert app.session_state["in-use"] == "writer" and not app.button(key="generate-run").disabled
