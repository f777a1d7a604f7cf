"""Page "Generate": a text grows by clicks, as the model itself continues it, and tokens can be removed and tried otherwise."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import escape, way_out
from models.errors import Cancelled
from models.generation.strategy import Strategy
from pages.generate import recipes, run
from pages.generate.boards import notices, search
from pages.generate.compose import HERE
from pages.generate.continuation import Beginning, Continuation, Run
from pages.generate.parts import look_at, step_of, steps_with_next
from pages.generate.recipes import ROWS, encoder_and_decoder_tokens, first_row, likeliest_ids
from tests.models.generation.test_generate import ours
from tests.pages.opening import PATIENCE, finish, open_link, words_on
from ui.look import Look
from ui.memory import loaded
from ui.picture.board import Draft

TEXT = "The cat sat on the mat"
LINK = "text=The+cat+sat+on+the+mat"
GREEDY = f"{LINK}&generate-method=Always+the+likeliest"


def press(app, name: str):
    """Press one of the page's buttons, and wait for what it begins."""
    app.button(key=f"generate-{name}").click().run()
    until = time.monotonic() + PATIENCE
    while app.get("progress") and time.monotonic() < until:
        time.sleep(0.05)
        app.run()
    assert not app.exception and not app.error
    return app


def ids(app) -> list[int]:
    return [step.token.id for step in app.session_state["generated"].steps]


def own(strategy: Strategy, count: int, text: str = TEXT, name: str = "writer") -> list[int]:
    """Return the ids that the model says by itself."""
    return [step.token.id for step in loaded.model(name).generate(text, strategy, count)]


def test_each_press_says_the_next_token_and_a_step_back_takes_it_away():
    app, expected = open_link("generate", GREEDY), own(Strategy(), 3)
    for count in (1, 2, 3):
        assert ids(press(app, "next")) == expected[:count]
    assert ids(press(app, "back")) == expected[:2]
    assert ids(press(app, "next")) == expected
    press(app, "over")
    assert ids(app) == [] and not app.button(key="generate-run").disabled and app.button(key="generate-back").disabled


def test_a_run_draws_what_its_seed_and_controls_say_and_another_seed_something_else():
    link = f"{LINK}&level=intermediate&generate-temperature=1.2&generate-top-k=30&generate-seed=5&generate-tokens=12"
    strategy = Strategy("sampling", temperature=1.2, top_k=30, seed=5)
    assert ids(press(open_link("generate", link), "run")) == own(strategy, 12)
    assert ids(press(open_link("generate", link.replace("seed=5", "seed=6")), "run")) != own(strategy, 12)


def test_a_control_chooses_among_the_same_scores_and_reads_nothing_again(monkeypatch):
    app = press(open_link("generate", f"{LINK}&level=expert"), "next")
    monkeypatch.setattr(loaded, "next_step", lambda *_: pytest.fail("it was read again"))
    first = app.session_state["generated"].next_step
    app.slider(key="generate-temperature").set_value(2.5).run()
    app.number_input(key="generate-top-k").set_value(3).run()
    assert not app.exception and not app.error
    assert app.session_state["generated"].next_step is first
    assert "3 of 8,192 tokens are left" in board(app)


def board(app) -> str:
    """The words of the board, as they are sent to the browser."""
    return "".join(bytes(component.proto.bytes).decode("utf-8", "ignore") for component in app.get("bidi_component"))


def test_another_word_is_a_branch_that_goes_on_from_there_and_the_old_one_is_kept():
    continuation = Continuation(Beginning("writer", TEXT))
    for _ in range(3):
        continuation.go_on(Strategy())
    before = [step.token.id for step in continuation.steps]
    other = next(int(id) for id in continuation.steps[1].logits.argsort()[::-1] if id != before[1])
    continuation.branch(1, other)
    assert continuation.ids == (before[0], other) and len(continuation.lines) == 2
    continuation.go_on(Strategy())
    expected = next(loaded.model("writer").generate(TEXT, continuation=(before[0], other))).token.id
    assert continuation.ids == (before[0], other, expected)
    continuation.current = 0
    assert list(continuation.ids) == before
    continuation.branch(2, before[2])
    assert len(continuation.lines) == 2, "the same words are the same branch"


