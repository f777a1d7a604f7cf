from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from analysis import Attribution, Question, faithfulness, paths, rollout
from analysis.attribution import FOLLOWING, METHODS
from analysis.attribution_tests import ORDERS, Curves, Faithfulness, few, steps, texts_read
from models.numbers.softmax import softmax
from tests.analysis.test_gradients import opened, read
from tests.models.networks import network

# The tiny networks have random weights: what is asked here is whether things are computed right, not what they say.
TEXT = "The cat sat on the mat, and the dog sat on the"


@pytest.fixture(scope="module")
def decoder():
    return opened("GPT-2")


def question_of(model, text: str = TEXT, target: str = "") -> tuple[Question, np.ndarray]:
    trace = model.trace(text, target)
    place = model.places(trace)[0]
    return Question(model, trace, place, int(trace.logits_at(place).argmax())), trace.logits_at(place)


def ends(question: Question) -> np.ndarray:
    count = len(question.units)
    return question.probabilities(np.array([np.ones(count, dtype=bool), np.zeros(count, dtype=bool)]))


def test_nothing_and_all_taken_away_are_the_full_and_the_empty_prediction(decoder):
    question, logits = question_of(decoder)
    full, empty = ends(question)
    assert full == pytest.approx(softmax(logits)[question.token], abs=1e-6)
    assert empty == pytest.approx(softmax(decoder.trace("").logits_at(-1))[question.token], abs=1e-6)


@pytest.mark.parametrize("name", ["GPT-2", "BLOOM", "BERT", "T5", "BART"])
def test_ends_are_predictions_of_every_kind_of_model(name):
    model = opened(name)
    trace, place, token = read(model)
    full, empty = ends(Question(model, trace, place, token))
    assert full == pytest.approx(softmax(trace.logits_at(place))[token], abs=1e-6)
    if model.info.mask:
        nothing = model.trace(" ".join([model.info.mask] * len(trace.tokens)))
        mask_ids = [piece.id for piece in nothing.tokens if piece.text == model.info.mask]
        assert len(set(mask_ids)) == 1
        text = Question(model, trace, place, token).text(np.zeros(len(Question(model, trace, place, token).units), dtype=bool))
        assert {piece.id for piece in text[1:-1]} == set(mask_ids) and len(text) == len(trace.tokens)
        expected = model.logits_of([text], place)[0]
    else:
        expected = model.trace("").logits_at(-1)
    assert empty == pytest.approx(softmax(expected)[token], abs=1e-6)


def test_an_order_of_one_token_is_deleted_as_if_it_had_not_been_typed(decoder):
    question, _ = question_of(decoder, "The cat sat on the mat")
    keep = np.array([question.trace.tokens[unit].text != " cat" for unit in question.units])
    shorter = decoder.trace("The sat on the mat")
    assert len(shorter.tokens) == keep.sum() == len(keep) - 1
    assert question.probabilities(keep[None])[0] == pytest.approx(softmax(shorter.logits_at(-1))[question.token], abs=1e-6)


def test_a_question_in_the_middle_does_not_see_what_comes_after(decoder):
    trace = decoder.trace("The dog ran into the house and slept")
    short = decoder.trace("The dog ran into the")
    place = len(short.tokens) - 1
    token = int(short.logits_at(-1).argmax())
    full, empty = ends(Question(decoder, trace, place, token))
    assert full == pytest.approx(softmax(short.logits_at(-1))[token], abs=1e-5)
    assert empty == pytest.approx(softmax(decoder.trace("").logits_at(-1))[token], abs=1e-6)


