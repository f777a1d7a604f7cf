"""The ends of a text that grows: a full context, memory, nonsense, and several visitors at once."""

from __future__ import annotations

import gc
import itertools
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

import models
from models.generation.strategy import Strategy, distribution
from models.huggingface.model import HuggingFaceModel
from tests.models.generation.test_generate import NEW, TEXT, hub, ours
from tests.models.networks import network, tokenizer


def test_a_full_context_drops_its_oldest_quarter_and_says_so():
    model = ours("decoder")
    room, steps = model.room, list(model.generate(TEXT, Strategy(), 40))
    lengths = [len(step.tokens) for step in steps]
    assert max(lengths) == room and len(steps) == 40 and steps[-1].end == "length"
    beginning = len(steps[0].tokens)
    for at, step in enumerate(steps):
        assert len(step.tokens) + step.dropped == beginning + at
        assert step.tokens[0].id == model.vocabulary.start, "the start stays"
        all_ids = (*(token.id for token in steps[0].tokens), *step.continuation[:-1])
        count = len(step.tokens) - 1
        assert step.ids == (all_ids[0], *all_ids[len(all_ids) - count :])
    first = next(step for step in steps if step.dropped)
    assert first.dropped == room // 4 + 1 and lengths[steps.index(first) - 1] == room
    slow = list(model.generate(TEXT, Strategy(), 40, cache=False))
    assert slow[-1].continuation == steps[-1].continuation


def test_an_encoder_decoder_stops_when_its_context_is_full():
    model = ours("encoder-decoder")
    model.at_most, strategy = 8, Strategy(method="sampling", seed=4, temperature=5)
    try:
        steps = list(model.generate(TEXT, strategy, 40))
        beams = list(model.generate(TEXT, Strategy(method="beam", beams=2), 40))
    finally:
        model.at_most = None
    assert len(steps) == 8 and len(steps[-1].tokens) == 8 and steps[-1].end == "full" and steps[-1].dropped == 0
    assert beams[-1].end in ("full", "end") and len(beams[-1].continuation) <= 8


def test_a_long_text_is_cut_from_the_left_and_a_short_one_is_not():
    model = ours("decoder")
    step = next(model.generate("the cat sat on the mat " * 20))
    assert step.cut == model.trace("the cat sat on the mat " * 20).cut > 0 and len(step.tokens) == model.room
    assert next(model.generate("")).cut == 0 and len(next(model.generate("")).tokens) == 1


def test_an_end_that_comes_at_once_is_the_only_step():
    model = hub("GPT-2")
    first = next(model.generate(TEXT, Strategy())).token.id
    ends, model.network.generation_config.eos_token_id = model.network.generation_config.eos_token_id, [first, 7]
    try:
        steps = list(model.generate(TEXT))
        beams = list(model.generate(TEXT, Strategy(method="beam", beams=1)))
    finally:
        model.network.generation_config.eos_token_id = ends
    assert [step.end for step in steps] == ["end"] and steps[0].continuation == (first,) == beams[-1].continuation


def test_what_the_authors_rule_out_is_never_said():
    model = hub("Marian")
    first = next(model.generate(TEXT, Strategy())).token.id
    model.network.generation_config.bad_words_ids = [[first]]
    try:
        step = next(model.generate(TEXT, Strategy()))
        beam = list(model.generate(TEXT, Strategy(method="beam", beams=2), NEW))
    finally:
        model.network.generation_config.bad_words_ids = None
    assert step.token.id != first and step.distribution.stages[0].name == "model" and step.never == {first}
    assert not any(first == branch.id for branch in beam[-1].search.tree)


def test_closing_it_in_the_middle_frees_what_it_keeps():
    model = ours("decoder")
    steps = model.generate(TEXT, Strategy(), 20)
    next(steps), next(steps)
    reader = steps.gi_frame.f_locals["reader"]
    cached_key = weakref.ref(reader._cache.layers[0][0])
    assert cached_key() is not None
    steps.close()
    gc.collect()
    assert reader._bytes() == 0 and cached_key() is None
    with pytest.raises(StopIteration):
        next(steps)


@pytest.mark.parametrize("opened", [lambda: ours("decoder"), lambda: hub("GPT-2"), lambda: hub("Falcon"), lambda: hub("T5")])
def test_visitors_who_generate_at_once_do_not_meet(opened):
    """Their steps take turns, in one thread and in several."""
    model, texts = opened(), [TEXT, "Once upon a time", "the dog", "a little girl"]
    strategies = [Strategy(), Strategy(method="sampling", seed=3), Strategy(method="beam", beams=2), Strategy(no_repeat=1)]
    alone = [[step.continuation for step in model.generate(*arguments, NEW)] for arguments in zip(texts, strategies, strict=True)]
    running = [model.generate(*arguments, NEW) for arguments in zip(texts, strategies, strict=True)]
    mixed: list[list] = [[] for _ in running]
    for _ in range(NEW):
        for outputs, steps in zip(mixed, running, strict=True):
            outputs.extend(step.continuation for step in itertools.islice(steps, 1))
    assert mixed == alone
    with ThreadPoolExecutor(4) as pool:
        many = pool.map(
            lambda arguments: [step.continuation for step in model.generate(*arguments, NEW)], zip(texts, strategies, strict=True)
        )
        assert list(many) == alone