def test_a_branch_is_gone_back_and_on_from_like_any_text():
    app = open_link("generate", GREEDY)
    for _ in range(3):
        press(app, "next")
    continuation = app.session_state["generated"]
    other = next(int(id) for id in continuation.steps[1].logits.argsort()[::-1] if id != continuation.steps[1].token.id)
    continuation.branch(1, other)
    app.run()
    for button, count in (("next", 3), ("back", 2), ("next", 3), ("back", 2), ("back", 1), ("next", 2)):
        assert len(ids(press(app, button))) == count
    assert len(app.session_state["generated"].lines) == 2


def test_until_the_first_token_is_said_a_text_that_grows_shows_what_comes_next():
    continuation = Continuation(Beginning("writer", TEXT))
    ahead = continuation.next_step
    continuation.begin(Strategy(), 40)
    assert steps_with_next(continuation) == ([ahead], True) and continuation.selected_step is ahead
    continuation.steps.append(ahead)
    assert (
        steps_with_next(continuation) == ([ahead], False)
        and continuation.next_step is None
        and continuation.selected_step is ahead
    )


def test_what_was_said_before_a_stop_stays():
    continuation = Continuation(Beginning("writer", TEXT))
    continuation.begin(Strategy(), 40)

    def report(share: float, words: str) -> None:
        if share > 0.1:
            raise Cancelled

    with pytest.raises(Cancelled):
        run._work(continuation.beginning, continuation.run, report)
    continuation.end_run()
    assert [step.token.id for step in continuation.steps] == own(Strategy(), 5)
    continuation.go_on(Strategy())
    assert [step.token.id for step in continuation.steps] == own(Strategy(), 6)


def test_another_text_begins_anew_and_a_run_for_the_old_one_is_let_go():
    app = press(open_link("generate", GREEDY), "next")
    app.session_state["generated"].begin(Strategy(), 40)
    app.text_input(key="text").set_value("A dog").run()
    assert not app.exception and ids(app) == [] and app.session_state["generated"].run is None


def test_two_visitors_have_their_own_texts():
    cat, dog = open_link("generate", GREEDY), open_link("generate", GREEDY.replace("cat", "dog"))
    press(cat, "next"), press(dog, "next"), press(cat, "next")
    assert ids(cat) == own(Strategy(), 2) and ids(dog) == own(Strategy(), 1, TEXT.replace("cat", "dog"))


@pytest.mark.parametrize("text", ["", "A", " "])
def test_a_text_of_nothing_or_of_one_token_goes_on_too(text):
    app = press(open_link("generate", f"text={text}&generate-method=Always+the+likeliest"), "next")
    assert ids(app) == own(Strategy(), 1, text)


def test_the_translator_translates_by_one_press_and_the_answer_opens_on_every_page():
    app = open_link("generate", "model=translator&text=The+black+cat+is+sleeping+under+the+table.")
    assert app.button(key="generate-run").label == "Translate"
    press(app, "run")
    assert app.button(key="generate-run").label == "Go on", "something is said now"
    continuation = app.session_state["generated"]
    assert continuation.end_reason == "end" and app.button(key="generate-next").disabled
    assert continuation.steps[-1].text.strip() == "Le chat noir dort sous la table."
    press(app, "open")
    assert app.session_state["target"] == "Le chat noir dort sous la table."


def test_the_grown_text_goes_into_the_box():
    app = press(press(open_link("generate", GREEDY), "next"), "next")
    continuation = app.session_state["generated"].steps[-1].text
    press(app, "open")
    assert continuation and app.session_state["text"] == TEXT + continuation.replace("\n", "↵")


@pytest.mark.parametrize(
    ("link", "way", "label", "verb"),
    [
        (GREEDY, "", "Go on", "continue your text"),
        ("model=translator&text=The+cat+sleeps.", "translate-method", "Translate", "translate your text"),
        ("model=translator&text=The+cat+sleeps.&target=Le+chat", "translate-method", "Go on", "translate your text"),
    ],
    ids=["writer", "translator", "begun"],
)
def test_the_page_says_what_the_model_does_with_the_text(link, way, label, verb):
    for level in ("beginner", "intermediate"):
        app = open_link("generate", f"{link}&level={level}")
        assert app.button(key="generate-run").label == label and verb in words_on(app)
        assert ("continue your text" in words_on(app)) == (verb == "continue your text")
        by_one = "One more token" if way else "Go on by one"
        assert app.button(key="generate-next").label == by_one
    if way:
        beams = open_link("generate", f"{link}&level=expert&{way}=Beams")
        assert f"Press **{label}** to search" in words_on(beams)


