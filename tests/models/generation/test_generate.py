"""A text that grows, held to transformers' own `generate`, to reading all again, and to full forward passes."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
import torch
import transformers as T

import models
from models.attention.recorded_call import Call
from models.attention.recorder import recording
from models.generation.strategy import Strategy, distribution
from models.huggingface.model import HuggingFaceModel
from models.scratch.decoder_model import DecoderModel
from models.scratch.encoder_decoder_model import EncoderDecoderModel
from models.scratch.signs import END, START
from models.training.corpus import train_tokenizer
from tests.grids import grid
from tests.models.huggingface.test_architectures import HYBRIDS, save
from tests.models.networks import NETWORKS, TEXTS, network, tokenizer
from tests.models.ours import small

TEXT, NEW = "The cat sat on the mat", 12
DECODERS = [
    "GPT-2",
    "Llama, grouped-query",
    "Mistral, sliding window",
    "Qwen3",
    "Gemma 2, soft-capped",
    "GPT-OSS, sinks",
    "Mixtral",
    "DeepSeek-V3",
    "BLOOM",
    "Falcon",
    "GPT-Neo",
]
BOTH = ["T5", "BART", "Marian"]
WITH_ALL = {"GPT-2", "BLOOM", "T5"}  # these have each control, the others every third
OURS = [
    {},
    {"positions": "relative"},
    {"positions": "alibi", "kv_heads": 2},
    {"positions": "learned", "pattern": "window"},
    {"score": "additive"},
    {"computed": "performer"},
]
# ours, and the same as transformers is told
CONTROLS = [
    (Strategy(), {}),
    (Strategy(repetition_penalty=1.3), {"repetition_penalty": 1.3}),
    (Strategy(no_repeat=2), {"no_repeat_ngram_size": 2}),
    (Strategy(repetition_penalty=0.8, no_repeat=3), {"repetition_penalty": 0.8, "no_repeat_ngram_size": 3}),
    (Strategy(method="beam", beams=3), {"num_beams": 3}),
    (Strategy(method="beam", beams=2, length_penalty=-1), {"num_beams": 2, "length_penalty": -1.0}),
    (
        Strategy(method="beam", beams=4, length_penalty=2, no_repeat=2, repetition_penalty=1.2),
        {"num_beams": 4, "length_penalty": 2.0, "no_repeat_ngram_size": 2, "repetition_penalty": 1.2},
    ),
]
SAMPLED = [
    {"temperature": 0.7},
    {"top_k": 5},
    {"top_p": 0.6},
    {"min_p": 0.2},
    {"typical": 0.4},
    {"repetition_penalty": 1.4},
    {"no_repeat": 2},
    {"temperature": 1.8, "top_k": 50, "top_p": 0.9, "min_p": 0.02, "typical": 0.95, "repetition_penalty": 1.1},
]
THEIRS = {"typical": "typical_p", "no_repeat": "no_repeat_ngram_size"}


@cache
def hub(name: str) -> HuggingFaceModel:
    kind, built = NETWORKS[name][0], network(name)
    built.generation_config.forced_eos_token_id = None  # transformers would put an end where the tokens run out
    return HuggingFaceModel(built, tokenizer(kind), kind, True, name)


@cache
def ours(kind: str, **choices) -> DecoderModel | EncoderDecoderModel:
    bpe = train_tokenizer(TEXTS * 3, 300, (START, END))
    cls = {"decoder": DecoderModel, "encoder-decoder": EncoderDecoderModel}[kind]
    return cls(small(kind=kind, vocabulary=bpe.get_vocab_size(), **choices), bpe, "small", "test")


def its_ids(model: HuggingFaceModel, text: str = TEXT) -> torch.Tensor:
    return torch.tensor(
        [[token.id for token in (model.texts.tokens if model.kind == "decoder" else model.vocabulary.tokens)(text)]]
    )


def theirs(model: HuggingFaceModel, sample: bool = False, **options) -> T.generation.GenerateDecoderOnlyOutput:
    """Generate with transformers, by a network that Headlight never saw, without padding."""
    name = model.info.name
    peer, ids = network(name), its_ids(model)
    peer.generation_config.forced_eos_token_id = None
    return peer.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=NEW,
        do_sample=sample,
        early_stopping="num_beams" in options,
        output_scores=True,
        output_logits=True,
        return_dict_in_generate=True,
        top_k=options.pop("top_k", 0 if sample else None),
        **options,
    )


def new_ids(model: HuggingFaceModel, sequence: torch.Tensor) -> tuple[int, ...]:
    front = its_ids(model).shape[1] if model.kind == "decoder" else 1
    ids = tuple(sequence[front:].tolist())
    ends = [at for at, id in enumerate(ids) if id in (model.network.generation_config.eos_token_id,)]
    return ids[: ends[0] + 1] if ends else ids


@pytest.mark.parametrize(
    ("name", "strategy", "options"),
    [
        (name, *control)
        for place, name in enumerate([*DECODERS, *BOTH])
        for number, control in enumerate(CONTROLS)
        if name in WITH_ALL or (place + number) % 3 == 0
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, dict) else value if isinstance(value, str) else "",
)
def test_greedy_and_beams_with_each_control_are_those_of_transformers(name, strategy, options):
    model = hub(name)
    steps, their = list(model.generate(TEXT, strategy, NEW)), theirs(model, **options)
    assert steps[-1].continuation == new_ids(model, their.sequences[0])
    assert steps[-1].end == ("end" if steps[-1].continuation[-1] in (model.network.generation_config.eos_token_id,) else "length")
    if strategy.method == "beam":
        best = steps[-1].search.answers[0]
        expected = float(their.sequences_scores[0]) * len(best.ids) ** strategy.length_penalty
        assert best.score == pytest.approx(expected, abs=1e-3) and best.ids == steps[-1].continuation
    else:
        for step, raw, changed in zip(steps, their.logits, their.scores, strict=False):
            np.testing.assert_allclose(step.logits, raw[0].numpy(), atol=1e-4, rtol=1e-4)
            np.testing.assert_allclose(step.probabilities, changed[0].double().softmax(-1), atol=1e-6)


@pytest.mark.parametrize("controls", grid(SAMPLED, SAMPLED[::3]), ids=str)
@pytest.mark.parametrize("name", ["GPT-2", "Llama, grouped-query", "Falcon", "T5"])
def test_a_sampled_text_has_their_distribution_at_each_step(name, controls):
    """transformers draws; along its text our distributions are its own."""
    model, strategy = hub(name), Strategy(method="sampling", **controls)
    torch.manual_seed(3)
    their = theirs(model, True, **{THEIRS.get(name, name): value for name, value in controls.items()})
    ids = new_ids(model, their.sequences[0])
    assert len(ids) > 2
    for at, (raw, changed) in enumerate(zip(their.logits, their.scores, strict=True)):
        if at < len(ids):
            step = next(model.generate(TEXT, strategy, 1, continuation=ids[:at]))
            expected = changed[0].double().softmax(-1).numpy()
            np.testing.assert_allclose(step.probabilities, expected, atol=1e-6)
            expected_distribution = distribution(raw[0].numpy(), step.ids, strategy)
            np.testing.assert_allclose(expected_distribution.after, expected, atol=1e-9)
            assert expected[step.token.id] > 0 and step.probability == pytest.approx(expected[step.token.id], abs=1e-6)


@pytest.mark.parametrize("controls", [{}, *SAMPLED], ids=str)
@pytest.mark.parametrize("name", ["GPT-2", "Llama, grouped-query", "Gemma 2, soft-capped", "T5", "Marian"])
def test_with_the_same_draws_a_sampled_text_is_theirs_token_for_token(name, controls, monkeypatch):
    """Our draws fall on the tokens that transformers would choose: tokens lie side by side, the likeliest first."""
    model, strategy = hub(name), Strategy(method="sampling", seed=8, **controls)
    steps, position = list(model.generate(TEXT, strategy, NEW)), itertools.count()

    def draw(probabilities: torch.Tensor, num_samples: int, **_) -> torch.Tensor:
        (chances,) = probabilities.double().numpy()
        order = np.argsort(-chances, kind="stable")
        dart = np.random.default_rng([strategy.seed, next(position)]).random() * chances.sum()
        return torch.tensor([[int(order[np.searchsorted(np.cumsum(chances[order]), dart, side="right")])]])

    monkeypatch.setattr(torch, "multinomial", draw)
    their = theirs(model, True, **{THEIRS.get(name, name): value for name, value in controls.items()})
    assert steps[-1].continuation == new_ids(model, their.sequences[0])


def every_model() -> list:
    """All models; `make test` has those with all controls, and ours as they are by default and with positions of two kinds."""
    hubs = [(name, name in WITH_ALL, partial(hub, name)) for name in (*DECODERS, *BOTH)]
    built = [
        (f"ours, {kind}, {choices}", choices in OURS[: 3 if kind == "decoder" else 1], partial(ours, kind, **choices))
        for kind in ("decoder", "encoder-decoder")
        for choices in OURS
    ]
    return [pytest.param(opened, id=name, marks=() if few else pytest.mark.thorough) for name, few, opened in hubs + built]


ALL = pytest.mark.parametrize("opened", every_model())


@ALL
@pytest.mark.parametrize(
    "strategy",
    [Strategy(), Strategy(method="beam", beams=3)],
    ids=lambda strategy_of: strategy_of.method,
)
def test_with_and_without_the_cache_is_the_same(opened, strategy):
    model = opened()
    quick, slow = (list(model.generate(TEXT, strategy, NEW, cache=cache)) for cache in (True, False))
    assert [step.continuation for step in quick] == [step.continuation for step in slow]
    for a, b in zip(quick, slow, strict=True):
        np.testing.assert_allclose(a.logits, b.logits, atol=1e-4, rtol=1e-4)
        assert a.attention.keys() == b.attention.keys()
        for kind in a.attention:
            np.testing.assert_allclose(a.attention[kind], b.attention[kind], atol=1e-5)
    assert {step.read.bytes for step in slow} == {0} and all(step.read.bytes for step in quick)
    if strategy.method != "beam":
        assert [step.read.tokens for step in quick[1:]] == [1] * (len(quick) - 1)
        assert [step.read.tokens for step in slow] == [len(step.tokens) for step in slow]


OTHERWISE = ["granitemoehybrid", "jamba", "minimax", "bamba", "deepseek_v32", "m2m_100", "fsmt", "doge"]


@pytest.mark.thorough
@pytest.mark.parametrize("kind", grid(OTHERWISE, ["minimax", "fsmt", "doge"]))
def test_what_its_own_cache_does_otherwise_is_not_believed(kind, tmp_path):
    """State spaces, chosen keys, positions that leave out padding: each is read on only where that is the same."""
    model = models.load(str(save(tmp_path, kind, **HYBRIDS.get(kind, {}))), device="cpu")
    for strategy in (Strategy(), Strategy(method="beam", beams=2)):
        quick, slow = (list(model.generate(TEXT, strategy, NEW, cache=cache)) for cache in (True, False))
        assert [step.continuation for step in quick] == [step.continuation for step in slow]
        for a, b in zip(quick, slow, strict=True):
            np.testing.assert_allclose(a.logits, b.logits, atol=1e-3, rtol=1e-3)
            assert all(np.abs(a.attention[kind] - b.attention[kind]).max() < 1e-4 for kind in b.attention)


@ALL
def test_its_rows_are_those_of_a_full_forward_pass(opened):
    """Row by row, what decided each token: the rows of one trace of all that was read."""
    model = opened()
    steps = list(model.generate(TEXT, Strategy(method="sampling", seed=1), NEW))
    for kind, calls in read_again(model, steps[-1]).items():
        for layer, call in enumerate(calls):
            whole = call.weights().cpu().numpy()
            for step in steps:
                row, mine = whole[:, len(step.tokens) - 1], step.attention[kind][layer]
                np.testing.assert_allclose(mine, row[:, : mine.shape[1]], atol=1e-5)
                assert not row[:, mine.shape[1] :].any(), "nothing looks ahead"


@ALL
@pytest.mark.parametrize("width", [2, 4])
def test_each_row_of_a_beam_search_is_that_of_a_full_forward_pass_too(opened, width):
    """The best beginning changes during the search; each step's row is that of the beginning in which it was read."""
    model = opened()
    steps = list(model.generate(TEXT, Strategy(method="beam", beams=width), NEW))
    whole: dict = {}
    for step in reversed(steps):  # a longer beginning has the rows of the shorter ones that it goes on from
        known = next((weights for ids, weights in whole.items() if ids[: len(step.ids)] == step.ids), None)
        if known is None:
            known = whole[step.ids] = {
                kind: [call.weights().cpu().numpy() for call in calls] for kind, calls in read_again(model, step).items()
            }
        assert known.keys() == step.attention.keys()
        for kind, layers in known.items():
            for row_of_step, maps in zip(step.attention[kind], layers, strict=True):
                row = maps[:, len(step.tokens) - 1]
                np.testing.assert_allclose(row_of_step, row[:, : row_of_step.shape[1]], atol=1e-5)
                assert not row[:, row_of_step.shape[1] :].any()
    assert len(steps) > 3 and sum(len(ids) for ids in whole) >= len(steps[-1].tokens)


