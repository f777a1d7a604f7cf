"""Page Explain without a browser: its numbers are those of the analysis, and bad input gets a sentence."""

from __future__ import annotations

import re

import numpy as np
import pytest
import streamlit
import transformers as T

import models
from analysis import Question, attributions, explain, faithfulness
from analysis.ranks import pair_by_chance
from pages.explain import recipes
from pages.explain import state as page_state
from pages.explain.request import METHODS, TITLES
from tests.grids import grid
from tests.models.networks import GROUPED, network, tokenizer
from tests.pages.mounting import mounted
from tests.pages.opening import finish, open_link, unmarked, words_on
from tests.pages.taking import header
from tests.serving import ROOT
from ui import state
from ui.lexicon.marks import sections
from ui.memory import loaded
from viz import View, percent
from viz.numbers import decimal, whole_percent

TEXT = "The farmer gave the hungry dog a bone, and the dog ran into the"
LINK = f"text={TEXT.replace(' ', '+')}"


def numbers(app) -> list[str]:
    return app.dataframe[0].value.iloc[:, 1].tolist()


@pytest.mark.parametrize("method", grid(METHODS, ["leave-one-out", "attention × gradient"]))
def test_the_table_is_the_analysis(method):
    text = "The farmer gave the hungry dog a bone and"  # of so many words SHAP still draws orders
    app = open_link("explain", f"text={text.replace(' ', '+')}&level=expert&explain-by={TITLES[method]}")
    scores = attributions(models.load("writer"), text, method, keep_last=True)
    factor = 100 if method in ("attention × gradient", "rollout") else 1
    assert numbers(app) == [decimal(factor * score) for score in scores]


@pytest.mark.thorough
def test_shap_says_whether_it_was_enumerated_and_shows_its_standard_error_where_it_was_not():
    few = open_link("explain", "text=The+cat+sat+on&level=expert&explain-by=Sampled+SHAP")
    assert "all 8 texts" in words_on(few) and "tandard error" not in words_on(few) and few.dataframe[0].value.shape[1] == 2
    many = open_link("explain", f"{LINK}&level=expert&explain-by=Sampled+SHAP")
    model = models.load("writer")
    trace = model.trace(TEXT)
    place = len(trace.tokens) - 1
    question = Question(model, trace, place, int(trace.logits_at(place).argmax()), keep_last=True)
    errors = explain(question, "sampled shap").errors([[unit] for unit in range(len(trace.tokens))])
    table = many.dataframe[0].value
    assert table["± standard error"].tolist() == [decimal(error) for error in errors]
    assert f"{decimal(float(np.nanmax(errors)))} nats" in words_on(many)


def test_the_token_that_is_named_is_the_strongest_for_or_against():
    model = models.load("writer")
    trace = model.trace("The dog ran")
    scores = np.array([np.nan, 0.3, -2.0, 1.0])
    options = {"method": "shap", "position": 3, "token": 300, "against": None, "second": "", "scope_options": {}}
    view = recipes.explained(model, trace, **options, simple=False, scores=scores)
    assert header(view)["chosen"] == 2


