"""Every config either builds a transformer that reads, or is refused in one sentence."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from models.scratch import config as parts
from models.scratch.initialisation import INITIALISATION
from models.scratch.norms import NORMS
from models.scratch.positions import POSITIONS
from models.scratch.scores import SCORES
from models.scratch.transformer import EncoderDecoder, TransformerConfig, build
from tests.models.ours import SMALL, VOCABULARY, answer, scramble, small

FREE = {
    "positions": st.sampled_from(parts.POSITIONS),
    "norm": st.sampled_from(parts.NORMS),
    "norm_place": st.sampled_from(parts.PLACES),
    "feedforward": st.sampled_from(parts.FEEDFORWARDS),
    "score": st.sampled_from(parts.SCORES),
    "pattern": st.sampled_from(parts.PATTERNS),
    "initialisation": st.sampled_from(parts.INITIALISATIONS),
    "temperature": st.floats(0.2, 5),
    "context": st.integers(12, 20),
    "layers": st.integers(1, 3),
    "d_ff": st.integers(1, 9),
    "features": st.integers(1, 30),
    "window": st.integers(1, 6),
    "random_keys": st.integers(1, 4),
    "global_tokens": st.integers(1, 3),
    "experts": st.sampled_from([1, 3]),
    "experts_used": st.integers(1, 3),
    **dict.fromkeys(("qk_norm", "bias", "tied", "embedding_scale", "embedding_norm", "head_transform"), st.booleans()),
}


@st.composite
def valid(draw, kinds: tuple[str, ...] = parts.KINDS) -> TransformerConfig:
    """Configs whose parts fit together."""
    chosen = draw(st.fixed_dictionaries(FREE)) | {"kind": draw(st.sampled_from(kinds)), "vocabulary": VOCABULARY}
    chosen["heads"] = draw(st.integers(1, 6))
    chosen["kv_heads"] = draw(st.sampled_from([n for n in range(7) if n == 0 or chosen["heads"] % n == 0]))
    chosen["d_model"] = chosen["heads"] * draw(st.integers(1, 4)) * (2 if chosen["positions"] == "rotary" else 1)
    ways = ["exact", "exact", "performer", "linformer"][: 4 if chosen["kind"] == "encoder" else 3]
    if (computed := draw(st.sampled_from(ways))) != "exact":
        positions = "rotary" if chosen["d_model"] // chosen["heads"] % 2 == 0 else "learned"
        chosen |= {"computed": computed, "score": "dot", "pattern": "full", "positions": positions}
    return TransformerConfig(**chosen)


@given(valid())
@settings(max_examples=60, deadline=None)
def test_a_config_that_is_taken_builds_reads_and_learns(config):
    torch.manual_seed(0)
    network = build(config)
    scramble(network)
    ids = torch.randint(VOCABULARY, (2, 12))
    logits = answer(network, ids)
    assert logits.shape == (2, 12, VOCABULARY) and logits.isfinite().all()
    logits.square().mean().backward()
    for name, parameter in network.named_parameters():
        if ".experts." not in name and "router" not in name:  # an expert that no token came to learns nothing
            assert parameter.grad is not None and parameter.grad.isfinite().all(), name


@given(valid(("decoder",)), st.integers(1, 11), st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_a_decoder_never_looks_ahead(config, known, seed):
    torch.manual_seed(seed)
    network = build(config).eval()
    scramble(network)
    ids = torch.randint(VOCABULARY, (1, 12))
    other = torch.cat([ids[:, :known], torch.randint(VOCABULARY, (1, 12 - known))], 1)
    torch.testing.assert_close(network(ids)[:, :known], network(other)[:, :known], atol=1e-5, rtol=1e-5)


@given(valid(("encoder-decoder",)), st.integers(1, 11))
@settings(max_examples=20, deadline=None)
def test_a_decoder_of_two_stacks_never_looks_ahead_in_the_target(config, known):
    torch.manual_seed(0)
    network = build(config).eval()
    scramble(network)
    source, target = torch.randint(VOCABULARY, (2, 1, 12))
    other = torch.cat([target[:, :known], torch.randint(VOCABULARY, (1, 12 - known))], 1)
    torch.testing.assert_close(network(source, target)[:, :known], network(source, other)[:, :known], atol=1e-5, rtol=1e-5)


NUMBERS = [field.name for field in dataclasses.fields(TransformerConfig) if field.type == "int"]


@given(st.sampled_from(NUMBERS), st.one_of(st.integers(max_value=-1), st.floats(), st.booleans(), st.text(max_size=3), st.none()))
def test_a_number_that_cannot_be_is_named(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be .*; it is .*\\.$"):
        TransformerConfig(**{name: value})


@given(st.integers(1, 64), st.integers(1, 64), st.integers(0, 64))
def test_heads_that_do_not_divide_are_refused_and_no_others(d_model, heads, kv_heads):
    fits = d_model % heads == 0 and (kv_heads == 0 or heads % kv_heads == 0)
    if fits:
        TransformerConfig(d_model=d_model, heads=heads, kv_heads=kv_heads, positions="none")
    else:
        with pytest.raises(ValueError, match=r"^(d_model|kv_heads) \(\d+\) must (be a multiple of|divide) heads \(\d+\): .*\.$"):
            TransformerConfig(d_model=d_model, heads=heads, kv_heads=kv_heads, positions="none")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"heads": 3}, r"^d_model \(16\) must be a multiple of heads \(3\)"),
        ({"kv_heads": 3}, r"^kv_heads \(3\) must divide heads \(4\)"),
        ({"d_model": 12}, "must be even; it is 3"),
        ({"experts": 2, "experts_used": 3}, r"^experts_used \(3\) cannot be more than there are experts \(2\)"),
        ({"temperature": 0.0}, "^temperature must be above 0"),
        ({"temperature": math.inf}, "^temperature must be a number; it is inf"),
        ({"temperature": math.nan}, "^temperature must be a number; it is nan"),
        ({"dropout": 1.0}, "^dropout must be from 0 to below 1"),
        ({"dropout": -0.1}, "^dropout must be from 0 to below 1"),
        ({"tied": 1}, "^tied must be true or false; it is 1"),
        ({"pattern": "window", "window": 33}, r"^window \(33\) is over the context \(32\)"),
        ({"pattern": "bigbird", "random_keys": 33}, r"^random_keys \(33\) is over the context \(32\)"),
        ({"pattern": "global", "global_tokens": 33}, r"^global_tokens \(33\) is over the context \(32\)"),
        ({"computed": "performer", "score": "additive"}, 'takes score "dot" and pattern "full"'),
        ({"computed": "performer", "pattern": "window"}, 'takes score "dot" and pattern "full"'),
        ({"computed": "performer", "positions": "alibi"}, "has no scores that alibi positions could be added to"),
        ({"computed": "linformer"}, 'so it takes kind "encoder"'),
        *(
            ({name: "sundial"}, f"^{name} must be one of .*; it is 'sundial'")
            for name in (
                "kind",
                "positions",
                "norm",
                "norm_place",
                "feedforward",
                "score",
                "computed",
                "pattern",
                "initialisation",
            )
        ),
    ],
    ids=str,
)
def test_what_does_not_fit_together_is_refused_in_one_sentence(wrong, says):
    with pytest.raises(ValueError, match=says) as refused:
        TransformerConfig(**SMALL | wrong)
    assert str(refused.value).count(". ") == 0 and str(refused.value).endswith(".")


def test_sizes_that_a_choice_does_not_use_do_not_matter():
    TransformerConfig(**SMALL | {"window": 99, "random_keys": 99, "global_tokens": 99, "experts_used": 9})
    TransformerConfig(**SMALL | {"window": 99, "pattern": "global"})


def test_every_name_that_can_be_chosen_is_there():
    assert set(POSITIONS) == set(parts.POSITIONS) and set(NORMS) == set(parts.NORMS) and {"dot", *SCORES} == set(parts.SCORES)
    assert set(INITIALISATION) == set(parts.INITIALISATIONS)


def test_what_is_changed_makes_the_same_config_again():
    config = TransformerConfig(**SMALL, positions="alibi", tied=False)
    assert TransformerConfig(**config.changed()) == config
    assert TransformerConfig().changed() == {}


def test_a_tied_unembedding_is_the_embedding_and_two_stacks_share_it():
    assert "unembedding.weight" not in small().state_dict() and "unembedding.weight" in small(tied=False).state_dict()
    both = small(kind="encoder-decoder")
    assert isinstance(both, EncoderDecoder) and both.encoder.embedding is both.decoder.embedding


def test_embeddings_are_scaled_by_the_root_of_the_width():
    plain, scaled = small(positions="none"), small(positions="none", embedding_scale=True)
    ids, seen = torch.arange(5)[None], []
    scaled.blocks[0].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    scaled(ids)
    torch.testing.assert_close(seen[0], 4 * plain.embedding(ids))


@pytest.mark.parametrize("norm_place", ["before", "after"])
def test_with_zeros_a_fresh_block_passes_the_stream_on(norm_place):
    network = build(TransformerConfig(**SMALL, kind="encoder-decoder", norm_place=norm_place, experts=2))
    source, target = torch.randint(VOCABULARY, (2, 1, 9))
    stream, begun = network.hidden(target, network.encode(source)), network.decoder.embedding(target)
    if norm_place == "after":
        begun = begun / (begun.square().mean(-1, keepdim=True) + torch.finfo(torch.float32).eps).sqrt()
    torch.testing.assert_close(stream, begun, atol=1e-3, rtol=1e-3)


def test_weights_begin_as_wide_as_the_papers_say():
    sizes = SMALL | {"d_model": 256, "layers": 8, "d_ff": 300}
    for name, inside, writing in (("xavier", (6 / 556 / 3) ** 0.5, (6 / 556 / 3) ** 0.5), ("gpt2", 0.02, 0.02 / 4)):
        network = build(TransformerConfig(**sizes, initialisation=name, bias=True))
        block = network.blocks[0]
        assert block.feedforward.up.weight.std().item() == pytest.approx(inside, rel=0.03)
        assert block.feedforward.down.weight.std().item() == pytest.approx(writing, rel=0.03)
        assert not block.feedforward.up.bias.any()
    assert build(TransformerConfig(**sizes)).blocks[0].feedforward.up.weight.std().item() == pytest.approx(1 / 16, rel=0.03)