def test_curves_and_measures_are_what_their_definitions_say(decoder):
    question, _ = question_of(decoder)
    units = question.units
    scores = np.zeros(len(question.trace.tokens))
    scores[units] = np.random.default_rng(0).random(len(units))
    result = faithfulness(question, {"mine": scores}, orders=3)
    mine, order = result.methods["mine"], np.argsort(-scores[units])
    np.testing.assert_array_equal(mine.order, order)

    def without(removed: np.ndarray) -> float:
        text = [token for i, token in enumerate(question.trace.tokens) if i not in {units[unit] for unit in removed}]
        text = text or decoder.trace("").tokens
        return float(softmax(decoder.logits_of([text])[0])[question.token])

    deletion = [without(order[:count]) for count in mine.counts]
    insertion = [without(order[count:]) for count in mine.counts]
    np.testing.assert_allclose(mine.deletion, deletion, atol=1e-6)
    np.testing.assert_allclose(mine.insertion, insertion, atol=1e-6)
    assert mine.deletion_area == pytest.approx(np.trapezoid(deletion, mine.counts) / len(units), abs=1e-6)
    assert mine.insertion_area == pytest.approx(np.trapezoid(insertion, mine.counts) / len(units), abs=1e-6)
    tops = [int(np.ceil(share * len(units))) for share in (0.01, 0.05, 0.1, 0.2, 0.5)]
    assert mine.comprehensiveness == pytest.approx(np.mean([result.full - without(order[:n]) for n in tops]), abs=1e-6)
    assert mine.sufficiency == pytest.approx(np.mean([result.full - without(order[n:]) for n in tops]), abs=1e-6)
    drops = [result.full - without(np.array([unit])) for unit in range(len(units))]
    np.testing.assert_allclose(result.leave_one_out, drops, atol=1e-6)
    assert mine.correlation == pytest.approx(spearmanr(scores[units], drops).statistic, abs=1e-6)
    assert result.methods["leave-one-out"].correlation == pytest.approx(1)


def test_chance_is_the_same_each_time_and_any_two_orders_differ(decoder):
    question, _ = question_of(decoder, "The dog ran into the house")
    first, second = (faithfulness(question, {}, orders=4, seed=3) for _ in range(2))
    assert [curves.order.tolist() for curves in first.random] == [curves.order.tolist() for curves in second.random]
    assert len({tuple(curves.order) for curves in first.random}) > 1
    assert all(sorted(curves.order) == list(range(len(question.units))) for curves in first.random)


def test_scores_that_are_the_same_everywhere_have_no_rank(decoder):
    question, _ = question_of(decoder, "The dog ran")
    result = faithfulness(question, {"flat": np.ones(len(question.trace.tokens))}, orders=1)
    assert result.methods["flat"].correlation is None
    np.testing.assert_array_equal(result.methods["flat"].order, np.arange(len(question.units)))


@pytest.mark.parametrize("name", ["GPT-2", "BERT"])
def test_areas_are_those_of_a_plain_loop_that_takes_one_token_at_a_time(name):
    """Through transformers' own eager attention, every step of 24 and more tokens."""
    model, eager = opened(name), network(name)
    mask = "<mask> " if name == "BERT" else ""
    trace = model.trace(f"{mask}{TEXT} rug while the old man sat in the house and the dog slept.")
    place = model.places(trace)[0]
    question = Question(model, trace, place, int(trace.logits_at(place).argmax()))
    units, ids = question.units, [token.id for token in trace.tokens]
    scores = np.zeros(len(ids))
    scores[units] = np.random.default_rng(1).random(len(units))
    result = faithfulness(question, {"mine": scores}, orders=2)
    assert result.exact and len(units) > 20

    def probability(removed: set[int]) -> float:
        if name == "BERT":
            ids_read, at = [question.mask.id if i in removed else id for i, id in enumerate(ids)], place
        else:
            ids_read, at = [id for i, id in enumerate(ids) if i not in removed] or [model.trace("").tokens[0].id], -1
        with torch.no_grad():
            return eager(input_ids=torch.tensor([ids_read])).logits[0, at].double().softmax(-1)[question.token].item()

    for curves in (result.methods["mine"], result.random[0]):
        removed, deletion, insertion = set(), [probability(set())], [probability(set(units))]
        for unit in curves.order:
            removed.add(units[unit])
            deletion.append(probability(removed))
            insertion.append(probability(set(units) - removed))
        for area, values in ((curves.deletion_area, deletion), (curves.insertion_area, insertion)):
            trapezoids = sum((a + b) / 2 for a, b in pairwise(values)) / len(units)
            assert area == pytest.approx(trapezoids, abs=1e-6)


def test_of_random_orders_at_most_one_in_twenty_one_gets_a_verdict(decoder):
    """200 orders that know nothing, each against 20 random ones: under 5 % and what luck adds to 200 tries."""
    question, _ = question_of(decoder, "The cat sat on the mat and the")
    draw, size = np.random.default_rng(0), len(question.trace.tokens)
    results = [faithfulness(question, {"luck": draw.random(size)}, seed=seed) for seed in range(200)]
    assert all(len(result.random) == ORDERS == 20 for result in results)
    assert np.mean([result.faster("luck") for result in results]) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)
    beaten_counts = [result.beaten("luck") for result in results]
    assert 8 < np.mean(beaten_counts) < 12, "an order that knows nothing beats about half"


