"""Greedy and beam search against all answers there are, on vocabularies so small that they can be counted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from models.generation.beams import Answer, Following, beam
from models.numbers.softmax import log_softmax
from tests.models.networks import VOCABULARY, network

START, END = 0, 1
few = settings(max_examples=150)
seeds, sizes, lengths = st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 4)


def table(seed: int, vocabulary: int, steps: int = 0) -> Following:
    """Return random logits for each beginning. steps: the number of whole values to draw from, so that many are equal."""

    def following(beginnings) -> np.ndarray:
        assert len({len(beginning) for beginning in beginnings}) == 1, "versions of one length can be read together"
        assert all(beginning[0] == START and END not in beginning for beginning in beginnings), "nothing is said after the end"
        chance = [np.random.default_rng([seed, *beginning]) for beginning in beginnings]
        rows = [
            generator.integers(0, steps, vocabulary) if steps else 2 * generator.normal(size=vocabulary) for generator in chance
        ]
        return np.array(rows, dtype=np.float32)

    return following


def score(following: Following, ids: tuple[int, ...]) -> float:
    """log p of an answer, written out."""
    total = 0.0
    for i, id in enumerate(ids):
        raised = np.exp(following([(START, *ids[:i])])[0].astype(np.float64))
        total += np.log(raised[id] / raised.sum())
    return total


def everything(vocabulary: int, most: int) -> list[tuple[int, ...]]:
    """Return every answer that ends within `most` tokens, or has that length."""
    words = [id for id in range(vocabulary) if id != END]
    ended = [(*words_before, END) for length in range(most) for words_before in itertools.product(words, repeat=length)]
    return ended + list(itertools.product(words, repeat=most))


@given(seeds, st.integers(1, 9))
def test_log_probabilities_are_torchs(seed, vocabulary):
    logits = 50 * np.random.default_rng(seed).normal(size=(3, vocabulary))
    np.testing.assert_allclose(log_softmax(logits), torch.log_softmax(torch.from_numpy(logits), -1).numpy(), atol=1e-9)


def greedy(following: Following, most: int) -> Answer:
    """The likeliest token each time, until the end or until there are `most`."""
    ids: list[int] = []
    while len(ids) < most and END not in ids:
        ids.append(int(log_softmax(following([(START, *ids)])[0]).argmax()))
    return Answer(tuple(ids), score(following, tuple(ids)), END in ids)


@few
@given(seeds, st.integers(2, 40), st.integers(0, 6), st.sampled_from([0, 2, 3]), st.sampled_from([0.0, 0.6, 2.0]))
@example(228, 13, 1, 3, 0.0)
def test_a_beam_of_one_is_greedy(seed, vocabulary, most, steps, penalty):
    """Also where several tokens are equally likely: both take the first of them."""
    following = table(seed, vocabulary, steps)
    (answer,), expected = beam(following, START, END, 1, most, penalty), greedy(following, most)
    assert (answer.ids, answer.ended, answer.score) == (expected.ids, expected.ended, pytest.approx(expected.score))


@few
@given(seeds, sizes, lengths, st.sampled_from([0.0, 0.6, 1.0, 2.0]))
def test_a_wide_beam_finds_every_answer_in_its_order(seed, vocabulary, most, penalty):
    following, answers = table(seed, vocabulary), everything(vocabulary, most)
    beam_answers = beam(following, START, END, 4**5, most, penalty)
    totals = {ids: score(following, ids) for ids in answers}
    ranked = sorted(answers, key=lambda ids: totals[ids] / ((5 + len(ids)) / 6) ** penalty, reverse=True)
    assert [answer.ids for answer in beam_answers] == ranked
    assert [answer.score for answer in beam_answers] == pytest.approx([totals[ids] for ids in ranked])


@few
@given(seeds, sizes, st.integers(1, 6), st.integers(1, 5), st.sampled_from([0, 2]))
def test_what_a_beam_finds_is_what_it_says(seed, vocabulary, most, width, steps):
    following = table(seed, vocabulary, steps)
    beam_answers = beam(following, START, END, width, most)
    assert 1 <= len(beam_answers) <= width and len({answer.ids for answer in beam_answers}) == len(beam_answers)
    for answer in beam_answers:
        assert len(answer.ids) <= most and END not in answer.ids[:-1] and answer.ended == (answer.ids[-1] == END)
        assert answer.score == pytest.approx(score(following, answer.ids))
    worth = [answer.score / ((5 + len(answer.ids)) / 6) ** 0.6 for answer in beam_answers]
    assert worth == sorted(worth, reverse=True)
    assert beam(following, START, END, width, most) == beam_answers, "the same each time"


def test_a_longer_answer_gains_by_the_penalty():
    """Two answers: short with probability 0.5, and three tokens with 0.4, which is better by its length."""
    chances = {(START,): [0, 0.5, 0.5], (START, 2): [0, 0, 1], (START, 2, 2): [0.2, 0.8, 0]}

    def following(beginnings) -> np.ndarray:
        return np.log(np.array([chances.get(beginning, [1 / 3] * 3) for beginning in beginnings]) + 1e-12)

    short, long = Answer((END,), np.log(0.5), True), Answer((2, 2, END), np.log(0.4), True)
    for penalty, best in ((0.0, short), (2.0, long)):
        first = beam(following, START, END, 3, 3, penalty)[0]
        assert first.ids == best.ids and first.score == pytest.approx(best.score)


def test_without_an_end_the_answer_is_as_long_as_it_may_be():
    """An end that is all but impossible is not taken for an answer, though there is no other."""

    def following(beginnings) -> np.ndarray:
        return np.tile([0.0, -1e9, 1.0], (len(beginnings), 1))

    for width in (1, 2, 3):
        beam_answers = beam(following, START, END, width, 5)
        assert beam_answers[0].ids == (2,) * 5 and not any(answer.ended for answer in beam_answers) and len(beam_answers) == width


@pytest.mark.parametrize("width", [0, -1])
def test_a_beam_of_no_width_is_a_sentence(width):
    with pytest.raises(ValueError, match=f"A beam is at least 1 wide; it is {width}"):
        beam(table(0, 3), START, END, width, 5)


@pytest.mark.parametrize("end_bias", [-100, 2, 5, 8])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_a_beam_is_transformers_beam(width, end_bias):
    """One T5 with a rarer or likelier end: their search stops by our rule, and answers are compared by their sums."""
    from transformers import LogitsProcessorList

    t5, most = network("T5"), 8
    source, first, last = torch.tensor([[7, 30, 41, 99, 2]]), t5.config.decoder_start_token_id, t5.config.eos_token_id
    bias = torch.zeros(VOCABULARY)
    bias[last] = end_bias

    def biased(_, logits: torch.Tensor) -> torch.Tensor:
        return (logits + bias).log_softmax(-1)

    def following(beginnings) -> np.ndarray:
        with torch.inference_mode():
            logits = t5(input_ids=source.expand(len(beginnings), -1), decoder_input_ids=torch.tensor(beginnings)).logits[:, -1]
        return (logits + bias).numpy()

    theirs = t5.generate(
        source,
        num_beams=width,
        num_return_sequences=width,
        max_new_tokens=most,
        do_sample=False,
        early_stopping=True,
        length_penalty=0.0,
        logits_processor=LogitsProcessorList([biased]),
        output_scores=True,
        return_dict_in_generate=True,
    )
    ours = beam(following, first, last, width, most, penalty=0.0)
    spoken = [tuple(row[1:].tolist()) for row in theirs.sequences]
    spoken = [ids[: ids.index(last) + 1] if last in ids else ids for ids in spoken]
    assert [answer.ids for answer in ours] == spoken
    if width > 1:  # with one beam they are greedy, and keep no sum
        assert [answer.score for answer in ours] == pytest.approx(theirs.sequences_scores.tolist(), abs=1e-3)
    if end_bias in (-100, 8):
        assert {answer.ended for answer in ours} == {end_bias == 8}
