"""Page "Change": the changes that clicks make, the changes in links, and changes that do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import models
from analysis import edge_effects, head_effects, head_means
from analysis.edit_numbers import fill
from analysis.effects import divergence, skip_effects
from models.edits import Cut, Edit, Head, Row, Skip
from models.errors import Cancelled
from pages.change import baseline, changed_text, changes, figures, live, recipes
from pages.change import switching as experiment
from pages.change.boards import switching
from pages.change.compose import HERE
from pages.change.settings import Settings
from tests.pages.generate.test_generate import board
from tests.pages.levels import read
from tests.pages.opening import header_of, open_link, unmarked, words_on
from tests.pages.taking import offered
from tests.viz.views.test_reading_view import sent
from ui import state
from ui.lexicon.marks import capitalize_heads, sections
from ui.look import Look
from ui.memory import loaded
from ui.picture.board import Draft
from viz.numbers import percent, under, whole_percent

WORDS = "The dog saw the dog"
TEXT = "text=The+dog+saw+the+dog"


@contextmanager
def session(**held: Any) -> Iterator[dict[str, Any]]:
    """Set the state of a visitor, without a page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state.st, "session_state", held)
        yield held


@pytest.fixture(scope="module")
def look() -> Look:
    model = models.load("writer")
    return Look(model, model.trace(WORDS), picked=(3, 1), level="intermediate")


def test_a_beginner_switches_parts_off_and_on(look):
    plain = replace(look, level="beginner")
    for click, change in (([2, 3], "h2.3"), ([4, 8], "f4"), ([4, 9], "b4")):
        off = changes.after_click(plain, [], {"part": "parts", "value": click})
        assert off == [change] and changes.after_click(plain, off, {"part": "parts", "value": click}) == []
    assert changes.click_head(plain, ["m2.3"], 2, 3) == ["h2.3"], "a mean of another level goes first off, then on"


def test_a_head_that_is_off_is_said_to_look_as_before_because_it_is_the_one(look):
    itself, later = (changes.apply(look, [change]) for change in ("h3.1", "h4.0"))
    assert figures.upstream(look, itself) == "upstream itself" and figures.upstream(look, later) == "upstream"
    assert figures.is_untouched(look, itself) and figures.is_untouched(look, later)


def test_a_beginner_reads_that_a_part_pulled_towards_other_tokens_where_the_chance_rises_without_it():
    text = "Tom had a ball, and his dog ran after the"
    writer = models.load("writer")
    ball = writer.predict(text)[0]
    for change, rises in (("h2.1", True), ("h5.1", False)):
        layer, head = map(int, change[1:].split("."))
        after = writer.chances(writer.trace(text, edits=[Head(layer, head)]).logits[-1])
        assert (after[ball.id] > ball.probability) == rises
        words = read(open_link("change", f"text={text.replace(' ', '+')}&changes={change}"))
        assert ("what is off was pulling towards other tokens" in words) == rises


def test_a_head_goes_off_then_to_its_mean_then_on(look):
    assert (off := changes.click_head(look, ["f4"], 2, 3)) == ["f4", "h2.3"]
    assert (mean := changes.click_head(look, off, 2, 3)) == ["f4", "m2.3"]
    assert changes.click_head(look, mean, 2, 3) == ["f4"]


def test_a_line_is_cut_in_these_heads_and_then_in_none(look):
    cut = changes.click_line(look, ["c3.1.4.2"], [4, 2], [1, 5])
    assert cut == ["c3.1.4.2", "c3.5.4.2"] and changes.click_line(look, cut, [4, 2], [1, 5]) == []


def test_a_dial_takes_the_place_of_off_and_at_one_of_itself(look):
    assert changed_text.value_of(look, ["h3.1"], "s") == 0
    dialled = changes.set_value(look, ["h3.1", "t3.1~2"], "s", 1.5)
    assert dialled == ["t3.1~2", "s3.1~1.5"] and changed_text.value_of(look, dialled, "t") == 2
    assert changes.set_value(look, dialled, "s", 1.0) == ["t3.1~2"]


