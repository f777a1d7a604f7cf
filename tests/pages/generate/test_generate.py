"""Page "Generate": a text grows by presses, as the model itself goes on with it, and what was said can be taken back and tried
otherwise."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import escape, way_out
from analysis.step_cost import step_cost
from models import sizes
from models.errors import Cancelled
from models.strategy import Strategy
from pages.generate import recipes, run, search, told
from pages.generate.grown import Beginning, Grown, Run
from pages.generate.recipes import ROWS, each, first_row, likeliest, read_and_said
from pages.generate.shown import look_at, step_of, with_next
from tests.models.test_generate import ours
from tests.pages.opening import PATIENCE, finish, open_link, said
from ui import state
from ui.look import Look
from ui.memory import loaded

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
    """What the model says by itself."""
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
    first = app.session_state["generated"].ahead
    app.slider(key="generate-temperature").set_value(2.5).run()
    app.number_input(key="generate-top-k").set_value(3).run()
    assert not app.exception and not app.error
    assert app.session_state["generated"].ahead is first
    assert "3 of 8,192 tokens are left" in board(app)


def board(app) -> str:
    """The words of the board, as they are sent to the browser."""
    return "".join(bytes(one.proto.bytes).decode("utf-8", "ignore") for one in app.get("bidi_component"))


def test_another_word_is_a_branch_that_goes_on_from_there_and_the_old_one_is_kept():
    grown = Grown(Beginning("writer", TEXT))
    for _ in range(3):
        grown.go_on(Strategy())
    before = [step.token.id for step in grown.steps]
    other = next(int(id) for id in grown.steps[1].logits.argsort()[::-1] if id != before[1])
    grown.branch(1, other)
    assert grown.said == (before[0], other) and len(grown.lines) == 2
    grown.go_on(Strategy())
    expected = next(loaded.model("writer").generate(TEXT, said=(before[0], other))).token.id
    assert grown.said == (before[0], other, expected)
    grown.current = 0
    assert list(grown.said) == before
    grown.branch(2, before[2])
    assert len(grown.lines) == 2, "the same words are the same branch"


def test_a_branch_is_gone_back_and_on_from_like_any_text():
    app = open_link("generate", GREEDY)
    for _ in range(3):
        press(app, "next")
    grown = app.session_state["generated"]
    other = next(int(id) for id in grown.steps[1].logits.argsort()[::-1] if id != grown.steps[1].token.id)
    grown.branch(1, other)
    app.run()
    for button, count in (("next", 3), ("back", 2), ("next", 3), ("back", 2), ("back", 1), ("next", 2)):
        assert len(ids(press(app, button))) == count
    assert len(app.session_state["generated"].lines) == 2


def test_until_the_first_token_is_said_a_text_that_grows_shows_what_comes_next():
    grown = Grown(Beginning("writer", TEXT))
    ahead = grown.ahead
    grown.begin(Strategy(), 40)
    assert with_next(grown) == ([ahead], True) and grown.looked_at is ahead
    grown.steps.append(ahead)
    assert with_next(grown) == ([ahead], False) and grown.ahead is None and grown.looked_at is ahead


def test_what_was_said_before_a_stop_stays():
    grown = Grown(Beginning("writer", TEXT))
    grown.begin(Strategy(), 40)

    def report(share: float, words: str) -> None:
        if share > 0.1:
            raise Cancelled

    with pytest.raises(Cancelled):
        run._work(grown.beginning, grown.run, report)
    grown.end_run()
    assert [step.token.id for step in grown.steps] == own(Strategy(), 5)
    grown.go_on(Strategy())
    assert [step.token.id for step in grown.steps] == own(Strategy(), 6)


def test_another_text_begins_anew_and_a_run_for_the_old_one_is_let_go():
    app = press(open_link("generate", GREEDY), "next")
    app.session_state["generated"].begin(Strategy(), 40)
    app.text_input(key="text").set_value("A dog").run()
    assert not app.exception and ids(app) == [] and app.session_state["generated"].run is None


def test_two_visitors_have_their_own_texts():
    one, two = open_link("generate", GREEDY), open_link("generate", GREEDY.replace("cat", "dog"))
    press(one, "next"), press(two, "next"), press(one, "next")
    assert ids(one) == own(Strategy(), 2) and ids(two) == own(Strategy(), 1, TEXT.replace("cat", "dog"))


@pytest.mark.parametrize("text", ["", "A", " "])
def test_a_text_of_nothing_or_of_one_token_goes_on_too(text):
    app = press(open_link("generate", f"text={text}&generate-method=Always+the+likeliest"), "next")
    assert ids(app) == own(Strategy(), 1, text)


def test_the_translator_translates_by_one_press_and_the_answer_opens_on_every_page():
    app = open_link("generate", "model=translator&text=The+black+cat+is+sleeping+under+the+table.")
    assert app.button(key="generate-run").label == "Translate"
    press(app, "run")
    assert app.button(key="generate-run").label == "Go on", "something is said now"
    grown = app.session_state["generated"]
    assert grown.ended == "end" and app.button(key="generate-next").disabled
    assert grown.steps[-1].text.strip() == "Le chat noir dort sous la table."
    press(app, "open")
    assert app.session_state["target"] == "Le chat noir dort sous la table."


def test_the_grown_text_goes_into_the_box():
    app = press(press(open_link("generate", GREEDY), "next"), "next")
    grown = app.session_state["generated"].steps[-1].text
    press(app, "open")
    assert grown and app.session_state["text"] == TEXT + grown.replace("\n", "↵")


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
        assert app.button(key="generate-run").label == label and verb in said(app)
        assert ("continue your text" in said(app)) == (verb == "continue your text")
        by_one = "One more token" if way else "Go on by one"
        assert app.button(key="generate-next").label == by_one
    if way:
        beams = open_link("generate", f"{link}&level=expert&{way}=Beams")
        assert f"Press **{label}** to search" in said(beams)


def test_an_encoder_decoder_of_which_nothing_more_is_known_answers(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", str(tmp_path))
    from tests.models.networks import network, tokenizer

    network("T5").save_pretrained(tmp_path)
    tokenizer("encoder-decoder").save_pretrained(tmp_path)
    loaded.model(str(tmp_path))
    app = open_link("generate", f"model={tmp_path}&{LINK}&level=beginner")
    assert app.button(key="generate-run").label == "Answer" and "Let the model answer your text" in said(app)


@pytest.mark.parametrize("level", ["beginner", "intermediate", "expert"])
def test_the_filler_says_why_it_does_not_go_on(level):
    told = said(open_link("generate", f"model=filler&text=The+[MASK]+sat&level={level}"))
    assert "“filler”" in told and "does not continue a text" in told
    assert "Let the model" not in told and "Press “Go on”" not in told


def test_beams_find_what_the_model_finds_and_can_be_looked_back_on():
    link = f"{LINK}&level=intermediate&generate-method=Beams&generate-beams=3&generate-tokens=6"
    app = press(open_link("generate", link), "run")
    grown = app.session_state["generated"]
    *_, last = loaded.model("writer").generate(TEXT, Strategy("beam", beams=3), 6)
    assert grown.search[-1].said == last.said and grown.reached == 6
    press(app, "back")
    assert app.session_state["generated"].reached == 5 and app.get("plotly_chart")
    press(app, "over")
    for step in (1, 2):
        assert press(app, "next").session_state["generated"].reached == step


def test_a_search_stays_when_a_control_changes_and_says_so():
    app = press(open_link("generate", f"{LINK}&level=intermediate&generate-method=Beams&generate-tokens=4"), "run")
    assert "other controls" not in said(app)
    app.number_input(key="generate-beams").set_value(2).run()
    assert "other controls" in said(app) and "The 4 best beginnings" in said(app)
    press(app, "run")
    assert "other controls" not in said(app) and "The 2 best beginnings" in said(app)


@pytest.mark.parametrize("beam", [1, 3])
def test_each_token_of_the_beam_that_is_looked_at_has_its_row(beam):
    link = (
        f"{LINK}&level=expert&generate-method=Beams&generate-beams=3&generate-tokens=6&generate-searched=5&generate-beam={beam}"
    )
    app = open_link("generate", link)
    grown = app.session_state["generated"]
    answer = grown.search[4].search.answers[beam - 1]
    line = grown.beam(answer.ids).steps
    assert tuple(step.token.id for step in line) == answer.ids and f"Beam {beam}" in board(app)
    for step, one in zip(line, grown.search, strict=False):
        if one.ids == step.ids:  # the search had the row of the beginning that was the best there
            np.testing.assert_allclose(step.attention["self"], one.attention["self"], atol=1e-5)
    press(app, "back")
    before = app.session_state["generated"].search[3].search.answers[beam - 1].ids
    kept = app.session_state["generated"].beam(before).steps
    shared = sum(1 for old, new in zip(line, kept, strict=False) if old is new)
    assert len(kept) == 4 and shared == sum(1 for a, b in zip(before, answer.ids, strict=False) if a == b), "not read again"


def test_a_press_on_a_row_chooses_its_token_and_again_lets_it_go():
    grown = Grown(Beginning("writer", TEXT))
    for _ in range(20):
        grown.go_on(Strategy())
    model = loaded.model("writer")
    look = Look(model, model.trace(TEXT), "self")
    for row, expected in ((3, 21 - ROWS + 3), (3, 21 - ROWS + 3)):
        grown.at = None
        look_at({"part": "rows", "value": [row, 0]}, grown, look)
        assert grown.at == expected
    look_at({"part": "rows", "value": [3, 5]}, grown, look)
    assert grown.at is None
    look_at({"part": "rows", "value": [ROWS - 1, 0]}, grown, look)
    assert grown.at is None, "what comes next is what is shown while none is chosen"


@pytest.mark.parametrize("simple", [False, True])
def test_a_text_that_was_said_for_longer_than_the_context_is_drawn(simple):
    """More was said than the model still reads: tokens that it has dropped are no rows of the text, and the pictures stand."""
    model = ours("decoder")
    steps = list(model.generate(TEXT, Strategy("sampling", temperature=3.0), model.room + 40))
    assert len(steps) > len(steps[-1].tokens) + 1 and steps[-1].dropped
    given = {"said": {"target": ""}, "more": False, "kind": "self", "layer": 0, "head": 0, "simple": simple, "steps": steps}
    for chosen in (len(steps) - 1, len(steps) - ROWS - 1, 3):
        for recipe in (recipes.text, recipes.rows):
            assert recipe(model, model.trace(TEXT), chosen=chosen, **given).data


@given(st.integers(1, 60), st.data())
def test_the_rows_that_are_shown_hold_the_chosen_one_and_are_as_many_as_there_is_room_for(count, data):
    chosen = data.draw(st.integers(0, count - 1))
    first = first_row(count, chosen)
    assert first <= chosen < first + ROWS and first >= 0 and first + min(ROWS, count) <= count
    assert chosen < count - ROWS or first == max(0, count - ROWS)


def test_a_search_that_was_stopped_says_that_it_begins_again():
    app = open_link("generate", f"{LINK}&level=intermediate&generate-method=Beams&generate-beams=3&generate-tokens=6")
    press(app, "run")
    app.session_state["generated"].why = "stopped"
    assert "searches again from the beginning" in said(app.run())
    assert app.button(key="generate-run").click().run().session_state["generated"].why != "stopped"


@given(st.lists(st.lists(st.sampled_from(["a", "dog", "ran", "over " * 30 + "it"]), min_size=1), min_size=2, max_size=6))
def test_rows_of_beginnings_are_told_from_where_they_part(words):
    texts = [" ".join(one) for one in words]
    start, ends = search.parted(texts)
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
    assert any("64 beams of" in one.value and "memory are free" in one.value for one in app.warning)


def test_a_full_context_says_what_is_dropped():
    text = "The cat sat on the mat and the dog ran. " * 22
    model = loaded.model("writer")
    assert 200 < len(model.tokenize(text)) < model.room
    app = press(open_link("generate", f"text={text.strip().replace(' ', '+')}&level=intermediate&generate-tokens=80"), "run")
    assert app.session_state["generated"].steps[-1].dropped
    assert f"context of {model.room} tokens is full" in board(app)


def test_a_run_without_room_ends_by_itself():
    grown = Grown(Beginning("writer", TEXT))
    into: list = []
    assert run._work(grown.beginning, Run(Strategy(), 3, into), lambda share, words: None) == 3 == len(into)


def test_a_text_that_goes_round_says_so_and_what_leads_out():
    app = open_link("generate", f"{GREEDY}&level=expert")
    grown = app.session_state["generated"]
    for id in [one.id for one in loaded.model("writer").tokenize(" the cat sat there")[1:]] * 7:
        grown.go_on(Strategy(), id)
    app = finish(app.run())
    boxes = [one.value for one in app.info if "goes round in circles" in one.value]
    assert len(boxes) == 1 and "the cat sat there" in boxes[0]
    assert "Greedy decoding from the same beginning ends in no loop" in boxes[0]
    grown.back()
    grown.go_on(Strategy(), loaded.model("writer").tokenize("!")[1].id)
    app.run()
    assert not [one for one in app.info if "goes round in circles" in one.value]


def test_the_penalty_that_is_named_leads_out_and_the_word_that_is_named_comes(monkeypatch):
    """On this text a penalty that changes the second round alone would be 1.07; the first changes at 1.0225 already."""
    writer, text = loaded.model("writer"), "The old man said: I want to"
    steps = list(writer.generate(text, Strategy(), 26))
    found = way_out(writer, text, steps)
    assert (found.penalty, found.tried, found.said, found.other) == (1.023, 1, " want", " am")
    assert found.text.split()[:6] == ["know", "why", "you", "are", "so", "angry."]
    look = Look(writer, writer.trace(text), level="expert")
    monkeypatch.setattr(state, "level", lambda: "expert")
    sentence = told.in_circles(escape(steps), found, look)
    assert "**1.023**" in sentence and "“am” in place of “want”" in sentence


@pytest.mark.parametrize(("name", "text"), [("writer", TEXT), ("translator", "The cat sleeps.")])
def test_each_word_that_was_said_stands_with_the_row_that_chose_it(name, text):
    model, grown = loaded.model(name), Grown(Beginning(name, text))
    look = Look(model, model.trace(text), "self" if name == "writer" else "cross")
    for _ in range(4):
        grown.go_on(Strategy())
    rows, more = with_next(grown)
    source, shown = read_and_said(rows, more, text, "")
    assert more
    assert [one.id for one in source] == ([] if name == "writer" else [one.id for one in model.tokenize(text)])
    assert shown[-1].text == "…" and len(rows) == 5, "a place for what comes next"
    for place, step in zip(range(len(shown) - 5, len(shown)), rows, strict=True):
        assert shown[place].after == step.tokens[-1] and len(step.tokens) == place
        if step in grown.steps:
            assert shown[place].id == step.token.id
    front = len(source)
    assert [step_of(front + place, grown, look) for place in range(len(shown))][-6:] == [None, 0, 1, 2, 3, None]


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
    ("link", "told"),
    [
        ("generate-temperature=hot", "“Temperature” at “hot”"),
        ("generate-temperature=0", "“Temperature” at “0”"),
        ("level=expert&generate-top-p=0", "“Top-p” at “0”"),
        ("generate-seed=-1", "“Number of the draw” at “\\-1”"),
        ("generate-method=Guess", "way of choosing “Guess”"),
    ],
)
def test_nonsense_in_a_link_is_told_of(link, told):
    app = open_link("generate", f"{LINK}&{link}")
    assert [told in one.value for one in app.warning] == [True]


def test_the_cache_is_measured_as_the_formula_says():
    app = press(open_link("generate", f"{LINK}&level=expert&generate-cache=true"), "next")
    model, grown = loaded.model("writer"), app.session_state["generated"]
    expected = model.cache_bytes(len(grown.ahead.tokens))
    assert grown.ahead.read.bytes == expected and said(app).count(f"**{expected:,} bytes**") == 2


@pytest.mark.parametrize("text", ["I am tired.", "The black cat is sleeping under the table in the garden."])
def test_the_operations_of_a_translator_are_those_for_the_source_that_is_typed(text):
    app = press(open_link("generate", f"model=translator&level=expert&generate-cache=true&text={text.replace(' ', '+')}"), "next")
    model, grown = loaded.model("translator"), app.session_state["generated"]
    read, cost = len(grown.ahead.tokens), step_cost(model, text)
    table = next(one.value for one in app.dataframe if "operations with the cache" in one.value)
    counted = [sizes.count(operations) for operations in (cost.kept(read), cost.unkept(read))]
    assert [table["operations with the cache"][0], table["without it"][0]] == counted
    assert f"your source of {len(model.tokenize(text))} tokens" in said(app)
    config = model.network.config
    assert each(model, grown.ahead) == 2 * config.key_heads * config.d_head, "of one token in one layer, without the source"


def test_milliseconds_are_measured_at_this_length_and_estimated_at_others():
    app = press(open_link("generate", f"{LINK}&level=intermediate&generate-cache=true"), "next")
    table = next(one.value for one in app.dataframe if "tokens" in one.value)
    kept, again = table["milliseconds with the cache"], table["milliseconds without it"]
    assert f"**{kept[0]} ms** with the cache and **{again[0]} ms** without" in said(app)
    for column in (kept, again):
        assert all(one.startswith("about ") for one in column[1:])
        numbers = [float(one.removeprefix("about ").replace(",", "")) for one in column]
        assert numbers == sorted(numbers) and numbers[0] > 0


def test_the_bars_are_of_the_likeliest_before_and_after_and_of_none_that_a_control_left_nothing():
    step = next(loaded.model("writer").generate(TEXT, Strategy("sampling", top_k=2)))
    found = step.distribution
    ids = likeliest(found, step.token.id, 9)
    assert step.token.id in ids and set(np.argsort(-found.after)[:2]) <= set(ids)
    assert ids == [int(id) for id in np.argsort(-found.before, kind="stable")[:9]], "what is struck out stands where it stood"