def test_the_last_token_is_grey_at_every_level_and_the_strongest_is_named_with_its_number():
    text, model = "Tom had a ball, and his dog ran after the", models.load("writer")
    scores = attributions(model, text, "leave-one-out", keep_last=True)
    tokens = model.trace(text).tokens
    assert np.isnan(scores[-1]) and tokens[int(np.nanargmax(scores))].text == " after"
    trace = model.trace(text)
    best = int(trace.logits_at(-1).argmax())
    options = {"method": "leave-one-out", "position": len(tokens) - 1, "token": best, "against": None}
    view = recipes.explained(model, trace, **options, second="", scope_options={}, simple=True, scores=scores)
    assert header(view)["chosen"] == len(tokens) - 2 and header(view)["quantity"]["diverging"]
    assert header(view)["quantity"]["words"][-1] == "–"
    page_text = unmarked(words_on(open_link("explain", f"text={text.replace(' ', '+')}")))
    assert "“the” is grey" in page_text and "would guess what follows “after”" in page_text
    first, second, third = (tokens[i].text.strip() for i in np.argsort(-np.nan_to_num(scores[:-1]))[:3])
    assert f"so “{first}” helps the guess most" in page_text and re.search(f"Next: “{second}” .*and “{third}”", page_text)
    other = unmarked(words_on(open_link("explain", f"level=intermediate&text={text.replace(' ', '+')}")))
    numbers = decimal(float(np.nanmax(scores))), len(tokens) - 2, decimal(float(np.nanmean(scores)))
    assert "In logarithms that is {} nats, where the average of {} tokens is {} nats.".format(*numbers) in other
    chances = [float(model.chances(model.trace(text).logits[-1])[best]) for text in (text, text.replace(f" {first}", ""))]
    before, after = map(whole_percent, chances)
    assert f"**Without “{first}”, the chance of “ball” falls from {before} to {after}**" in page_text
    before, after = map(percent, chances)
    assert f"**Without “{first}”, the probability of “ball” falls from {before} to {after}**" in other
    assert other.index("falls from") < other.index("nats"), "probabilities before logarithms"
    assert f"The model gives **“ball”** a probability of {before} here. Which tokens of the text speak for that?" in other


def test_a_contrast_in_a_link_is_that_of_the_analysis():
    app = open_link("explain", f"{LINK}&level=expert&explain-word=barn&explain-against=house")
    writer = models.load("writer")
    barn, house = (writer.tokenize(f" {word}")[-1].id for word in ("barn", "house"))
    scores = attributions(writer, TEXT, "leave-one-out", token=barn, against=house, keep_last=True)
    assert numbers(app) == [decimal(score) for score in scores]
    assert "“barn” rather than “house”" in words_on(app)


def test_a_word_against_itself_is_not_offered_and_a_link_that_asks_for_it_is_told():
    app = open_link("explain", f"{LINK}&level=expert&explain-word=barn&explain-against=barn")
    assert len(app.warned) == 1 and "the word “barn”, which does not exist here" in app.warned[0]


@pytest.mark.parametrize("name", ["explain-word", "explain-against"])
def test_a_link_that_names_what_is_no_token_is_told(name):
    app = open_link("explain", f"{LINK}&level=expert&{name}=wizardry")
    assert len(app.warned) == 1 and "“wizardry”, which does not exist here. You see the default instead." in app.warned[0]
    assert app.session_state[name] is None


def test_a_contrast_may_be_any_word_and_stays_while_the_text_goes_on():
    """Any token can be compared with, from a link or typed; a word of several tokens, or the word itself, gets a reason."""
    writer = models.load("writer")
    dust = writer.tokenize(" dust")[-1].id
    logits = writer.trace(TEXT).logits_at(-1)
    assert (logits > logits[dust]).sum() > 20 and dust != int(logits.argmax())
    app = open_link("explain", f"{LINK}&level=expert&explain-against=dust")
    expected = attributions(writer, TEXT, "leave-one-out", against=dust, keep_last=True)
    assert numbers(app) == [decimal(score) for score in expected] and not app.warned
    longer = f"{TEXT} old"
    finish(app.text_input(key="text").set_value(longer).run())
    assert numbers(app) == [
        decimal(score) for score in attributions(writer, longer, "leave-one-out", against=dust, keep_last=True)
    ]