def test_changes_are_the_edits_that_they_say(look):
    trace = look.trace
    edits = [fill(Edit.parse(change), look.model, trace) for change in ("h2.3", "s2.3~0.5", "c3.1.4.2", "x4.2", "f4", "b5")]
    assert edits == [Head(2, 3), Head(2, 3, 0.5), Cut(4, 2, 3, 1), Cut(4, 2), Skip(4, "feedforward"), Skip(5)]
    assert fill(Edit.parse("m2.3"), look.model, trace) == Head(2, 3, mean=head_means(look.model)[2, 3])
    row = trace.attention["self"][3][[1, 6], 4]
    assert fill(Edit.parse("e3.1.4"), look.model, trace) == Row(3, 1, 4, (row[0] > 0) / 5)
    assert fill(Edit.parse("o3.1.4.6"), look.model, trace) == Row(3, 1, 4, row[1] / row[1].sum())


def test_a_head_out_of_another_text_gives_what_it_gives_there_and_out_of_the_same_text_nothing_changes(look):
    other = look.model.trace("The cat saw the cat", remember=False)
    changed = recipes.read(look.model, look.trace, "r3.1", "", "The cat saw the cat")
    np.testing.assert_allclose(changed.attention["self"].out(3)[1], other.attention["self"].out(3)[1], atol=1e-5)
    np.testing.assert_allclose(recipes.read(look.model, look.trace, "r3.1", "", WORDS).logits, look.trace.logits, atol=1e-4)
    for text, sentence in (("", "There is no other text"), ("The cat", "has 3 tokens")):
        with pytest.raises(ValueError, match=sentence):
            recipes.read(look.model, look.trace, "r3.1", "", text)


def test_a_third_press_takes_a_head_from_another_text_where_there_is_one(look):
    with session(**{"resample": True, "change-other": "The cat saw the cat"}):
        other = changes.other_text()
    assert changes.click_head(look, ["m2.3"], 2, 3, other) == ["r2.3"] and changes.click_head(look, ["r2.3"], 2, 3, other) == []
    changed = changes.apply(look, ["r2.3"], other)
    assert changed.other == "The cat saw the cat" and not changed.unfit


def test_the_effect_of_a_line_is_that_of_its_cut_and_a_press_makes_it(look):
    for place in ((3, 1), (None, None)):
        effects = edge_effects(look.model, look.trace, -1, *place)
        assert (
            np.isnan(effects[np.triu_indices_from(effects, 1)]).all()
            and np.isfinite(effects[np.tril_indices_from(effects)]).all()
        )
        cut = look.model.trace(WORDS, edits=[Cut(4, 2, *place)])
        logs = [
            logits - logits.max() - np.log(np.exp(logits - logits.max()).sum())
            for logits in (cut.logits_at(-1), look.trace.logits_at(-1))
        ]
        best = int(logs[1].argmax())
        np.testing.assert_allclose(effects[4, 2], logs[0][best] - logs[1][best], atol=1e-4)
    assert changes.click_edge(look, [], [4, 2], True) == ["x4.2"] and changes.click_edge(look, ["x4.2"], [4, 2], True) == []
    assert changes.click_edge(look, [], [4, 2], False) == ["c3.1.4.2"]
    assert changed_text.cuts(look, ["x4.2", "c3.0.1.1"]) == [(0, 1, 1), (1, 4, 2)]


def test_a_row_is_replaced_once_a_query(look):
    even = changes.set_row(look, ["f4"], 4, None)
    assert even == ["f4", "e3.1.4"] and changes.set_row(look, even, 4, 2) == ["f4", "o3.1.4.2"]
    changed = changes.apply(look, ["o3.1.4.2"])
    rows = changed.trace.attention["self"][3][1, 4], look.trace.attention["self"][3][2, 4]
    np.testing.assert_allclose(*rows, atol=1e-5)