def read_again(model, step) -> dict[str, list[Call]]:
    """Return the calls of a forward pass over everything that a step had read, by kind and layer."""
    ids, source = (torch.tensor([[token.id for token in tokens]]) for tokens in (step.tokens, step.source))
    network = model.network
    if isinstance(model, HuggingFaceModel):
        inputs = {"input_ids": source, "decoder_input_ids": ids} if step.source else {"input_ids": ids}
        with torch.inference_mode():
            record, _ = model.followed.forward(network, recording(), **inputs, use_cache=False)
        calls = model.followed.layout.split(record)
    else:
        with torch.inference_mode(), recording() as record:
            network(source, ids) if step.source else network(ids)
        calls = model._by_kind(record.calls)
    return {kind: kind_calls for kind, kind_calls in calls.items() if kind != "encoder"}


def test_no_control_is_the_model_itself_and_struck_tokens_have_no_chance():
    model = ours("decoder")
    step = next(model.generate(TEXT, Strategy(method="sampling")))
    plain = step.distribution
    assert plain.stages == () and plain.after is plain.before
    step = next(model.generate(TEXT, Strategy(method="sampling", temperature=0.5, top_k=9, top_p=0.8, min_p=0.1, typical=0.9)))
    names = [stage.name for stage in step.distribution.stages]
    assert names == ["temperature", "top_k", "top_p", "min_p", "typical"], "in the order in which transformers runs them"
    gone = np.concatenate([stage.struck for stage in step.distribution.stages])
    assert len(set(gone)) == len(gone) and (step.probabilities[gone] == 0).all()
    assert len(gone) + np.count_nonzero(step.probabilities) == len(step.logits)