def test_an_encoder_decoder_of_which_nothing_more_is_known_answers(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", str(tmp_path))
    from tests.models.networks import network, tokenizer

    network("T5").save_pretrained(tmp_path)
    tokenizer("encoder-decoder").save_pretrained(tmp_path)
    loaded.model(str(tmp_path))
    app = open_link("generate", f"model={tmp_path}&{LINK}&level=beginner")
    assert app.button(key="generate-run").label == "Answer" and "Let the model answer your text" in words_on(app)


@pytest.mark.parametrize("level", ["beginner", "intermediate", "expert"])
def test_the_filler_says_why_it_does_not_go_on(level):
    page_words = words_on(open_link("generate", f"model=filler&text=The+[MASK]+sat&level={level}"))
    assert "“filler”" in page_words and "does not continue a text" in page_words
    assert "Let the model" not in page_words and "Press “Go on”" not in page_words


@pytest.mark.thorough
def test_beams_find_what_the_model_finds_and_can_be_looked_back_on():
    link = f"{LINK}&level=intermediate&generate-method=Beams&generate-beams=3&generate-tokens=6"
    app = press(open_link("generate", link), "run")
    continuation = app.session_state["generated"]
    *_, last = loaded.model("writer").generate(TEXT, Strategy("beam", beams=3), 6)
    assert continuation.search[-1].continuation == last.continuation and continuation.reached == 6
    press(app, "back")
    assert app.session_state["generated"].reached == 5 and app.get("plotly_chart")
    press(app, "over")
    for step in (1, 2):
        assert press(app, "next").session_state["generated"].reached == step


@pytest.mark.parametrize("level", ["intermediate", "expert"])
def test_beams_open_with_a_search_of_the_text_at_the_middle_level(level):
    app = finish(open_link("generate", f"{LINK}&level={level}&generate-method=Beams&generate-beams=3&generate-tokens=6"))
    continuation = app.session_state["generated"]
    assert len(continuation.search) == continuation.reached == (6 if level == "intermediate" else 0)
    if level == "intermediate":
        *_, last = loaded.model("writer").generate(TEXT, Strategy("beam", beams=3), 6)
        assert continuation.search[-1].continuation == last.continuation and app.get("plotly_chart")
        press(app, "over")
        assert not app.session_state["generated"].search, "nobody asked for another one"


def test_a_search_stays_when_a_control_changes_and_says_so():
    app = press(open_link("generate", f"{LINK}&level=intermediate&generate-method=Beams&generate-tokens=4"), "run")
    assert "other controls" not in words_on(app)
    app.number_input(key="generate-beams").set_value(2).run()
    assert "other controls" in words_on(app) and "The 4 best beginnings" in words_on(app)
    press(app, "run")
    assert "other controls" not in words_on(app) and "The 2 best beginnings" in words_on(app)


@pytest.mark.parametrize("beam", [1, 3])
def test_each_token_of_the_beam_that_is_looked_at_has_its_row(beam):
    link = (
        f"{LINK}&level=expert&generate-method=Beams&generate-beams=3&generate-tokens=6&generate-searched=5&generate-beam={beam}"
    )
    app = open_link("generate", link)
    continuation = app.session_state["generated"]
    answer = continuation.search[4].search.answers[beam - 1]
    line = continuation.beam(answer.ids).steps
    assert tuple(step.token.id for step in line) == answer.ids and f"Beam {beam}" in board(app)
    for step, searched in zip(line, continuation.search, strict=False):
        if searched.ids == step.ids:  # the search had the row of the beginning that was the best there
            np.testing.assert_allclose(step.attention["self"], searched.attention["self"], atol=1e-5)
    press(app, "back")
    before = app.session_state["generated"].search[3].search.answers[beam - 1].ids
    shorter = app.session_state["generated"].beam(before).steps
    shared = sum(1 for old, new in zip(line, shorter, strict=False) if old is new)
    assert len(shorter) == 4 and shared == sum(1 for a, b in zip(before, answer.ids, strict=False) if a == b), "not read again"


def test_a_press_on_a_row_chooses_its_token_and_again_lets_it_go():
    continuation = Continuation(Beginning("writer", TEXT))
    for _ in range(20):
        continuation.go_on(Strategy())
    model = loaded.model("writer")
    look = Look(model, model.trace(TEXT), "self")
    for row, expected in ((3, 21 - ROWS + 3), (3, 21 - ROWS + 3)):
        continuation.at = None
        look_at({"part": "rows", "value": [row, 0]}, continuation, look)
        assert continuation.at == expected
    look_at({"part": "rows", "value": [3, 5]}, continuation, look)
    assert continuation.at is None
    look_at({"part": "rows", "value": [ROWS - 1, 0]}, continuation, look)
    assert continuation.at is None, "what comes next is what is shown while none is chosen"


@pytest.mark.parametrize("simple", [False, True])
def test_a_text_that_was_said_for_longer_than_the_context_is_drawn(simple):
    """More was said than the model still reads: tokens that it has dropped are no rows of the text, and the pictures stand."""
    model = ours("decoder")
    steps = list(model.generate(TEXT, Strategy("sampling", temperature=3.0), model.room + 40))
    assert len(steps) > len(steps[-1].tokens) + 1 and steps[-1].dropped
    options = {"answer": {"target": ""}, "more": False, "kind": "self", "layer": 0, "head": 0, "simple": simple, "steps": steps}
    for chosen in (len(steps) - 1, len(steps) - ROWS - 1, 3):
        for recipe in (recipes.text, recipes.rows):
            assert recipe(model, model.trace(TEXT), chosen=chosen, **options).data


@given(st.integers(1, 60), st.data())
def test_the_rows_that_are_shown_hold_the_chosen_one_and_are_as_many_as_there_is_room_for(count, data):
    chosen = data.draw(st.integers(0, count - 1))
    first = first_row(count, chosen)
    assert first <= chosen < first + ROWS and first >= 0 and first + min(ROWS, count) <= count
    assert chosen < count - ROWS or first == max(0, count - ROWS)


@pytest.mark.thorough
def test_a_search_that_was_stopped_says_that_it_begins_again():
    app = open_link("generate", f"{LINK}&level=intermediate&generate-method=Beams&generate-beams=3&generate-tokens=6")
    press(app, "run")
    app.session_state["generated"].why = "stopped"
    assert "searches again from the beginning" in words_on(app.run())
    assert app.button(key="generate-run").click().run().session_state["generated"].why != "stopped"


@given(st.lists(st.lists(st.sampled_from(["a", "dog", "ran", "over " * 30 + "it"]), min_size=1), min_size=2, max_size=6))
def test_rows_of_beginnings_are_told_from_where_they_part(words):
    texts = [" ".join(row) for row in words]
    start, ends = search.split_common_start(texts)
    for text, end in zip(texts, ends, strict=True):
        assert text.startswith(start) and len(end) <= search.CELL + 2
        before, _, after = end.removeprefix("… ").partition(" … ")
        assert text[len(start) :].lstrip().startswith(before) and text.endswith(after)
    if max(map(len, texts)) <= search.CELL - 2:
        assert len(set(ends)) == len(set(texts))


def test_beams_that_do_not_fit_in_memory_are_told_of_with_figures(monkeypatch):
    from models.huggingface import memory

    monkeypatch.setattr(memory, "free_on", lambda device: 1000)
    app = press(open_link("generate", f"{LINK}&level=expert&generate-method=Beams&generate-beams=64"), "run")
    assert any("64 beams of" in warning.value and "memory are free" in warning.value for warning in app.warning)


@pytest.mark.thorough
def test_a_full_context_says_what_is_dropped():
    text = "The cat sat on the mat and the dog ran. " * 22
    model = loaded.model("writer")
    assert 200 < len(model.tokenize(text)) < model.room
    app = press(open_link("generate", f"text={text.strip().replace(' ', '+')}&level=intermediate&generate-tokens=80"), "run")
    assert app.session_state["generated"].steps[-1].dropped
    assert f"context of {model.room} tokens is full" in board(app)


def test_a_run_without_room_ends_by_itself():
    continuation = Continuation(Beginning("writer", TEXT))
    into: list = []
    assert run._work(continuation.beginning, Run(Strategy(), 3, into), lambda share, words: None) == 3 == len(into)


def test_a_text_that_goes_round_says_so_and_what_leads_out():
    app = open_link("generate", f"{GREEDY}&level=expert")
    continuation = app.session_state["generated"]
    for id in [token.id for token in loaded.model("writer").tokenize(" the cat sat there")[1:]] * 7:
        continuation.go_on(Strategy(), id)
    app = finish(app.run())
    boxes = [box.value for box in app.info if "goes round in circles" in box.value]
    assert len(boxes) == 1 and "the cat sat there" in boxes[0]
    assert "Greedy decoding from the same beginning ends in no loop" in boxes[0]
    continuation.step_back()
    continuation.go_on(Strategy(), loaded.model("writer").tokenize("!")[1].id)
    app.run()
    assert not [box for box in app.info if "goes round in circles" in box.value]


def test_the_penalty_that_is_named_leads_out_and_the_word_that_is_named_comes():
    """On this text a penalty that changes the second round alone would be 1.175; the first changes at 1.1 already."""
    writer, text = loaded.model("writer"), "What is it? What is it?"
    steps = list(writer.generate(text, Strategy(), 24))
    solution = way_out(writer, text, steps)
    assert (solution.penalty, solution.tried, solution.original, solution.other) == (1.1, 1, " What", " How")
    assert solution.text.split()[:5] == ["How", "do", "you", "feel", "about"]
    draft = Draft(HERE, Look(writer, writer.trace(text), level="expert"))
    sentence = notices.describe_loop(draft, escape(steps), solution)
    assert "**1.100**" in sentence and "“How” in place of “What”" in sentence


@pytest.mark.parametrize(("name", "text"), [("writer", TEXT), ("translator", "The cat sleeps.")])
def test_each_word_that_was_said_stands_with_the_row_that_chose_it(name, text):
    model, continuation = loaded.model(name), Continuation(Beginning(name, text))
    look = Look(model, model.trace(text), "self" if name == "writer" else "cross")
    for _ in range(4):
        continuation.go_on(Strategy())
    rows, more = steps_with_next(continuation)
    source, decoder_tokens = encoder_and_decoder_tokens(rows, more, text, "")
    assert more
    assert [token.id for token in source] == ([] if name == "writer" else [token.id for token in model.tokenize(text)])
    assert decoder_tokens[-1].text == "…" and len(rows) == 5, "a place for what comes next"
    for place, step in zip(range(len(decoder_tokens) - 5, len(decoder_tokens)), rows, strict=True):
        assert decoder_tokens[place].after == step.tokens[-1] and len(step.tokens) == place
        if step in continuation.steps:
            assert decoder_tokens[place].id == step.token.id
    front = len(source)
    assert [step_of(front + place, continuation, look) for place in range(len(decoder_tokens))][-6:] == [None, 0, 1, 2, 3, None]


@pytest.mark.parametrize(("network_name", "kind"), [("GPT-2", "decoder"), ("T5", "encoder-decoder"), ("Mixtral", "decoder")])
def test_models_of_the_hub_go_on_too(tmp_path, monkeypatch, network_name, kind):
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", str(tmp_path))
    from tests.models.networks import network, tokenizer

    network(network_name).save_pretrained(tmp_path)
    tokenizer(kind).save_pretrained(tmp_path)
    way = "translate-method" if kind == "encoder-decoder" else "generate-method"
    link = f"model={tmp_path}&{LINK}&level=expert&generate-cache=true&{way}=Always+the+likeliest"
    loaded.model(str(tmp_path))
    app = press(open_link("generate", link), "next")
    assert app.session_state["generated"].beginning.name == str(tmp_path)
    assert ids(app) == own(Strategy(), 1, TEXT, str(tmp_path))


@pytest.mark.parametrize(
    ("link", "complaint"),
    [
        ("generate-temperature=hot", "“Temperature” at “hot”"),
        ("generate-temperature=0", "“Temperature” at “0”"),
        ("level=expert&generate-top-p=0", "“Top-p” at “0”"),
        ("generate-seed=-1", "“Number of the draw” at “\\-1”"),
        ("generate-method=Guess", "way of choosing “Guess”"),
    ],
)
def test_nonsense_in_a_link_is_told_of(link, complaint):
    app = open_link("generate", f"{LINK}&{link}")
    assert [complaint in warning.value for warning in app.warning] == [True]


def test_the_bars_are_of_the_likeliest_before_and_after_and_of_none_that_a_control_left_nothing():
    step = next(loaded.model("writer").generate(TEXT, Strategy("sampling", top_k=2)))
    scores = step.distribution
    ids = likeliest_ids(scores, step.token.id, 9)
    assert step.token.id in ids and set(np.argsort(-scores.after)[:2]) <= set(ids)
    assert ids == [int(id) for id in np.argsort(-scores.before, kind="stable")[:9]], "what is struck out stands where it stood"