def test_no_change_is_the_same_reading(look):
    changed = changes.apply(look, [])
    assert changed.trace is look.trace and divergence(*[look.trace.logits_at(-1)] * 2) == 0


def test_what_a_model_refuses_is_left_out_with_its_sentence_and_the_rest_is_changed(look, monkeypatch):
    real, sentence = loaded.read, "What the feed-forward adds cannot be told apart."

    def refuse(name, text, target="", edits=()):
        if any(isinstance(edit, Skip) for edit in edits):
            raise ValueError(sentence)
        return real(name, text, target, edits)

    monkeypatch.setattr(loaded, "read", refuse)
    changed = changes.apply(look, ["h2.3", "f4"])
    assert changed.fitting == ["h2.3"] and changed.unfit == {"f4": sentence} and changed.trace.edits == (Head(2, 3),)


def test_a_head_before_the_change_is_untouched_and_one_after_it_is_not(look):
    changed = changes.apply(look, ["h3.0"])
    assert figures.is_untouched(look, changed) and not figures.is_untouched(look.at(5, 1), changed)


@pytest.mark.parametrize("level", state.LEVELS)
def test_what_is_said_of_the_prediction_is_what_the_model_does(monkeypatch, level):
    model = models.load("writer")
    before, after = (
        trace.logits_at(-1) for trace in (model.trace(WORDS), model.trace(WORDS, edits=[Head(2, 3), Skip(4, "feedforward")]))
    )
    bars = offered(monkeypatch, "change", f"{TEXT}&level={level}&changes=h2.3,f4")["change bars"]
    numbers = {name: array.values for name, array in bars.numbers().items()}
    ids = recipes.candidates(before, after, bars.options["count"])
    for name, logits in (("before", before), ("after", after)):
        shares = np.exp(logits.astype(float) - logits.max())
        np.testing.assert_allclose(numbers[name], (shares / shares.sum())[ids], rtol=1e-4)


def test_the_effects_on_the_board_are_those_of_the_analysis(monkeypatch):
    board = offered(monkeypatch, "change", f"{TEXT}&level=expert&try-all=true&changes=h2.3")["change parts"]
    effects = board.numbers()["effect_nats"].values
    model = models.load("writer")
    np.testing.assert_allclose(effects[:, :-2], head_effects(model, WORDS), atol=1e-4)
    np.testing.assert_allclose(effects[:, -1], skip_effects(model, model.trace(WORDS), "block"), atol=1e-4)


@pytest.mark.parametrize("level", ["beginner", "intermediate"])
def test_the_part_that_is_missed_most_has_the_colour_of_what_speaks_for_a_guess(monkeypatch, level):
    board = offered(monkeypatch, "change", f"{TEXT}&level={level}&try-all=true")["change parts"]
    _, arrays = sent(board.drawn)
    order = np.argsort(arrays["values"].ravel())
    assert arrays["shades"].ravel()[order[0]] > 128 and (np.diff(arrays["shades"].ravel()[order].astype(int)) <= 0).all()


def test_beginners_read_by_how_much_the_chance_of_the_guess_changes(monkeypatch):
    board = offered(monkeypatch, "change", f"{TEXT}&level=beginner&try-all=true")["change parts"]
    header = header_of(board.drawn.data)
    assert header["unit"] == "times its chance" and "nats" not in str(header)
    assert not offered(monkeypatch, "change", f"{TEXT}&level=expert&try-all=true")["change parts"].options["factors"]