def test_a_draw_is_the_same_for_the_same_seed_and_lands_as_often_as_is_likely():
    logits = np.log(np.array([0.5, 0.25, 0.15, 0.1], dtype=np.float32))
    draws = [distribution(logits, (), Strategy()).choose(Strategy(method="sampling", seed=seed), 3) for seed in range(4000)]
    share = np.bincount([id for id, _ in draws], minlength=4) / len(draws)
    np.testing.assert_allclose(share, [0.5, 0.25, 0.15, 0.1], atol=0.03)
    assert all((dart < 0.5) == (id == 0) for id, dart in draws), "the likeliest lies first"
    model, strategy = ours("decoder"), Strategy(method="sampling", temperature=1.5, seed=11)
    first, second = (list(model.generate(TEXT, strategy, NEW)) for _ in range(2))
    assert [step.continuation for step in first] == [step.continuation for step in second]
    assert first[-1].continuation != list(model.generate(TEXT, replace(strategy, seed=12), NEW))[-1].continuation


def test_another_strategy_redraws_from_what_is_known():
    model = ours("decoder")
    for step in model.generate(TEXT, Strategy(method="sampling", seed=4, temperature=3), NEW):
        assert step.chosen_by(step.strategy) == (step.token.id, step.dart)
        assert step.chosen_by(Strategy()) == (int(step.logits.argmax()), None)
        cold = Strategy(method="sampling", seed=4, temperature=0.01)
        assert step.chosen_by(cold)[0] == step.logits.argmax() and step.chosen_by(cold)[1] == step.dart