def test_of_any_twenty_one_orders_at_most_one_beats_the_others(decoder):
    question, _ = question_of(decoder, "The cat sat on the mat")
    orders = faithfulness(question, {}, orders=21).random
    verdicts = 0
    for i, order in enumerate(orders):
        rivals = [*orders[:i], *orders[i + 1 :]]
        result = Faithfulness(1.0, 0.0, question.units, order.counts, np.zeros(len(question.units)), {"one": order}, rivals)
        verdicts += result.faster("one")
        assert result.beaten("one") == sum(rival.deletion_area > order.deletion_area for rival in rivals)
    assert verdicts <= 1


def test_the_gap_is_insertion_less_deletion_and_turns_with_the_order(decoder):
    question, _ = question_of(decoder)
    scores = np.zeros(len(question.trace.tokens))
    scores[question.units] = np.random.default_rng(0).random(len(question.units))
    result = faithfulness(question, {"mine": scores, "turned": -scores}, orders=4)
    mine, points = result.methods["mine"], few(result.counts)
    assert mine.gap == pytest.approx(float(np.mean([mine.insertion[n] - mine.deletion[n] for n in points])))
    assert result.methods["turned"].gap == pytest.approx(-mine.gap) and mine.gap != 0
    assert len(result.gaps) == 4 * 3  # as many random orders for each method, leave-one-out among them
    np.testing.assert_allclose(result.gaps[:4], [order.gap for order in result.random])


@given(units=st.integers(1, 500), exact=st.booleans())
def test_with_each_point_at_which_orders_are_compared_stands_what_is_left_of_it(units, exact):
    counts = steps(units, exact)
    points = few(counts)
    np.testing.assert_array_equal(points, units - points[::-1])
    assert set(points) <= set(counts) - {0, units} and len(points) <= 6 and (len(points) > 0) == (units > 1)


def result_with(gaps: dict[str, float], chance: np.ndarray) -> Faithfulness:
    """Evidence in which methods have these gaps, and random orders those of `chance`."""
    counts, no_measures = np.arange(3), (0.0, 0.0, None)
    methods = {
        name: Curves(np.arange(2), counts, np.zeros(3), np.array([0, gap, 0.0]), *no_measures) for name, gap in gaps.items()
    }
    return Faithfulness(1.0, 0.0, [0, 1], counts, np.zeros(2), methods, [], chance)


def test_verdicts_are_two_sided_and_corrected_for_the_number_of_methods():
    chance = np.linspace(-2, 2, 99)
    gaps = {"best": 9.0, "good": 1.94, "little": 0.1, "bad": -9.0}
    result = result_with(gaps, chance)
    plain = [result.chance(name) for name in gaps]
    assert plain == [(1 + (np.abs(chance) >= abs(gap)).sum()) / 100 for gap in gaps.values()]
    assert plain[0] == plain[3] == 0.01  # no random order is as far from 0
    expected = [4 * 0.01, max(4 * 0.01, 2 * plain[1]), max(2 * plain[1], plain[2]), 4 * 0.01]
    assert [result.corrected[name] for name in gaps] == pytest.approx(expected)
    assert [result.verdict(name) for name in gaps] == ["better", "none", "none", "worse"]
    assert all(result.as_far(name) > 0 for name in gaps if result.verdict(name) == "none"), "it has a reason that can be read"
    assert result_with({"good": 1.94}, chance).verdict("good") == "better"  # alone it needs no correction
    assert result_with({"best": 9.0}, np.empty(0)).verdict("best") == "none"


def test_of_texts_on_which_no_method_knows_anything_few_give_any_of_them_a_verdict(decoder):
    """100 times six orders that know nothing: any of them has a verdict in 5 % of the cases, and what luck adds."""
    question, _ = question_of(decoder, "The cat sat on the mat and the")
    draw, size, verdicts = np.random.default_rng(1), len(question.trace.tokens), 0
    for seed in range(100):
        result = faithfulness(question, {str(i): draw.random(size) for i in range(6)}, seed=seed)
        methods = {name: curves for name, curves in result.methods.items() if name != "leave-one-out"}
        result = replace(result, methods=methods)
        verdicts += any(result.verdict(name) != "none" for name in methods)
    assert verdicts / 100 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 100)