def test_a_network_that_changes_in_the_middle_is_read_again():
    model = HuggingFaceModel(network("GPT-2"), tokenizer("decoder"), "decoder", True, "changing")
    steps = model.generate(TEXT, Strategy(), NEW)
    next(steps)
    with torch.no_grad():
        model.network.lm_head.weight.mul_(-1)  # the embedding too
    step = next(steps)
    assert step.read.tokens == len(step.tokens)
    fresh = next(model.generate(TEXT, Strategy(), 1, continuation=step.continuation[:-1], cache=False))
    np.testing.assert_allclose(step.logits, fresh.logits, atol=1e-4)


def test_what_is_said_is_spelt_as_it_goes_on():
    writer = models.load("writer")
    steps = list(writer.generate("Once upon a time", max_new_tokens=8))
    assert all(b.text == a.text + b.token.text for a, b in itertools.pairwise(steps))
    whole = "Once upon a time" + steps[-1].text
    assert [token.id for token in writer.tokenize(whole)] == [*(token.id for token in steps[-1].tokens), steps[-1].token.id]
    np.testing.assert_allclose(writer.trace(whole).logits_at(-2), steps[-1].logits, atol=1e-3)


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"temperature": 0}, 'choose the method "greedy"'),
        ({"temperature": -1}, "must be at least 0.01; it is -1"),
        ({"temperature": float("nan")}, "temperature must be a number"),
        ({"temperature": "hot"}, "temperature must be a number; it is 'hot'"),
        ({"top_k": 0}, "top_k 0 would keep no token"),
        ({"top_k": 2.5}, "top_k must be a whole number"),
        ({"top_p": 0}, "top_p is a share above 0"),
        ({"top_p": 1.5}, "it is 1.5"),
        ({"min_p": -0.1}, "min_p is a share from 0"),
        ({"typical": 0}, "typical is a share above 0"),
        ({"repetition_penalty": 0}, "must be above 0, and 1 changes nothing"),
        ({"no_repeat": -1}, "no_repeat is a number of tokens"),
        ({"beams": 0}, "A beam is at least 1 wide; it is 0"),
        ({"seed": -1}, "A seed is a whole number from 0 on"),
        ({"method": "guess"}, "“guess” is none of them"),
    ],
    ids=str,
)
def test_a_strategy_that_makes_no_sense_is_a_sentence(choices, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        Strategy(**choices)
    assert str(caught.value).endswith(".")


def test_what_cannot_go_on_says_so():
    writer = ours("decoder")
    with pytest.raises(ValueError, match="sees a text from both sides and does not continue it: it fills in what stands at"):
        models.load("filler").generate("The [MASK] sat.")
    with pytest.raises(ValueError, match="sees a text from both sides"):
        HuggingFaceModel(network("BERT without a head"), tokenizer("encoder"), "encoder", False, "bert").generate("a")
    for wrong in (0, -3, 2.5, True):
        with pytest.raises(ValueError, match="max_new_tokens is a whole number from 1 on"):
            writer.generate(TEXT, max_new_tokens=wrong)
    with pytest.raises(TypeError, match=r"must be a models\.Strategy; it is of type str"):
        writer.generate(TEXT, "greedy")
    with pytest.raises(TypeError, match="The text must be a str"):
        writer.generate(None)
    with pytest.raises(ValueError, match="reads one text at a time"):
        writer.generate(TEXT, target="Le chat")
    with pytest.raises(ValueError, match="has no token 300"):
        writer.generate(TEXT, continuation=(5, 300))
    with pytest.raises(ValueError, match="has no token -1"):
        writer.generate(TEXT, forced=(5, -1))
    with pytest.raises(ValueError, match="strike out every token there is"):
        distribution(np.zeros(3), (0, 2, 1), Strategy(no_repeat=1))


def test_beams_that_do_not_fit_in_memory_are_told_of_before_with_figures():
    with pytest.raises(
        ValueError, match=r"100,000,000 beams of 20 tokens would take .* \(100,000,000 × .* kB\).* Choose fewer beams"
    ):
        ours("decoder").generate("", Strategy(method="beam", beams=100_000_000), 19)