@ALL
def test_a_branch_goes_on_from_any_word(opened):
    """Another word chosen at a step continues as if it had been forced."""
    model = opened()
    steps = list(model.generate(TEXT, Strategy(method="sampling", seed=2), NEW))
    step = steps[min(4, len(steps) - 1)]
    again = list(model.generate(TEXT, step.strategy, NEW - step.position, continuation=step.continuation[:-1]))
    assert again[-1].continuation == steps[-1].continuation, "the same draws lead to the same end"
    other = int(np.argsort(step.logits)[-3])
    branch = next(model.generate(TEXT, Strategy(), 1, continuation=(*step.continuation[:-1], other)))
    assert branch.ids == (*step.ids, other) and branch.continuation[:-1] == (*step.continuation[:-1], other)
    slow = next(model.generate(TEXT, Strategy(), 1, continuation=(*step.continuation[:-1], other), cache=False))
    np.testing.assert_allclose(branch.logits, slow.logits, atol=1e-4, rtol=1e-4)


@ALL
def test_what_is_given_is_said_with_the_scores_that_it_had(opened):
    """A text said again: each token's own scores, and draws where the strategy draws the same."""
    model, strategy = opened(), Strategy(method="sampling", seed=2, temperature=1.5)
    steps = list(model.generate(TEXT, strategy, NEW))
    other = int(np.argsort(steps[1].logits)[-2])
    forced = (steps[0].token.id, other, *(step.token.id for step in steps[:2]))
    again = list(model.generate(TEXT, strategy, NEW, forced=forced))
    assert again[-1].continuation[: len(forced)] == forced[: len(again)] and again[0].dart == steps[0].dart
    for at, step in enumerate(again):
        alone = next(model.generate(TEXT, strategy, 1, continuation=step.continuation[:-1]))
        np.testing.assert_allclose(step.logits, alone.logits, atol=1e-4, rtol=1e-4)
        assert (step.token.id, step.dart) == (alone.token.id, alone.dart) or (at < len(forced) and step.dart is None)