def test_what_is_typed_to_hold_against_is_one_token_and_not_the_word_itself(monkeypatch):
    writer, menu = models.load("writer"), streamlit.selectbox
    best = writer.token_text(int(writer.trace(TEXT).logits_at(-1).argmax())).strip()
    scores = attributions(writer, TEXT, "leave-one-out", against=writer.tokenize(" dust")[-1].id, keep_last=True)
    for typed, why in (("dust", ""), ("wizardry", "is no single token"), (best, "cannot be held against itself")):

        def write(title: str, *arguments, typed=typed, **options):  # AppTest cannot type what is no option
            return typed if title == "Rather than" else menu(title, *arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(streamlit, "selectbox", write)
            app = open_link("explain", f"{LINK}&level=expert")
        if why:
            assert any(why in info.value for info in app.info)
            scores = attributions(writer, TEXT, "leave-one-out", keep_last=True)
        assert numbers(app) == [decimal(score) for score in scores]


@pytest.mark.parametrize("level", state.LEVELS)
def test_a_text_of_nothing_and_of_one_word(level):
    """The last token stays, so a single one leaves nothing to take away."""
    for text in ("", "dog"):
        app = open_link("explain", f"text={text}&level={level}")
        assert "Type a few words" in words_on(app) and not app.dataframe
    assert len(numbers(open_link("explain", f"text=dog+ran&level={level}"))) == 3


def test_a_beginner_reads_how_far_to_believe_it():
    writer, text = models.load("writer"), "The old woman gave the boy an apple because she liked the"
    app = open_link("explain", f"text={text.replace(' ', '+')}")
    trace = writer.trace(text)
    question = Question(writer, trace, len(trace.tokens) - 1, int(trace.logits_at(-1).argmax()), keep_last=True)
    measures = faithfulness(question, {"leave-one-out": explain(question, "leave-one-out").scores})
    assert measures.verdict("leave-one-out") == "better"
    words = words_on(app)
    assert f"{measures.ahead('leave-one-out')} of 20 random orders did as well" in words and "better than luck" in words


def test_work_takes_longer_where_more_of_an_answer_is_read_too():
    translator = models.load("translator")
    traces = [translator.trace("The cat sleeps.", target) for target in ("Le", "Le chat dort sous la table.")]
    few, many = (Question(translator, trace, len(trace.target) - 1, 5).length for trace in traces)
    assert few == len(traces[0].tokens) + len(traces[0].target) and many - few == len(traces[1].target) - len(traces[0].target)


def test_long_work_says_its_cost_and_waits_for_a_press():
    long = "+".join(["The+dog+ran+to+the+old+house."] * 30)
    app = open_link("explain", f"text={long}&level=expert&explain-by=LIME")
    buttons = [button for button in app.button if re.match(r"Ask LIME \(about \d+ (seconds|minutes)\)", button.label)]
    assert len(buttons) == 1 and not app.dataframe
    assert "LIME reads up to" in words_on(app)


@pytest.mark.parametrize("level", state.LEVELS)
def test_a_model_without_a_head_says_that_there_is_nothing_to_explain(level, tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", str(tmp_path))
    T.LlamaModel(T.LlamaConfig(**GROUPED)).save_pretrained(tmp_path / "headless")
    tokenizer("decoder").save_pretrained(tmp_path / "headless")
    loaded.model(str(tmp_path / "headless"))
    page_text = words_on(open_link("explain", f"model={tmp_path / 'headless'}&{LINK}&level={level}&explain=Methods"))
    assert ("makes no guesses" if level == "beginner" else "has no language-model head") in page_text


@pytest.mark.parametrize("level", ["intermediate", "expert"])
def test_gradient_times_input_says_which_vector_it_is_of_and_offers_the_token_embedding_alone(level, tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", str(tmp_path))
    network("GPT-2").save_pretrained(tmp_path)
    tokenizer("decoder").save_pretrained(tmp_path)
    model = loaded.model(str(tmp_path))
    link = f"model={tmp_path}&text=the+cat+sat+on&level={level}&explain-by=Gradient+×+input"
    for alone, name in ((False, "the first layer is given"), (True, "embedding alone")):
        app = open_link("explain", f"{link}&explain-tokens={str(alone).lower()}")
        scores = attributions(model, "the cat sat on", "gradient × input", tokens_alone=alone, keep_last=True)
        assert numbers(app) == [decimal(score) for score in scores] and name in words_on(app)
        assert app.toggle(key="explain-tokens").value == alone and not app.warned
    assert len(open_link("explain", f"{link}&explain-tokens=nonsense").warned) == 1
    rotary = open_link("explain", f"{LINK}&level={level}&explain-by=Gradient+×+input")
    assert "embedding alone" in words_on(rotary) and not [toggle for toggle in rotary.toggle if toggle.key == "explain-tokens"]


@pytest.mark.parametrize("level", state.LEVELS)
def test_what_is_covered_is_called_so_and_a_source_is_what_is_asked_about(level):
    filled = words_on(open_link("explain", f"level={level}&model=filler&text=The+[MASK]+sat+down&explain=Which+to+believe"))
    assert ("are covered" if level == "beginner" else "all masked") in filled
    assert "so far" in words_on(open_link("explain", "model=translator&text=The+cat+sleeps.&target=Le"))


def test_the_most_and_the_least_alike_stand_with_the_text_until_a_pair_is_chosen():
    app = open_link("explain", f"{LINK}&level=intermediate&explain=Methods")
    (menu,) = (box for box in app.selectbox if box.label.startswith("Compare two methods"))
    pairs = menu.options[1:]
    assert len(pairs) == len(METHODS) * (len(METHODS) - 1) / 2
    ranks = [float(re.search(r"\(([−\d.]+)\)$", pair)[1].replace("−", "-")) for pair in pairs]
    assert ranks == sorted(ranks, reverse=True)
    assert cards(app) == [f"Most alike: {pairs[0]}", f"Least alike: {pairs[-1]}"]
    finish(menu.select_index(3).run())
    assert cards(app) == [re.sub(r" \((.*)\)$", r": \1", pairs[2])]
    units = len(models.load("writer").trace(TEXT).tokens) - 2  # without the start, and without the last, which stays
    low, high = (f"{rank:.2f}".replace("-", "−") for rank in pair_by_chance(units))
    assert f"two random orders of {units} tokens is between {low} and {high} in 95 of 100 cases." in words_on(app)
    assert not app.table, "what it costs is for experts"


def cards(app) -> list[str]:
    """The titles of the cards with the text by two methods."""
    (board,) = (data for data in mounted(app) if b'"label":"The text by two methods"' in data.replace(b": ", b":"))
    return [card["title"] for card in header(View("board", board, ""))["cards"]]


@pytest.mark.parametrize("level", ["intermediate", "expert"])
def test_every_method_has_its_words(level):
    headings = sections(ROOT / "pages" / "explain" / f"{level}.md")
    lines = [headings.get(f"line {method}", "") for method in METHODS]
    assert all(len(line) < 100 for line in lines) and all(lines) == (level == "intermediate")
    assert {f"method {method}" for method in METHODS} <= headings.keys()
    assert tuple(METHODS) == page_state.EXPLAIN_BY.values


def test_the_end_of_an_answer_is_a_word_for_a_beginner_and_its_sign_for_others():
    link = "model=translator&text=The+black+cat+is+sleeping+under+the+table.&target=Le+chat+noir+dort+sous+la+table."
    simple, other = (
        words_on(open_link("explain", f"{link}&level={level}")).replace("\\", "") for level in ("beginner", "expert")
    )
    assert "“end”" in simple and "<|end|>" not in simple
    assert "<|end|>" in other and "“end”" not in other


def test_a_beginner_reads_whether_to_believe_it_and_unfolds_the_numbers():
    app = open_link("explain", LINK)
    folds = {fold.label: [caption.value for caption in fold.caption] for fold in app.expander}
    folded = [text for texts in folds.values() for text in texts]
    (answer,) = [caption.value for caption in app.caption if "Can you believe it?" in caption.value]
    words = sections(ROOT / "pages" / "explain" / "beginner.md")
    verdicts = [words[f"believe {verdict}"] for verdict in ("better", "worse", "none")]
    assert answer not in folded and unmarked(answer) in verdicts
    assert "random orders" in " ".join(folds["How that was tested"])
    assert "The number below a token" in unmarked(" ".join(folds["What the numbers mean"]))
