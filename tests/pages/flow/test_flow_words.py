"""The words of page Flow about its measurements, at every level."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import models
from analysis import Attribution, rollout
from pages.flow import choose, recipes
from pages.flow.boards import findings
from pages.flow.compose import HERE
from pages.flow.request import Request, request_of
from pages.flow.settings import Settings
from tests.pages.levels import flat, read
from tests.pages.opening import finish, header_of, open_link
from tests.serving import ROOT
from ui.escaping import plain
from ui.lexicon.marks import sections
from ui.look import Look
from ui.picture.board import Draft
from viz.numbers import decimal, whole_percent

TEXT = "Tom had a ball, and his dog ran after the"
PAGES = ROOT / "pages"
LEVELS = ("beginner", "intermediate", "expert")


@pytest.mark.parametrize("level", LEVELS)
def test_a_slope_is_no_part_of_a_logit_and_a_logit_no_probability(level):
    name = "gradient rollout" if level == "beginner" else "attention × gradient"
    words = sections(PAGES / "flow" / f"{level}.md")[f"method {name}"]
    assert "more likely" not in words and not re.search(r"(?<!not what the look )adds to the logit", words)


def test_a_beginner_reads_first_which_typed_tokens_the_guess_goes_back_to():
    model = models.load("writer")
    trace = model.trace(TEXT)
    place = len(trace.tokens) - 1
    scores = Attribution(model, trace, place, int(trace.logits_at(-1).argmax())).scores("gradient rollout")
    first, second, *_ = (int(i) for i in np.argsort(-scores) if not trace.tokens[i].special)
    app = open_link("flow", f"text={TEXT.replace(' ', '+')}")
    shares = [whole_percent(scores[i]) for i in (first, second)]
    names = [trace.tokens[i].text.strip() for i in (first, second)]
    even = f"If all {len(scores)} tokens, with “start”, counted the same, each would have {whole_percent(1 / len(scores))}"
    sentence = f"**“{names[0]}”** counts most for it ({shares[0]}), and then “{names[1]}” ({shares[1]}). {even}."
    assert names == ["ball", "the"] and flat(f"Of the tokens that you typed, {sentence}") in read(app)
    assert "After the token with the frame, the model’s best guess is **“ball”**" in read(app)
    early = read(open_link("flow", f"text={TEXT.replace(' ', '+')}&token=3"))
    assert flat("If all 4 tokens, with “start”, counted the same, each would have 25 %.") in early, "no later one is seen"
    assert [fold.label for fold in app.expander] == ["Two other ways to ask"] and not app.expander[0].proto.expanded


def test_above_two_methods_stands_what_each_puts_first_and_from_which_layer_on():
    model = models.load("writer")
    trace = model.trace(TEXT)
    attribution = Attribution(model, trace, len(trace.tokens) - 1, int(trace.logits_at(-1).argmax()))
    gradients = np.array([attribution.scores("gradient rollout", layer) for layer in range(6)])
    attention = rollout(trace.attention["self"])[:, -1]
    names, shares, layers = [], [], []
    for each in (gradients, attention):
        top = int(each[-1].argmax())
        names.append(trace.tokens[top].text.strip())
        shares.append(f"{decimal(100 * each[-1, top])}\u00a0%")
        layers.append(min(first for first in range(6) if (each[first:].argmax(-1) == top).all()))
    assert names == ["ball", "<|start|>"]
    link = f"level=intermediate&text={TEXT.replace(' ', '+')}"
    words = read(open_link("flow", link))
    assert flat(f"Gradient rollout puts **“ball”** first: {shares[0]}") in words
    assert flat(f"an even share of {len(trace.tokens)} tokens would be {decimal(100 / len(trace.tokens))}\u00a0%") in words
    assert flat(f"puts **“{plain(names[1])}”** first ({shares[1]})") in words
    words = read(open_link("flow", f"{link}&show=Layer+by+layer"))
    first = [trace.tokens[int(each[0].argmax())].text.strip() for each in (gradients, attention)]
    leads = [
        f"“{start}” leads after L0, and **“{plain(name)}”** "
        + (f"only after the last layer, L{layer} ({share})" if layer == 5 else f"from L{layer} on ({share} in the end)")
        for start, name, layer, share in zip(first, names, layers, shares, strict=True)
    ]
    assert min(layers) > 0 and flat(f"By gradient rollout, {leads[0]}; by rollout, {leads[1]}.") in words


def test_a_step_of_rollout_can_be_checked_by_hand():
    attention = models.load("writer").trace(TEXT).attention["self"]
    rows, looks = rollout(attention)[:, -1], attention[0].mean(0)[-1]
    most = int(looks[:-1].argmax())
    view, request, scores = flow_at("intermediate")
    words = findings.check_layer(view, request)
    halved = f"**{decimal(100 * looks[most])} %** of its attention", f"half of that: **{decimal(100 * looks[most] / 2)} %**"
    assert rows[0, most] == pytest.approx(looks[most] / 2) and all(flat(part) in flat(words) for part in halved)
    words, top = findings.check_rollout(view, request, scores["rollout"]), int(rows[-1].argmax())
    before = float(rollout(attention)[-2][:, top] @ attention[5].mean(0)[-1])
    facts = decimal(100 * before), decimal(100 * rows[-2, top]), decimal(100 * rows[-1, top])
    assert flat("½ · {} % + ½ · {} % = **{} %**".format(*facts)) in flat(words)
    assert not findings.check_layer(view, replace(request, choices=(("fusion", "max"),))), "then it is no mean over the heads"


@pytest.mark.parametrize(("text", "word"), [(TEXT, "ball"), ("The cat sat", "cat")])
def test_a_beginner_is_asked_to_take_a_word_away_that_is_not_the_chosen_token(text, word):
    draft, request, scores = flow_at("beginner", text)
    guess = request.model.predict(text, top=1)[0].text.strip()
    words = findings.what_to_try(draft, request, scores["gradient rollout"])
    assert f"does the model still guess “{guess}” when “{word}” is taken out of your text?" in words


def test_a_guess_that_is_a_sign_stands_on_the_board_as_it_is():
    draft, request, scores = flow_at("beginner", "The nurse told the doctor that she was late")
    assert "still guess “.” when" in findings.what_to_try(draft, request, scores["gradient rollout"])


def flow_at(level: str, text: str = TEXT) -> tuple[Draft, Request, dict[str, np.ndarray]]:
    model = models.load("writer")
    look = Look(model, model.trace(text), level=level)
    settings = Settings(token=int(look.trace.logits_at(-1).argmax()), choices=(("fusion", "mean"),))
    request = request_of(look, settings)
    return Draft(HERE, look), request, {name: request.attribution.scores(name) for name in ("rollout", "gradient rollout")}


def test_above_the_streams_stands_the_token_where_most_begin():
    shares = rollout(models.load("writer").trace(TEXT).attention["self"])[-1][-1]
    share = f"{decimal(100 * shares.max())}\u00a0%"
    words = read(open_link("flow", f"level=intermediate&text={TEXT.replace(' ', '+')}&show=Streams"))
    assert (
        shares.argmax() == 0
        and flat(f"Most begins at **“{plain('<|start|>')}”** ({share};") in words
        and flat("its share of all that arrives at “the”, the bar at the right end") in words
    )


def test_a_model_without_predictions_has_a_sentence_on_its_attention_alone():
    words = read(open_link("flow", "text=The+cat+sat&model=sorter&token=1&level=intermediate"))
    assert "rollout" in words and "gradient rollout:" not in words and "The last layer looks most at" in words


def test_a_start_that_takes_most_has_its_reason_beside_it():
    shares = rollout(models.load("writer").trace("The cat sat").attention["self"])[-1][-1]
    assert shares.argmax() == 0
    start = f"{decimal(100 * shares[0])}\u00a0%"
    reason = flat(f"“start” has {whole_percent(shares[0])}, and no colour here, because that says little: many heads rest there")
    assert reason in read(open_link("flow", "text=The+cat+sat"))
    assert flat(f"“<|start|>” has {start}, because") in read(open_link("flow", "text=The+cat+sat&level=intermediate"))


def test_without_a_guess_a_beginner_sees_where_attention_leads():
    words = read(app := open_link("flow", "text=The+cat+sat&model=sorter&token=1"))
    assert "most comes from" in words and "Where the last layer looks" in words and "What this guess goes back to" not in words
    assert [fold.label for fold in app.expander] == ["Another way to ask"]


def test_beside_the_start_a_beginner_sees_the_other_shares_in_all_shades():
    trace = models.load("writer").trace("The cat sat")
    options = {"position": 3, "token": None, "choices": (), "between": None, "second": "", "scope_options": {}, "link": "flow"}
    header = header_of(recipes.method(models.load("writer"), trace, name="rollout", simple=True, **options).data)
    shares = rollout(trace.attention["self"])[-1][-1]
    assert header["quantity"]["apart"] == 0 and header["quantity"]["high"] == whole_percent(shares[1:].max())
    assert "apart" not in header_of(recipes.method(models.load("writer"), trace, name="rollout", simple=False, **options).data)


def test_the_first_token_goes_back_to_itself_alone():
    words = read(open_link("flow", "text=The+cat+sat&token=0"))
    assert "most comes from" not in words and "counts most" not in words


def test_a_beginner_reads_the_guess_without_a_word_beside_the_guess_with_it_and_what_chance_gives():
    model = models.load("writer")
    trace = model.trace(TEXT)
    guess, ids = int(trace.logits_at(-1).argmax()), [token.id for token in trace.tokens]

    def chances_without(place: int) -> np.ndarray:
        logits = model.trace([token for i, token in enumerate(ids) if i != place]).logits_at(-1).astype(np.float64)
        return np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()

    app = open_link("flow", f"text={TEXT.replace(' ', '+')}")
    (button,) = [button for button in app.button if button.label == "Guess again without “ball”"]
    words = read(finish(button.click().run()))
    ball, last = next(i for i, token in enumerate(trace.tokens) if token.text == " ball"), len(ids) - 1
    without = chances_without(ball)
    before = whole_percent(np.exp(model.log_chances(trace.logits_at(-1)[None])[0, guess]))
    assert flat(f"the chance of “ball” is **{whole_percent(without[guess])}**; before, it was **{before}**") in words
    usual = np.mean([chances_without(i)[guess] for i in range(1, last) if i != ball])
    assert flat(f"Without another of your tokens, picked at random, it would be {whole_percent(usual)} on average") in words
    best = model.top(np.log(without), 0, 1)[0]
    assert best.id != guess and flat(f"Now the model’s best guess is **“{best.text.strip()}”**") in words
    assert "Guess again without “ball”" not in [button.label for button in app.button]


def test_a_press_on_the_coloured_text_asks_about_that_token(monkeypatch):
    _, request, _ = flow_at("beginner")
    pressed = list[int]()
    monkeypatch.setattr(choose, "press", lambda place, newest: pressed.append(place))
    for at in (4, 0, len(request.trace.tokens)):
        monkeypatch.setattr(choose, "choice", lambda board, at=at: {"part": "gradient rollout", "value": at})
        choose.react_to_text(request, "flow-methods")
    assert pressed == [4, 0], "a place of a longer text is none"