@ALL
def test_the_cache_takes_what_the_formula_says(opened):
    model = opened()
    for step in model.generate(TEXT, Strategy(), NEW):
        assert step.read.bytes == model.cache_bytes(len(step.tokens), len(step.source))
    assert model.cache_bytes(0) < model.cache_bytes(1) < model.cache_bytes(1000)


def test_a_tree_of_beams_holds_every_way_that_was_looked_at():
    model, width = ours("encoder-decoder"), 3
    for step in model.generate(TEXT, Strategy(method="beam", beams=width), NEW):
        tree = step.search.tree
        assert [branch.number for branch in tree] == list(range(len(tree))) and step.search.looked_at == tree[
            -len(step.search.looked_at) :
        ]
        scores = [branch.score for branch in step.search.looked_at]
        assert scores == sorted(scores, reverse=True) and sum(branch.fate == "kept" for branch in step.search.looked_at) <= width
        for branch in tree:
            parent = tree[branch.parent] if branch.parent >= 0 else None
            assert branch.length == (parent.length if parent else 0) + 1 and branch.score <= (parent.score if parent else 0)
            assert parent is None or parent.fate == "kept"
    ways = {branch.number: (*ways_to(tree, branch.parent), branch.id) for branch in tree}
    for answer in step.search.answers:
        assert any(ways[branch.number] == answer.ids and branch.score == pytest.approx(answer.score) for branch in tree)


def ways_to(tree, number: int) -> tuple[int, ...]:
    return () if number < 0 else (*ways_to(tree, tree[number].parent), tree[number].id)