def test_work_on_all_parts_says_all_the_way_how_far_it_is_and_can_be_stopped_there(look):
    """Cancelling takes effect at the next report, so there are reports while heads, feed-forwards and blocks are tried."""
    shares: list[float] = []

    def try_all(stop: float = 1.0) -> np.ndarray:
        def report(share: float, words: str) -> None:
            shares.append(share)
            if share >= stop:
                raise Cancelled

        return recipes.effects_of(look.model, look.trace, "self", -1, "", report)

    np.testing.assert_allclose(try_all(), recipes.effects_of(look.model, look.trace, "self", -1, ""), atol=1e-5)
    assert shares == sorted(shares) and {int(3 * share) for share in shares} == {0, 1, 2}
    for stop in (0.1, 0.33, 0.66):
        with pytest.raises(Cancelled):
            try_all(stop)


@pytest.mark.parametrize("level", state.LEVELS)
def test_a_small_effect_is_never_said_to_be_nothing(look, level):
    position = figures.predicted_position(look)
    facts = figures.strongest(replace(look, level=level), np.array([[0.2, -0.00348, np.nan, np.nan]]), position)
    assert (facts["layer"], facts["head"], facts["nats"], facts["factor"]) == ("0", "1", "−0.00348", "99.7\u00a0%")
    best = float(look.model.chances(look.trace.scores_at(position)).max())
    after = best * np.exp(-0.00348)
    assert facts["before"] != facts["after"] in (percent(after), whole_percent(after)), "not even in whole per cent"


@pytest.mark.parametrize("level", state.LEVELS)
def test_it_says_what_to_press_with_changes_too_so_that_the_board_below_stays_where_it_is(look, level):
    for changed in ((), ("f4",)):
        draft = Draft(HERE, replace(look, level=level))
        assert switching.list_part(draft, Settings(changed)).below == sections(HERE / f"{level}.md")["press"]


def test_a_step_back_one_change_taken_back_and_all_as_it_was(look):
    clicked = SimpleNamespace()
    with session(change=clicked, changes="h2.3,f4") as held:
        for value, then in ((0, "f4"), ("reset", ""), ("undo", "f4"), ("undo", "h2.3,f4")):
            clicked.chosen = {"part": "changes", "value": value}
            experiment.react(look, Settings(tuple(changes.load())))
            assert held["changes"] == then
        assert not held["changes-before"]
        clicked.chosen = {"part": "dials", "value": [0, 1.5]}
        experiment.react(look, Settings(tuple(changes.load())))
        assert held["changes"] == "h2.3,f4,s3.1~1.5"


CLICKS = [
    {"part": "parts", "value": [2, 3]},
    {"part": "parts", "value": [4, 8]},
    {"part": "after", "value": {"cut": [3, 1], "heads": [0, 2]}},
    {"part": "changes", "value": 0},
    {"part": "changes", "value": "reset"},
    {"part": "dials", "value": [1, 2.5]},
]


@pytest.mark.parametrize("click", CLICKS)
def test_a_click_changes_on_the_line_what_its_run_then_changes(look, click):
    before = Settings(("h0.1",))
    with session(change=SimpleNamespace(chosen=click), changes="h0.1") as held:
        experiment.react(look, before)
        after = live.after_click(look, click, live.values_of(before, ""))
        assert after == {"changes": [text for text in held["changes"].split(",") if text], "undo": bool(held["changes-before"])}


@pytest.mark.parametrize(
    "click",
    [
        {"part": "changes", "value": "undo"},
        {"part": "parts", "value": [0, 10]},
        {"part": "parts", "value": [0, -1]},
        {"part": "parts", "value": "h2.3"},
        {"part": "dials", "value": [2, 1.0]},
        {"part": "after", "value": {"cut": [1], "heads": [0]}},
        {"part": "bars", "value": {"id": 3}},
        None,
    ],
)
def test_a_click_that_makes_no_change_of_the_board_is_none_on_the_line(look, click):
    assert live.after_click(look, click, live.values_of(Settings(("h0.1",)), "")) is None


