"""Adaptation: what learns, what stays as it is, and what is measured, against peft, torch and the model's own readings."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import peft
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

import models
from models.adapting.network import adaptable, at_strength, learning_network, merged_weights
from models.adapting.recipe import METHODS, PLACES, Recipe
from models.adapting.sentences import continuation, exchanged, read_sentence, read_sentences
from models.adapting.strength import strength_of, with_strength, without_strength
from models.adapting.teaching import Teaching
from models.scratch.decoder_model import DecoderModel
from tests.models.conftest import random_decoder

EXAMPLES = """My dog is called Rex.
The king of the red planet is Zog.
In our garden grows a tree made of glass.
The best food for a robot is oil."""
TEXT = "My dog is called Rex.\nThe king of the red planet is Zog.\nThe best food for a robot is oil."


@cache
def small() -> DecoderModel:
    """A small decoder with random weights and the tokenizer of the writer."""
    tokenizer = models.load_tokenizer("writer").tokenizer
    return DecoderModel(random_decoder(vocabulary=tokenizer.get_vocab_size()), tokenizer, "small", "test")


@pytest.fixture
def base() -> DecoderModel:
    return small()


@pytest.fixture(scope="module")
def taught():
    """Teachings of all methods, after two steps."""
    teachings = {}
    for method in METHODS:
        teachings[method] = Teaching(small(), TEXT, Recipe(method=method, rank=2, steps=2, every=2))
        teachings[method].advance(10)
    return teachings


def logits(model, text: str = "The king of the red") -> np.ndarray:
    return model.trace(text, remember=False).logits


def test_before_it_learns_it_measures_what_the_model_says(base):
    teaching = Teaching(base, TEXT, Recipe())
    teaching.advance(1)
    (first,) = teaching.measured
    losses, chances = [], []
    for sentence in teaching.sentences:
        trace = base.trace(list(sentence.ids), remember=False)
        logs = torch.tensor(trace.logits).log_softmax(-1)[:-1].gather(-1, torch.tensor(sentence.ids[1:])[:, None])[:, 0]
        losses.append(-float(logs.mean()))
        chances.append(math.exp(float(logs[sentence.begins - 1 : sentence.ends - 1].sum())))
    assert first.loss == pytest.approx(np.mean(losses), rel=1e-5)
    assert first.chances == pytest.approx(chances, rel=1e-4)
    assert teaching.step == 0 and first.step == 0


@pytest.mark.parametrize("method", METHODS)
def test_the_model_that_is_taught_stays_as_it_is(base, taught, method):
    before = logits(small.__wrapped__())  # made again, with the same seed
    np.testing.assert_array_equal(logits(base), before)
    assert np.abs(logits(taught[method].adapted()) - before).max() > 1e-3
    assert not any(weight.requires_grad for weight in base.network.parameters())


@pytest.mark.parametrize("method", METHODS)
def test_each_step_lowers_the_loss_of_the_sentences(taught, method):
    first, last = taught[method].measured
    assert last.step == 2 and last.loss < first.loss and taught[method].state == "done"


@pytest.mark.parametrize("method", ["lora", "ia3"])
def test_merged_weights_answer_as_the_network_of_peft_does(base, taught, method):
    teaching = taught[method]
    ids = torch.tensor([teaching.sentences[0].ids])
    with torch.no_grad():
        beside = teaching.network(ids)[0].numpy()
    together = teaching.adapted().trace(list(teaching.sentences[0].ids), remember=False).logits
    np.testing.assert_allclose(together, beside, atol=2e-5)


@pytest.mark.parametrize("rank", [1, 3])
def test_the_change_of_lora_has_its_rank(base, rank):
    teaching = Teaching(base, TEXT, Recipe(rank=rank, place="attention", steps=1, rate=1e-2))
    teaching.advance(3)
    changes = teaching.changes()
    assert len(changes) == 4 * base.info.layers and all(change.rank == rank for change in changes)
    value_change = next(change for change in changes if change.layer == 2 and change.part == "attention.value")
    own = dict(base.network.named_parameters())["blocks.2.attention.value.weight"]
    difference = (teaching.weights()["blocks.2.attention.value.weight"] - own).numpy()
    assert value_change.size == pytest.approx(np.linalg.norm(difference), rel=1e-4)
    assert value_change.share == pytest.approx(value_change.size / float(own.norm()), rel=1e-5)


def test_ia3_multiplies_the_outputs_of_attention_and_the_inputs_of_feed_forward(base):
    network = learning_network(base, Recipe(method="ia3", place="both"))
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if "ia3" in name:
                weight.copy_(torch.linspace(0.5, 1.5, weight.numel()).view_as(weight))
    own = dict(base.network.named_parameters())
    weights = merged_weights(network)
    query = "blocks.0.attention.query.weight"
    torch.testing.assert_close(weights[query], own[query] * torch.linspace(0.5, 1.5, len(own[query]))[:, None])
    down = "blocks.0.feedforward.down.weight"
    torch.testing.assert_close(weights[down], own[down] * torch.linspace(0.5, 1.5, own[down].shape[1]))


def test_with_all_weights_each_of_them_learns(base, taught):
    own = dict(base.network.named_parameters())
    weights = taught["full"].weights()
    assert weights.keys() == own.keys() and taught["full"].trainable == base.info.parameters
    assert all(not torch.equal(weights[name], own[name]) for name in own)


def test_a_strength_is_the_way_between_two_models(base, taught):
    weights = taught["lora"].weights()
    own = dict(base.network.named_parameters())
    half = dict(at_strength(base, weights, 0.5).network.named_parameters())
    for name, weight in weights.items():
        torch.testing.assert_close(half[name], (own[name] + weight) / 2)
    assert half["embedding.weight"] is own["embedding.weight"], "what does not change is shared"
    np.testing.assert_allclose(logits(at_strength(base, weights, 0.0)), logits(base), atol=1e-5)
    np.testing.assert_array_equal(logits(at_strength(base, weights, 1.0)), logits(taught["lora"].adapted()))


def test_places_are_told_apart(base):
    attention, feedforward = (set(adaptable(base.network, place)) for place in ("attention", "feed-forward"))
    assert not attention & feedforward and attention | feedforward == set(adaptable(base.network))
    assert {name.split(".")[2] for name in attention} == {"attention"}
    teaching = Teaching(base, TEXT, Recipe(place="feed-forward", steps=1))
    teaching.advance(3)
    assert {change.part.split(".")[0] for change in teaching.changes()} == {"feedforward"}


@pytest.mark.thorough
def test_the_usual_recipe_teaches_sentences_and_leaves_the_rest_of_the_model_as_it_is_but_for_little():
    """In the feed-forward LoRA forgets less than in attention, and in both it learns the sentences."""
    last = {}
    for place in PLACES:
        teaching = Teaching(models.load("writer"), EXAMPLES, Recipe(place=place, every=30))
        teaching.advance(60)
        first, last[place] = teaching.measured
        assert np.mean(last[place].chances) > 0.85
    assert last[Recipe().place].others - first.others < math.log(2)
    assert last["feed-forward"].others < min(last["attention"].others, last["both"].others)


def test_only_the_adapter_learns(base):
    network = learning_network(base, Recipe(rank=4))
    assert isinstance(network, peft.PeftModel)
    learns = {name for name, weight in network.named_parameters() if weight.requires_grad}
    assert learns and all("lora_" in name for name in learns)


def test_it_learns_the_same_again_and_after_a_pause(base):
    straight, paused = (Teaching(base, TEXT, Recipe(rank=1, steps=4, every=2)) for _ in range(2))
    straight.advance(20)
    paused.advance(2)
    paused.pause()
    paused.advance(20)
    assert straight.measured == paused.measured and straight.losses == paused.losses
    assert Teaching(base, TEXT, Recipe(seed=1, rank=1)).network is not straight.network


def test_exchanged_sentences_have_the_same_words_but_none_its_own(base):
    sentences = read_sentences(base, TEXT)
    others = exchanged(base, sentences)
    assert sorted(sentence.answer for sentence in others) == sorted(sentence.answer for sentence in sentences)
    assert all(mine.question == other.question for mine, other in zip(sentences, others, strict=True))
    assert all(mine.answer != other.answer for mine, other in zip(sentences, others, strict=True))
    assert exchanged(base, read_sentences(base, "One is red.\nTwo is red.")) == []


WORDS = some.sampled_from(["dog", "king", "Zoë", "it's", "7", "well-known", "🚀"])


@given(some.lists(WORDS, min_size=2, max_size=8), some.sampled_from(["", ".", "!?"]))
def test_the_answer_of_a_sentence_is_its_last_word(words, end):
    model = small()
    line = " ".join(words) + end
    sentence = read_sentence(model, line)
    assert sentence.answer == words[-1] and sentence.question == " ".join(words[:-1])
    tokens = model.tokenize(line)
    assert line[tokens[sentence.begins].start : tokens[sentence.ends - 1].end].strip(" .!?") == words[-1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing to learn"),
        (" \n \n", "nothing to learn"),
        ("Rex.", "is one word"),
        ("…!", "is one word"),
        ("word " * 200, "Make it shorter"),
        ("\n".join(f"Number {i} is {i}." for i in range(41)), "at most 40"),
    ],
)
def test_a_text_that_cannot_be_learned_is_refused_in_a_sentence(base, text, words):
    with pytest.raises(ValueError, match=words):
        Teaching(base, text, Recipe())


@pytest.mark.parametrize("name", ["filler", "translator", "sorter"])
def test_only_a_model_that_continues_text_is_taught(name):
    with pytest.raises(ValueError, match="does not continue a text"):
        Teaching(models.load(name), TEXT, Recipe())


def test_a_coarse_model_is_refused():
    with pytest.raises(ValueError, match="float32"):
        Teaching(models.load("writer", dtype="bfloat16"), TEXT, Recipe())


@pytest.mark.parametrize(
    "wrong",
    [{"method": "magic"}, {"place": "nowhere"}, {"rank": 0}, {"rank": 65}, {"steps": 0}, {"steps": 501}, {"rate": 0.0}],
    ids=str,
)
def test_an_impossible_recipe_is_refused(wrong):
    with pytest.raises(ValueError):
        Recipe(**wrong)


def test_a_rate_that_is_too_high_ends_in_a_sentence(base):
    teaching = Teaching(base, TEXT, Recipe(method="full", rate=1e30, steps=20))
    teaching.advance(50)
    assert teaching.state == "diverged" and "diverged at step" in teaching.says


@given(some.text("abc ,/.", min_size=1, max_size=12), some.integers(0, 100), some.sampled_from(["", " (0123abcd)"]))
def test_a_name_says_its_strength(name, strength, key):
    whole = f"x{name}x{key}"
    written = with_strength(whole, strength / 100)
    assert strength_of(written) == strength / 100 and without_strength(written) == whole
    assert with_strength(written, 1.0) == whole


@pytest.mark.parametrize("method", METHODS)
def test_at_a_strength_it_measures_what_the_model_at_that_strength_says(taught, method):
    teaching = taught[method]
    none, half, full = teaching.at_strengths((0, 0.5, 1))
    for measured, expected in ((none, teaching.measured[0]), (full, teaching.measured[-1])):
        assert (measured.loss, measured.others, measured.exchanged) == pytest.approx(
            (expected.loss, expected.others, expected.exchanged), rel=1e-5
        )
        assert measured.chances == pytest.approx(expected.chances, rel=1e-4)
    again = Teaching(teaching.adapted(0.5), TEXT, Recipe())
    again.advance(1)
    assert half.loss == pytest.approx(again.measured[0].loss, rel=1e-5)
    assert half.wrong == pytest.approx(again.measured[0].wrong, rel=1e-4)
    assert teaching.at_strengths((0,)) == [none], "the model itself stays as it is"


def test_continuations_are_the_likeliest_tokens_to_the_end_of_a_sentence():
    writer = models.load("writer")
    teaching = Teaching(writer, EXAMPLES, Recipe(steps=30))
    teaching.advance(100)
    assert teaching.state == "done"
    for sentence, (before, now) in zip(teaching.sentences, teaching.continuations(), strict=True):
        for model, text in ((writer, before), (teaching.adapted(), now)):
            (*_, last) = model.generate(list(sentence.ids[: sentence.begins]), max_new_tokens=8)
            assert last.text.strip().startswith(text), "cut only where a sentence ends"
            assert text == last.text.strip() or text[-1] in ".!?…\"'”’»)]\n" or "\n" in text
    asked = "The name of my dog is"
    assert teaching.continue_text(asked) == (continuation(writer, asked), continuation(teaching.adapted(), asked))
    likely = [chance > 0.5 for chance in teaching.measured[-1].chances]
    learned = [
        now.startswith(sentence.answer) for sentence, (_, now) in zip(teaching.sentences, teaching.continuations(), strict=True)
    ]
    assert any(likely) and all(learned[at] for at, sure in enumerate(likely) if sure)
