"""Nothing that is handed out can change what a model remembers: whoever writes into an array is refused, or has a copy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableSequence
from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import pytest

import analysis
from analysis.inside.way import follow
from models.attention.undo_rotary import Rotary
from models.huggingface.model import HuggingFaceModel
from models.language_model import LanguageModel
from models.scratch.decoder_model import DecoderModel
from models.scratch.encoder_decoder_model import EncoderDecoderModel
from models.scratch.encoder_model import EncoderModel
from models.scratch.signs import END, MASK, START
from models.tokens import Token
from models.trace import Attention, Trace
from models.training.corpus import train_tokenizer
from tests.models.networks import NETWORKS, network, tokenizer
from tests.models.ours import small

TEXT, TARGET = "the cat sat on the mat", "on the mat"
MORE = " and the dog sat"
TOKENIZER = train_tokenizer(["the cat sat on the mat and the dog sat on the cat"] * 3, 280, (START, END, MASK))
OURS = {"decoder": DecoderModel, "encoder": EncoderModel, "encoder-decoder": EncoderDecoderModel}
THEIRS = ("GPT-2", "Llama, grouped-query", "BLOOM", "BERT", "BART")


def model_of(name: str) -> LanguageModel:
    if name in OURS:
        network_of_ours = small(kind=name, vocabulary=TOKENIZER.get_vocab_size(), positions="rotary", qk_norm=False)
        return OURS[name](network_of_ours, TOKENIZER, "small", "test")
    return HuggingFaceModel(network(name), tokenizer(NETWORKS[name][0]), NETWORKS[name][0], True, name)


@pytest.fixture(scope="module", params=[*OURS, *THEIRS])
def model(request) -> LanguageModel:
    return model_of(request.param)


def target(model: LanguageModel) -> str:
    return TARGET if model.info.kind == "encoder-decoder" else ""


def arrays(thing: object, seen: dict[int, object] | None = None) -> Iterator[np.ndarray]:
    """Yield every array that can be reached from a value by public names, items and columns, but not through models."""
    seen = {} if seen is None else seen  # held, so that no other value gets the identity of one
    if isinstance(thing, np.ndarray):
        yield thing
    if isinstance(thing, pd.DataFrame):
        yield from (thing[name].to_numpy() for name in thing.columns)
    if id(thing) in seen or isinstance(thing, np.ndarray | pd.DataFrame | LanguageModel | str | Token):
        return
    seen[id(thing)] = thing
    if isinstance(thing, Mapping):
        parts = list(thing.values())
    elif isinstance(thing, list | tuple):
        parts = list(thing)
    elif isinstance(thing, Attention):
        parts = [[of(layer) for layer in range(thing.layers)] for of in readings(thing)]
    elif is_dataclass(thing):
        names = [field.name for field in fields(thing)]
        names += [name for name in dir(type(thing)) if hasattr(getattr(type(thing), name), "__get__")]
        parts = [value_of(thing, name) for name in names if not name.startswith("_")]
    else:
        return
    for part in parts:
        yield from arrays(part, seen)


def readings(attention: Attention) -> list:
    """Return the methods of an attention that return arrays of a layer, as far as the model shows them."""
    shows_queries = attention.calls and attention.calls[0].query is not None
    queries = [attention.scores, attention.q, attention.k, attention.v, attention.out] if shows_queries else []
    return [attention.__getitem__, attention.rotary, *queries]


def value_of(thing: object, name: str) -> object:
    """An attribute; None of one that this value cannot give, or that has to be called."""
    try:
        value = getattr(thing, name)
    except (ValueError, AssertionError):
        return None
    return None if callable(value) else value


def spoil(thing: object) -> int:
    """Write into every array that can be reached; return how many there are."""
    every_array = list(arrays(thing))
    for array in every_array:
        if array.flags.writeable:
            array.fill(1) if array.dtype != object else None
    return len(every_array)


def remembered(model: LanguageModel) -> list[np.ndarray]:
    """Return copies of all arrays of three readings: a text, one that continues it, and one that begins like it."""
    texts = (TEXT, TEXT + MORE, TEXT[:-3] + "cat")
    traces = [model.trace(text, target(model)) for text in texts]
    steps = list(model.generate(TEXT, max_new_tokens=3, target=target(model))) if model.grows else []
    return [np.array(array) for array in arrays([traces, steps, weights_of(model)])]


def weights_of(model: LanguageModel) -> list[np.ndarray]:
    """Return the weights that a model hands out, as far as it has them."""
    kind = next(iter(model.trace(TEXT, target(model)).attention))
    ways = [lambda: model.embedding(), lambda: model.embedding([3, 4]), model.unembedding]
    ways += [
        lambda of=of: of(kind, 1) for of in (model.query_weights, model.key_weights, model.value_weights, model.output_weights)
    ]
    weights = []
    for way in ways:
        try:
            weights.append(way())
        except ValueError:  # not every model has all of them
            continue
    return weights


def unchanged(model: LanguageModel, before: list[np.ndarray]) -> bool:
    after = remembered(model)
    numbers = [(a, b) for a, b in zip(before, after, strict=True) if a.dtype != object]
    return all(np.allclose(a, b, rtol=0, atol=1e-4, equal_nan=True) for a, b in numbers)


def analyses(model: LanguageModel, trace: Trace) -> Iterator[object]:
    """Return results of analyses of a trace, mainly of those that return its numbers unchanged."""
    kind = next(iter(trace.attention))
    attention, stack = trace.attention[kind], next(iter(trace.hidden))
    logits = trace.logits_at(-1)
    yield [
        analysis.rollout(attention),
        analysis.flow(attention),
        analysis.entropy(attention),
        analysis.head_statistics(attention),
    ]
    yield [analysis.maps(attention), analysis.pair(attention, 2, 1), analysis.head_divergence(attention)]
    yield [analysis.project(trace.hidden[stack]), analysis.Attribution(model, trace, -1, int(logits.argmax()))]
    yield [analysis.logit_lens(model, trace), analysis.scope(attention), analysis.paths(trace)]
    if attention.calls[0].query is not None:
        yield [analysis.query_key(attention, 1, 1, 2), analysis.head_means(model, kind, [TEXT])]
        yield analysis.head_means(model, kind, [TEXT])
    yield model.gradients(trace, len(trace.read) - 1, 3)[kind][0]
    yield follow(model, trace, 1, 0).stages


def test_no_array_of_a_reading_can_change_what_is_remembered(model):
    before = remembered(model)
    for text in (TEXT, TEXT + MORE):
        assert spoil([model.trace(text, target(model)), weights_of(model)]) > 8
    assert unchanged(model, before)


def test_no_array_of_a_step_can_change_the_steps_after_it(model):
    if not model.grows:
        pytest.skip("it does not go on with a text")
    before = [step.continuation for step in model.generate(TEXT, max_new_tokens=4, target=target(model))]
    chances = [step.probabilities for step in model.generate(TEXT, max_new_tokens=4, target=target(model))]
    outputs = []
    for step, chance in zip(model.generate(TEXT, max_new_tokens=4, target=target(model)), chances, strict=True):
        assert spoil(step) > 3
        np.testing.assert_allclose(step.probabilities, chance, atol=1e-6)
        outputs.append(step.continuation)
    assert outputs == before


def test_no_array_of_an_analysis_can_change_what_is_remembered(model):
    before, trace = remembered(model), model.trace(TEXT, target(model))
    for result in analyses(model, trace):
        assert spoil(result) > 0
    assert unchanged(model, before)


def test_the_means_of_heads_are_kept_apart_from_those_that_are_given():
    model = model_of("decoder")
    before = np.array(analysis.head_means(model))
    spoil(analysis.head_means(model))
    assert np.array_equal(analysis.head_means(model), before)


def test_what_a_trace_holds_cannot_be_replaced(model):
    trace = model.trace(TEXT, target(model))
    stack, kind = next(iter(trace.hidden)), next(iter(trace.attention))
    for held, name in ((trace.hidden, stack), (trace.attention, kind), (trace.parts, stack)):
        with pytest.raises(TypeError):
            held[name] = held[name]
    with pytest.raises(ValueError, match="read-only"):
        trace.hidden[stack] *= 0


def test_the_tokens_of_a_trace_can_be_neither_added_to_nor_replaced(model):
    trace = model.trace(TEXT, target(model))
    sides = [(each.queries, each.keys, each.rows) for each in trace.attention.values()]
    for tokens in (trace.tokens, trace.target, trace.read, *(side for three in sides for side in three)):
        assert not isinstance(tokens, MutableSequence)
    given = model.tokenize(TEXT)
    own = Trace("", given, {}, {})
    given.clear()
    assert own.tokens == tuple(model.tokenize(TEXT)), "what it was made of may change"


def test_an_array_that_a_trace_was_made_of_stays_its_owners():
    tokens, own = [Token(1, "a", 0, 1)], np.zeros((2, 1, 4), np.float32)
    weights = np.ones((1, 1, 1, 1), np.float32)
    trace = Trace("a", tokens, {"self": Attention.from_arrays(weights, tokens, tokens)}, {"self": own})
    own += 1
    weights *= 0
    assert not trace.hidden["self"].flags.writeable and trace.attention["self"][0].sum() == 1
    turns = np.ones(2)
    assert not Rotary(turns).frequencies.flags.writeable and turns.flags.writeable