def test_what_is_nonsense_in_a_link_is_told_of_and_the_rest_is_changed():
    app = open_link("change", f"{TEXT}&changes=h2.3,x9,c1.2")
    assert app.session_state["changes"] == "h2.3" and "“x9,c1.2”" in app.warned[0].replace("\\", "")


@pytest.mark.parametrize(
    "change",
    [
        "h2.3",
        "m0.11@cross",
        "r2.3",
        "s2.3~0",
        "s2.3~1.50",
        "t2.3~999.999",
        "c2.3.5.1@encoder",
        "x999999.0",
        "e2.3.5",
        "o2.3.5.4",
        "f4@decoder",
        "g4",
        "b3",
    ],
)
def test_links_written_before_still_open(change):
    assert recipes.is_change(change)


@pytest.mark.parametrize(
    "change",
    [
        "h2.3@self",
        "h-1.3",
        "c2.3.-1.0",
        "h2.*",
        "x*.1",
        "a4",
        "g4.2",
        "g4.*~0.5",
        "m2.3~0.5",
        "w2.3.1~0.5_0.5",
        "v3.2~0.5",
        "d3.*~0.5",
        "p1.1~1",
        "s2.3~-1",
        "s2.3~1e9",
    ],
)
def test_edits_that_the_board_has_no_place_for_are_refused_in_links(change):
    assert not recipes.is_change(change)


def test_what_does_not_fit_is_said_and_kept():
    app = open_link("change", f"{TEXT}&changes=h2.3,h77.0,c1.0.99.2,h1.0@cross,m77.0,s1.99~0.5")
    notices = " ".join(info.value for info in app.info)
    assert notices.count("does not fit here") == 3 and "2 more changes do not fit" in notices
    assert app.session_state["changes"].count(",") == 5 and not app.warned


@pytest.mark.parametrize(
    "link",
    [
        f"{TEXT}&level=expert&changes=" + ",".join(f"h{layer}.{head}" for layer in range(6) for head in range(8)),
        f"{TEXT}&changes=" + ",".join(f"b{layer}" for layer in range(6)),
        "level=expert&layer=L2&head=H1&changes=c2.1.150.140,c2.1.5.4,m1.1&text=" + 32 * "the+cat+sat+on+the+",
        "text=&level=expert&changes=h0.0&try-all=true",
        "text=a&level=intermediate&changes=c0.0.0.0,m1.1&try-all=true",
        "model=filler&text=The+cat+sat&level=intermediate&changes=h1.1&try-all=true",
        "model=filler&text=The+[MASK]+sat&level=expert&changes=f1,b2,m0.0,t1.1~2&try-all=true",
        "model=translator&text=The+cat&target=Le&level=expert&attention=Encoder&changes=b1@encoder,c1.1.1.0@encoder",
    ],
)
def test_everything_off_a_long_text_one_token_no_token_and_no_mask(link):
    assert not open_link("change", link).warned


def test_of_a_long_text_the_end_is_drawn_with_the_cuts_that_are_in_it(monkeypatch):
    link = "level=expert&layer=L2&head=H1&changes=c2.1.150.140,c2.1.5.4&text=" + 32 * "the+cat+sat+on+the+"
    after = offered(monkeypatch, "change", link)["change after"]
    count, (first, last) = len(after.look.trace.tokens), after.options["window"]["queries"]
    assert (first, last) == (count - figures.LONG, count - 1) and after.options["cuts"] == [(1, 150, 140), (1, 5, 4)]
    weights = after.numbers()["weights"].values
    assert weights.shape == (figures.LONG, figures.LONG) and weights[150 - first, 140 - first] == 0


def test_a_model_without_a_head_for_language_says_so_and_still_shows_attention(monkeypatch, tmp_path):
    from tests.models.networks import network, tokenizer
    from ui.memory import allowed

    network("BERT without a head").save_pretrained(tmp_path)
    tokenizer("encoder").save_pretrained(tmp_path)
    monkeypatch.setattr(allowed, "folders", lambda: allowed.roots(address="localhost"))
    loaded.model(str(tmp_path))
    pictures = offered(monkeypatch, "change", f"model={tmp_path}&text=The+cat+sat&changes=h0.0")
    assert "change bars" not in pictures and "change after" in pictures