def test_a_text_saturates_where_any_half_is_enough_or_any_token_that_goes_is_too_much():
    counts = np.arange(11)

    def curves(deletion: np.ndarray) -> list[Curves]:
        return [Curves(np.arange(10), counts, deletion, deletion[::-1], 0.0, 0.0)] * 3

    for share, sentence in (((counts <= 8) * 0.8, "stays"), ((counts == 0) * 0.8, "falls"), (0.8 - 0.08 * counts, "")):
        result = Faithfulness(0.8, 0.0, list(range(10)), counts, np.zeros(10), {}, curves(share))
        assert result.saturates == sentence
    assert result.middle == (1, pytest.approx(0.72), 5, pytest.approx(0.4))


def test_an_order_among_its_equals_has_no_verdict(decoder):
    """Of two words there are two orders, and twenty random ones have both."""
    question, _ = question_of(decoder, "The cat")
    result = faithfulness(question, {"mine": np.arange(len(question.trace.tokens))})
    assert not result.faster("mine") and not result.faster("leave-one-out")
    assert {result.verdict(name) for name in result.methods} == {"none"}
    assert not faithfulness(question, {"mine": np.arange(len(question.trace.tokens))}, orders=0).faster("mine")


@given(units=st.integers(1, 3000), exact=st.booleans())
def test_a_curve_goes_from_nothing_to_all(units, exact):
    counts = steps(units, exact)
    gaps = np.diff(counts)
    assert counts[0] == 0 and counts[-1] == units and (gaps > 0).all()
    np.testing.assert_array_equal(counts, units - counts[::-1])
    if exact or units <= 30:
        assert len(counts) == units + 1
    assert gaps.max() <= -(-units // 30) if not exact else gaps.max() == 1
    assert len(counts) <= (units if exact else 100) + 1
    assert (gaps <= np.maximum(1, counts[1:] // 2)).all(), "no gap is wider than half of what is gone"


def test_a_wide_first_gap_does_not_decide_the_area():
    """Of 200 tokens the first carries a prediction alone, or the first five do together."""
    counts = steps(200, exact=False)
    all_counts, no_measures = np.arange(201), (np.zeros(1, dtype=int), 0.0, 0.0)
    for needed in (1, 2, 3, 5, 8):
        areas = [
            Curves(no_measures[0], at, *2 * [(at < needed) * 1.0], *no_measures[1:]).deletion_area for at in (all_counts, counts)
        ]
        assert areas[0] == pytest.approx((needed - 0.5) / 200)
        assert areas[1] == pytest.approx(areas[0], rel=0.2)


def test_on_a_grid_curves_are_those_of_every_step_and_the_measures_stay(decoder):
    question, _ = question_of(decoder, "The cat sat on the mat and the dog ran into the house. " * 4)
    scores = {"mine": np.random.default_rng(2).random(len(question.trace.tokens))}
    exact_result, grid_result = (faithfulness(question, scores, orders=1, exact=exact) for exact in (True, False))
    assert (
        exact_result.exact
        and not grid_result.exact
        and len(grid_result.counts) < len(exact_result.counts) == len(question.units) + 1
    )
    for name in ("mine", "leave-one-out"):
        exact_curves, grid_curves = exact_result.methods[name], grid_result.methods[name]
        np.testing.assert_allclose(grid_curves.deletion, exact_curves.deletion[grid_result.counts])
        np.testing.assert_allclose(grid_curves.insertion, exact_curves.insertion[grid_result.counts])
        assert (
            grid_curves.comprehensiveness == exact_curves.comprehensiveness
            and grid_curves.sufficiency == exact_curves.sufficiency
        )


def test_measures_take_away_shares_rounded_up_and_no_more():
    """1 % of 700 tokens are 7: in floating point 0.01 · 700 is a little more."""
    from fractions import Fraction
    from math import ceil

    from analysis.attribution_tests import _tops

    for units in range(1, 1000):
        assert _tops(units).tolist() == [ceil(Fraction(share, 100) * units) for share in (1, 5, 10, 20, 50)]


@pytest.mark.parametrize("exact", [True, False])
def test_no_more_texts_are_read_than_were_announced_and_each_is_told_of(decoder, exact, monkeypatch):
    question, _ = question_of(decoder, "The cat sat on the mat and the dog ran into the house. " * 3)
    batch_sizes, reports, logits_of = [], [], decoder.logits_of
    monkeypatch.setattr(decoder, "logits_of", lambda texts, *rest: batch_sizes.append(len(texts)) or logits_of(texts, *rest))
    scores = {name: np.random.default_rng(i).random(len(question.trace.tokens)) for i, name in enumerate("ab")}
    faithfulness(question, scores, orders=3, exact=exact, report=lambda share, words: reports.append(share))
    assert len(question.units) < sum(batch_sizes) <= texts_read(len(question.units), 2, 3, exact)
    assert (
        max(batch_sizes) <= 64
        and len(reports) == len(batch_sizes)
        and reports == sorted(reports)
        and reports[0] >= 0
        and reports[-1] < 1
    )


def test_bad_questions_are_sentences(decoder):
    with pytest.raises(ValueError, match="no token that could be taken away"):
        faithfulness(question_of(decoder, "")[0], {})
    model = opened("BERT without a head")
    with pytest.raises(ValueError, match="no language-model head"):
        Question(model, model.trace("The cat sat."), 1, 5)


@pytest.mark.parametrize("name", ["GPT-2", "BERT", "T5", "BLOOM", "BERT without a head"])
def test_every_method_answers_with_shares_or_with_a_sentence(name):
    model = opened(name)
    if model.predicts:
        trace, place, token = read(model)
    else:
        trace, place, token = model.trace("The cat sat on the mat."), 2, None
    attribution = Attribution(model, trace, place, token)
    for method in METHODS:
        if (name == "BLOOM" and method == "value-weighted rollout") or (token is None and method in FOLLOWING):
            with pytest.raises(ValueError, match=r"values|follows a prediction"):
                attribution.scores(method)
            continue
        for layer in (None, 0):
            scores = attribution.scores(method, layer)
            assert scores.shape == (len(trace.tokens) + len(trace.target),) and scores.min() >= 0
            assert scores.sum() == pytest.approx(1) or (method in FOLLOWING and scores.sum() == 0)


def test_after_its_last_layer_a_method_says_what_it_says_of_all(decoder):
    trace = decoder.trace(TEXT)
    attribution = Attribution(decoder, trace, 5, 100)
    for method in set(METHODS) - {"attention × gradient"}:
        np.testing.assert_allclose(attribution.scores(method, 2), attribution.scores(method), atol=1e-9)
    np.testing.assert_allclose(attribution.scores("rollout", 1), rollout(trace.attention["self"])[1][5], atol=1e-6)
    np.testing.assert_allclose(attribution.scores("raw attention"), trace.attention["self"][2].mean(0)[5], atol=1e-6)
    layers_used = sum(Attribution(decoder, trace, 5, 100).scores("attention × gradient", layer) > 0 for layer in range(3))
    assert ((layers_used > 0) == (attribution.scores("attention × gradient") > 0)).all()


def test_the_last_look_of_an_encoder_decoder_is_its_last_cross_attention():
    model = opened("T5")
    trace, place, token = read(model)
    scores = Attribution(model, trace, place, token).scores("raw attention")
    cross = trace.attention["cross"]
    np.testing.assert_allclose(scores[: len(trace.tokens)], cross[cross.layers - 1].mean(0)[place], atol=1e-6)
    assert scores[paths(trace).start :].sum() == 0


def test_flow_in_a_window_knows_nothing_of_the_others(decoder):
    trace = decoder.trace(TEXT)
    attribution = Attribution(decoder, trace, len(trace.tokens) - 1)
    flows = attribution.flow(most=4)
    assert np.isnan(flows[:-4]).all() and np.nansum(flows) == pytest.approx(1)
    np.testing.assert_allclose(attribution.flow(), attribution.scores("attention flow"), atol=1e-9)


def test_bad_methods_and_layers_are_sentences(decoder):
    attribution = Attribution(decoder, decoder.trace(TEXT), 5, 100)
    with pytest.raises(ValueError, match="method must be one of"):
        attribution.scores("magic")
    with pytest.raises(ValueError, match="There are 3 layers"):
        attribution.scores("rollout", 6)
