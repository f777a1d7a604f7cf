"""What the words of the lessons say of the shipped models, beside their questions: each claim is measured here."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations

import numpy as np
import pytest

import models
from analysis.answer_checks import logits_of
from analysis.heads import head_scores
from analysis.statistics import head_statistics
from analysis.true_answers import answer
from models import catalog
from models.language_model import LanguageModel
from models.numbers.softmax import softmax
from models.training import live
from ui.lessons import files
from ui.memory.favourites import favourite

load = cache(models.load)


def tells(lesson: str, step: int, words: str):
    """A test of what a step says in these words, which it must then say."""

    def name(test):
        def measure():
            lesson_step = files.find(lesson).steps[step - 1]
            assert words in " ".join(lesson_step.words.split()), f"“{words}” is said no longer"
            test(load(files.find(lesson).model_at(step)), lesson_step.link.get("text", ""), lesson_step.link.get("target", ""))

        CLAIMS.append(pytest.param(measure, id=f"{lesson}-{step}-{test.__name__}"))
        return measure

    return name


CLAIMS: list = []


def value_of(model: LanguageModel, name: str, text: str, target: str = "", **given):
    return answer(model, name, text, target, **given).value


def chance(model: LanguageModel, text: str, token: str = "", without: str = "") -> float:
    """Of a token, or of the likeliest one, in per cent. without: changes, as an address writes them."""
    return value_of(
        model, "probability", text, **{name: value for name, value in (("token", token), ("without", without)) if value}
    )


def shares(model: LanguageModel, text: str) -> np.ndarray:
    return softmax(logits_of(model, model.trace(text)))


# ---------------------------------------------------------------- tokens, and what is predicted


@tells("tokens", 2, "Words that this model saw often when it learned have a token of their own.")
def common_words(model, text, target):
    assert value_of(model, "tokens of a word", text, word=" dog") == value_of(model, "tokens of a word", text, word=" dogs") == 1


@tells("tokens", 3, "“dog” at the very beginning of a text and “ dog” after a space are two different entries in its list")
def with_and_without_a_space(model, text, target):
    assert value_of(model, "tokens of a word", text, word="dog") == value_of(model, "tokens of a word", text, word=" dog") == 1


@tells("tokens", 4, "a number digit by digit")
def digits(model, text, target):
    assert [token.text.strip() for token in model.tokenize(text) if token.text.strip().isdigit()] == ["2", "0", "2", "6"]


@tells("prediction", 3, "A few tokens share most of it, and thousands share the rest. None gets exactly 0.")
def all_chances(model, text, target):
    each = np.sort(shares(model, text).astype(float))[::-1]
    assert len(each) == 8192 and each.sum() == pytest.approx(1, abs=1e-3)
    assert each[:10].sum() > 0.5 and 0 < each[1000:].sum() < 0.1 and each.min() > 0


@tells("prediction", 2, "after “He was very” many tokens are good")
def doubt(model, text, target):
    assert text == "He was very" and shares(model, text).max() < 0.1


@tells("prediction", 2, "type “Snow is white and grass is”. The model is sure, and wrong.")
def sure_and_wrong(model, text, target):
    text = "Snow is white and grass is"
    assert value_of(model, "likeliest token", text) == "white" and chance(model, text) > 80


# ---------------------------------------------------------------- the first course


@tells("first-look", 3, "Here you see one of them, L2 H1")
def beginners_see_it(model, text, target):
    shown = favourite(model, "self")
    assert (shown.layer, shown.head) == (2, 1), "beginners choose no head"


@tells("first-look", 4, "This model has six of them, L0 to L5.")
def six_layers(model, text, target):
    assert model.info.layers == 6
    after = [value_of(model, "likeliest token after a layer", text, layer=layer) for layer in range(6)]
    assert after[-1] == value_of(model, "likeliest token", text) != after[1]


@tells("first-look", 5, "A fact, too, is a guess here, and a very sure one.")
def sure_of_a_fact(model, text, target):
    text = "The capital of France is"
    assert value_of(model, "likeliest token", text) == "Paris" and chance(model, text) > 95


@tells("looking", 1, "Which habit does this head have?")
def looks_one_token_back(model, text, target):
    weights = model.trace(text).attention["self"][2][1]
    assert (np.argmax(weights[1:], axis=1) == np.arange(len(weights) - 1)).all()


@tells("looking", 3, "It is the head that you have just followed.")
def strongest_square(model, text, target):
    table = head_statistics(model.trace(text).attention["self"])
    strongest = table.loc[table["previous"].idxmax()]
    assert (strongest["layer"], strongest["head"]) == (2, 1)


@tells("looking", 5, "The guess follows **your** text.")
def follows_the_text(model, text, target):
    assert value_of(model, "likeliest token", text.replace("spoon", "cup")) == "cup"
    assert chance(model, text) > 80 and chance(model, text.replace("spoon", "cup")) > 80


@tells("switching-off", 2, "Most of the time little happens.")
def little_happens(model, text, target):
    heads = [(layer, head) for layer in range(6) for head in range(8)]
    stays = [value_of(model, "still predicts it", text, without=f"h{layer}.{head}") for layer, head in heads]
    assert np.mean(stays) > 0.9


@tells("switching-off", 3, "One square stands out.")
def stands_out(model, text, target):
    left = sorted(chance(model, text, without=f"h{layer}.{head}") for layer in range(6) for head in range(8))
    assert left[0] < 10 and left[1] > 70


@tells("switching-off", 3, "Without this head, “asleep” is the best guess no longer.")
def asleep_needs_the_head(model, text, target):
    assert not value_of(model, "still predicts it", text, without="h0.4")


@tells("switching-off", 4, "switch off layer 0. Is every layer as easy to miss?")
def layer_0_is_needed(model, text, target):
    assert not value_of(model, "still predicts it", text, without="b0")


@tells("writing", 4, "High: all become more alike")
def more_alike(model, text, target):
    assert value_of(model, "probability", text, temperature=2.0) < value_of(model, "probability", text, temperature=0.3)


@tells("switching-off", 5, "Switch on L5 H6, or L5 H0 in its place, and “spoon” is back: one is enough.")
def either_head_is_enough(model, text, target):
    assert value_of(model, "likeliest token", text) == "spoon"
    assert chance(model, text, without="h4.5,h5.0,h5.6") < 10
    for off in ("h4.5,h5.0", "h4.5,h5.6"):
        assert value_of(model, "still predicts it", text, without=off) and chance(model, text, without=off) > 40


# ---------------------------------------------------------------- heads, layers and positions


@tells("attention", 2, "added up. A fixed factor makes the sum smaller, and this is the **score**.")
def scaled(model, text, target):
    attention = model.trace(text).attention["self"]
    sums = attention.q(4)[4] @ attention.k(4)[4].T
    np.testing.assert_allclose(attention.scores(4)[4], sums / 32**0.5, atol=1e-3)


@tells("heads", 2, "This one looks at **the token before**, whatever the token is.")
def token_before(model, text, target):
    weights = model.trace(text).attention["self"][2][1]
    assert (np.argmax(weights[1:], axis=1) == np.arange(len(weights) - 1)).all()


@tells("heads", 3, "Many heads rest on the **first token**")
def resting(model, text, target):
    attention = model.trace(text).attention["self"]
    first = np.array([attention[layer][:, 1:, 0].mean(axis=1) for layer in range(6)])
    assert (first > 0.5).sum() >= 10


@tells("layers", 2, "type “The capital of France is”. There it takes all six layers.")
def all_six(model, text, target):
    assert value_of(model, "first layer that predicts it", "The capital of France is") == 6


@tells("layers", 5, "type “The capital of France is [MASK].” There this model, too, takes all six.")
def all_six_of_the_filler(model, text, target):
    assert value_of(model, "first layer that predicts it", "The capital of France is [MASK].") == 6


@tells("layers", 4, "The model is less sure, but it says the same.")
def layer_missed(model, text, target):
    assert value_of(model, "still predicts it", text, without="b4") and chance(model, text, without="b4") < chance(model, text)


@tells("layers", 4, "leave out one layer after the other, each by itself.")
def first_two_are_missed_most(model, text, target):
    left = [chance(model, text, without=f"b{layer}") for layer in range(6)]
    assert max(left[:2]) < 5 < 20 < min(left[2:])


@tells("order", 1, "this model is nearly certain of the next token")
def certain(model, text, target):
    assert value_of(model, "likeliest token", text) == "time" and chance(model, text) > 90


@tells("order", 2, "As typed, the mask is what is climbed, and “tree” fits.")
def climbed(model, text, target):
    assert value_of(model, "likeliest token", text) == "tree"


@tells("order", 4, "In the other order “climbed” looks at the mask")
def looks_at_the_mask(model, text, target):
    asked = {"layer": 2, "head": 1, "from": "climbed"}
    assert value_of(model, "most attended token", "Today the [MASK] climbed the boy", **asked) == "[MASK]"


# ---------------------------------------------------------------- kinds, and generation


@tells("kinds", 2, "write “shoes” in the place of “tea”. Now no cup fits.")
def no_cup(model, text, target):
    assert chance(model, text, " cup") > 80 and chance(model, text.replace("tea", "shoes"), " cup") < 5


@tells("kinds", 5, "It passes over “red” and takes the noun first, as French does.")
def passes_over(model, text, target):
    of = {"kind": "cross", "layer": 2, "head": 3, "from": "une"}
    assert value_of(model, "weight", text, target, to="car", **of) > 2 * value_of(model, "weight", text, target, to="red", **of)


@tells("kinds", 5, "the next word will be “rouge”")
def rouge(model, text, target):
    assert value_of(model, "likeliest token", text, f"{target} voiture") == "rouge"
    assert value_of(model, "most attended token", text, f"{target} voiture", kind="cross", layer=2, head=3) == "red"


@tells("generation", 4, "it does not change their **order**")
def same_order(model, text, target):
    logits = logits_of(model, model.trace(text))[:500].astype(float)
    assert (np.argsort(softmax(logits, 2.0), kind="stable") == np.argsort(logits, kind="stable")).all()


# ---------------------------------------------------------------- care, and what is cut


@tells("care", 1, "head L5 H0 gives more than half of its attention to one word")
def tempting(model, text, target):
    assert value_of(model, "likeliest token", text) == "water" and chance(model, text) > 80
    assert value_of(model, "weight", text, layer=5, head=0, to="river", **{"from": "cold"}) > 50


@tells("care", 2, "how much smaller its number has become")
def smaller(model, text, target):
    assert chance(model, text.replace("river", "house"), "water") < chance(model, text)


@tells("care", 3, "The strongest look of “cold” in this head, and a small effect: both are true at once.")
def small_effect(model, text, target):
    assert 0 < chance(model, text) - chance(model, text, without="h5.0") < 10


@tells("care", 4, "got less than 1 % of what L5 H0 had to give. And “river” does count, but much less.")
def counts_most(model, text, target):
    assert value_of(model, "weight", text, layer=5, head=0, to="jumped", **{"from": "cold"}) < 1
    whole = chance(model, text)
    lost = {word: whole - chance(model, text.replace(f" {word}", ""), "water") for word in ("jumped", "river")}
    assert 0 < 2 * lost["river"] < lost["jumped"]


@tells("care", 5, "choose “Leave-one-out”, which asked the model itself")
def asked_the_model(model, text, target):
    assert value_of(model, "beats every random order", text, method="leave-one-out")


@tells("cut", 1, "After this text the model predicts “asleep”, and it is sure.")
def asleep(model, text, target):
    assert value_of(model, "likeliest token", text) == "asleep" and chance(model, text) == pytest.approx(92.8, abs=0.1)


@tells("cut", 2, "Without this one head the model loses its word.")
def loses_its_word(model, text, target):
    assert not value_of(model, "still predicts it", text, without="h0.4")


@tells("cut", 2, "Most squares are pale.")
def pale(model, text, target):
    whole = chance(model, text)
    small = [abs(whole - chance(model, text, without=f"h{layer}.{head}")) < 10 for layer in range(6) for head in range(8)]
    assert np.mean(small) > 0.7


@tells("cut", 3, "Before, “asleep” had 92.8 %. So nearly all of it hangs on this one look.")
def single_look_counts(model, text, target):
    assert chance(model, text, without="c5.3.7.5") < chance(model, text) / 5


@tells("cut", 3, "cut another line of “fell” in its place: hardly anything changes.")
def lines_of_the_last_token(model, text, target):
    whole = chance(model, text)
    assert chance(model, text, without="c5.3.6.5") == pytest.approx(whole), "in the last layer no other line counts"
    assert all(abs(chance(model, text, without=f"c5.3.7.{key}") - whole) < 5 for key in range(8) if key != 5)


@tells("cut", 4, "Here, what it would add speaks for other words.")
def speaks_for_others(model, text, target):
    assert chance(model, text, without="b2") > chance(model, text)


@tells("cut", 5, "Switch off any one of them alone, and “spoon” stays")
def others_go_on(model, text, target):
    assert value_of(model, "likeliest token", text) == "spoon" and chance(model, text, without="h4.5,h5.6,h5.0") < 10
    assert all(chance(model, text, without=change) > 80 for change in ("h4.5", "h5.6", "h5.0"))


# ---------------------------------------------------------------- training, and the head that is found


@tells("training", 2, "Yours knows 257 tokens, so it begins with less than half a per cent for each.")
def signs(model, text, target):
    assert live.VOCABULARY == 257 and 100 / 257 < 0.5
    assert live.SIZES["layers"] == 2, "a small model of two layers"


@tells("training", 4, "its best head for the token before stands in layer 2, and this one above it")
def helper_below(model, text, target):
    scores = head_scores(model)
    best = {kind: int(scores.layer[scores[kind].idxmax()]) for kind in ("previous", "induction")}
    assert best["previous"] == 2 < best["induction"]


@tells("training", 4, "Some of the rows that it was trained on repeat themselves on purpose")
def practised(model, text, target):
    assert "| rows that repeat themselves | 5% | 6% |" in (catalog.WEIGHTS / "writer/README.md").read_text()


@tells("find", 1, "write “cup” in the place of “spoon”")
def looked_back(model, text, target):
    assert chance(model, text) > 80 and value_of(model, "likeliest token", text.replace("spoon", "cup")) == "cup"


@tells("find", 3, "Each one keeps the rule.")
def rule_for_each(model, text, target):
    trace = model.trace(text)
    weights, token_texts = trace.attention["self"][4][5], [token.text for token in trace.tokens]
    second = token_texts.index(".") + 1
    assert len(token_texts) - second == 6, "all but the last word are said twice"
    for word in range(second, len(token_texts)):
        followed = word - second + 2  # what followed the first one
        others = np.delete(weights[word], followed)
        assert weights[word, followed] > 1.5 * others.max(), token_texts[word]


@tells("find", 4, "This model has more than one such head.")
def several_induction_heads(model, text, target):
    assert (head_scores(model)["induction"] > 0.5).sum() > 1


@tells("find", 5, "the three heads that look most at “spoon” here are switched off")
def strongest_lookers(model, text, target):
    looks = {
        (layer, head): value_of(model, "weight", text, layer=layer, head=head, to="spoon", **{"from": "golden"})
        for layer in range(model.info.layers)
        for head in range(model.info.heads)
    }
    assert set(sorted(looks, key=looks.get)[-3:]) == {(4, 5), (5, 6), (5, 0)}


@tells("find", 5, "The probability falls from nearly 100 % to about 4 %.")
def taken_out(model, text, target):
    assert chance(model, text) > 98 and chance(model, text, without="h4.5,h5.6,h5.0") == pytest.approx(4, abs=1)


@tells("find", 5, "switch off L4 H4, L5 H2 and L5 H7. Now you know that it is these heads, and not just any three.")
def three_others(model, text, target):
    assert value_of(model, "still predicts it", text, without="h4.4,h5.2,h5.7")
    assert chance(model, text, without="h4.4,h5.2,h5.7") > 95


# ---------------------------------------------------------------- all of them


@pytest.mark.parametrize("measure", CLAIMS)
def test_what_a_lesson_says_is_true_of_its_model(measure):
    measure()


def test_what_the_lesson_about_pictures_claims():
    """No single hidden patch changes the label of an example; two turn an 8 into a 3, and a 0 and a 9 into another digit; with
    eight of ten digits L1 H3 looks most at the same patch, and hiding it changes no answer."""
    model = models.load("digits")

    def label(text: str) -> str:
        return model.predict(text, top=1)[0].text

    places = [f"{row}.{column}" for row in range(1, 5) for column in range(1, 5)]
    for digit in range(10):
        assert label(f"digit {digit}") == str(digit)
        assert {label(f"digit {digit} without {place}") for place in places} == {str(digit)}
    for digit in (0, 9):
        pairs = [" ".join(pair) for pair in combinations(places, 2)]
        assert any(label(f"digit {digit} without {pair}") != str(digit) for pair in pairs)
    traces = [model.trace(f"digit {digit}") for digit in range(10)]
    strongest = [trace.tokens[int(trace.attention["self"][1][3][0].argmax())].text for trace in traces]
    assert Counter(strongest).most_common(1) == [("row 2, column 3", 8)]