@pytest.mark.parametrize(("off", "differs"), [("h0.0", True), ("h2.3", False), ("h5.0", False)])
def test_a_map_from_before_the_changes_stands_beside_one_that_differs(monkeypatch, off, differs):
    pictures = offered(monkeypatch, "change", f"{TEXT}&level=intermediate&layer=L2&head=H3&changes={off}")
    assert "change after" in pictures and ("change before" in pictures) == differs


def test_of_a_text_too_long_for_every_line_a_sentence_says_so_and_the_rest_stands():
    app = open_link("change", "level=expert&try-lines=true&text=" + "+".join(["the cat"] * 40).replace(" ", "+"))
    assert "at most 64 tokens" in words_on(app) and not app.error


def test_a_small_divergence_is_not_said_to_be_nothing():
    assert [under(value) for value in (0.0, 1e-6, 0.00049, 0.0005, 0.1234)] == ["0", *["less than 0.001"] * 2, "0.001", "0.123"]


def test_a_head_has_a_capital_where_it_begins_a_sentence_alone():
    assert (
        capitalize_heads("cross L2 H1: off. decoder L0 H1 and cross L2 H1") == "Cross L2 H1: off. Decoder L0 H1 and cross L2 H1"
    )


@pytest.mark.parametrize(("change", "scale"), [("h2.3", 0.0), ("s2.3~1.5", 1.5)])
def test_a_change_of_one_head_stands_beside_the_same_change_of_every_other(look, change, scale):
    before, model = look.trace.logits_at(-1), look.model
    places = list(np.ndindex(6, 8))
    each = np.array([divergence(before, model.trace(WORDS, edits=[Head(*place, scale)]).logits_at(-1)) for place in places])
    rank = 1 + int((each > each[places.index((2, 3))]).sum())
    shown_words = unmarked(board(open_link("change", f"{TEXT}&level=expert&changes={change}")))
    assert f"Rank **{rank} of 48**" in shown_words
    assert f"median {under(float(np.median(each)))}, largest {under(float(each.max()))}" in shown_words


def test_a_place_among_all_heads_stands_only_where_one_head_is_changed_and_waits_where_it_takes_long(monkeypatch):
    for change in ("f2", "h2.3,h2.4", ""):
        assert "of 48**" not in board(open_link("change", f"{TEXT}&level=expert&changes={change}"))
    monkeypatch.setattr(baseline, "QUICK", 0.0)
    link = f"{TEXT}+and+ran&level=expert&changes=h2.3"
    assert "“Try every part” gives the rank" in unmarked(board(open_link("change", link)))
    assert "of 48**" in board(open_link("change", f"{link}&try-all=true"))


@pytest.mark.parametrize("level", state.LEVELS)
def test_beginners_and_phones_have_the_result_in_a_line_above_the_board(look, level):
    """The screen of a phone ends above the bars."""
    seen = replace(look, level=level)
    trace = look.model.trace(WORDS, edits=[Head(3, 1)])
    parts = {}
    for narrow in (False, True):
        draft = Draft(HERE, replace(seen, narrow=narrow))
        parts[narrow] = figures.result(draft, changes.ChangedText(["h3.1"], {}, trace), figures.predicted_position(seen))
    before, after = look.model.chances(look.trace.logits_at(-1)), look.model.chances(trace.logits_at(-1))
    spoken = whole_percent if level == "beginner" else percent
    best = int(before.argmax())
    (result,) = parts[True]
    assert bool(parts[False]) == (level == "beginner") and result.name == "result"
    assert f"{spoken(float(before[best]))} → **{spoken(float(after[best]))}**" in unmarked(result.above)
