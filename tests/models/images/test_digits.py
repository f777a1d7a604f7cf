"""Our own model of images: held to PyTorch's own layers, to a covering of pixels by hand, and to what its card says."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

import models
from analysis import attributions, head_effects, head_importance, head_scores, rollout
from analysis.references import head_means
from models import edits
from models.catalog import WEIGHTS
from models.errors import ModelError
from models.images.digits import examples, split
from models.tokens import Patch


@pytest.fixture(scope="module")
def digits():
    return models.load("digits")


@pytest.fixture(scope="module")
def four() -> np.ndarray:
    return examples()[4].image


def independent(model, images: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """The logits [image, label] of PyTorch's own encoder with the same weights, and the stream after its last layer."""
    network, config = model.network, model.network.config
    layer = nn.TransformerEncoderLayer(config.d_model, config.heads, config.d_ff, 0.0, "gelu", batch_first=True, norm_first=True)
    encoder = nn.TransformerEncoder(layer, config.layers, enable_nested_tensor=False).eval()
    for ours, theirs in zip(network.blocks, encoder.layers, strict=True):
        maps = [ours.attention.query, ours.attention.key, ours.attention.value]
        theirs.self_attn.in_proj_weight.data = torch.cat([part.weight for part in maps])
        theirs.self_attn.in_proj_bias.data = torch.cat([part.bias for part in maps])
        theirs.self_attn.out_proj.load_state_dict(ours.attention.output.state_dict())
        theirs.norm1.load_state_dict(ours.attention_norm.state_dict())
        theirs.norm2.load_state_dict(ours.feedforward_norm.state_dict())
        up, down = (part for part in ours.feedforward.modules() if isinstance(part, nn.Linear))
        theirs.linear1.load_state_dict(up.state_dict())
        theirs.linear2.load_state_dict(down.state_dict())
    projection = nn.Conv2d(1, config.d_model, config.patch, config.patch)
    projection.weight.data = network.embedding.projection.weight.reshape(-1, 1, config.patch, config.patch)
    projection.bias.data = network.embedding.projection.bias
    with torch.inference_mode():
        normal = (torch.tensor(images)[:, None] - config.pixel_mean) / config.pixel_spread
        patches = projection(normal).flatten(2).transpose(1, 2)
        first = network.embedding.first.expand(len(patches), 1, -1)
        stream = encoder(torch.cat([first, patches], 1) + network.positions.embedding.weight)
        return network.unembedding(network.final_norm(stream[:, 0])), stream


def test_it_is_pytorchs_own_encoder(digits):
    images = split()[2][:20]
    levels = np.rint(images * 255).astype(np.float32) / 255  # an image has 256 levels of grey
    logits, stream = independent(digits, levels)
    traces = digits.traces(list(images))
    np.testing.assert_allclose([trace.scores_at(0) for trace in traces], logits.numpy(), atol=1e-4)
    np.testing.assert_allclose([trace.hidden["self"][-1] for trace in traces], stream.numpy(), atol=1e-4)


def test_it_is_as_right_as_its_card_says(digits):
    _, _, images, right = split()
    logits = digits.logits_of([digits.tokenize(image) for image in images], 0)
    accuracy = float((logits.argmax(1) == right).mean())
    folder = WEIGHTS / "digits"
    assert accuracy == json.loads((folder / "figures.json").read_text())["accuracy"]["digits"] >= 0.97
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert f"**{accuracy:.1%}** ({(logits.argmax(1) == right).sum()} of {len(right)})" in text
    assert (folder / "model.safetensors").stat().st_size < 400_000


def test_its_facts_and_its_examples(digits):
    info = digits.info
    assert (info.reads, info.kind, info.context, info.vocabulary) == (("image",), "encoder", 17, 0)
    assert info.labels.names == tuple("0123456789") and models.load("sorter").info.reads == ("text",)
    assert models.names("image") == ("digits",) and "digits" not in models.names()
    assert [digits.predict(example.image, top=1)[0].text for example in examples()] == list("0123456789")
    with pytest.raises(ValueError, match="reads is"):
        models.names("sound")


def test_its_tokens_are_patches_that_make_the_image_again(digits, four):
    trace = digits.trace(four)
    first, *patches = trace.tokens
    assert (first.text, first.special) == ("[CLS]", True) and all(isinstance(patch, Patch) for patch in patches)
    patch = patches[6]
    assert (patch.text, patch.row, patch.column, patch.box) == ("row 2, column 3", 1, 2, (4, 2, 6, 4))
    np.testing.assert_array_equal(patch.picture[..., 0], np.rint(255 * four[2:4, 4:6]))
    np.testing.assert_array_equal(digits.grid.image_of(trace.tokens)[..., 0], np.rint(255 * four))
    assert len({token.id for token in digits.tokenize(np.zeros((8, 8)))}) == 2, "equal patches have equal ids"
    assert patch.cover().covered and patch.cover().id != patch.id and digits.is_special(first.id)
    with pytest.raises(ValueError, match="leave none out"):
        digits.logits_of([trace.tokens[:-1]])


def test_an_image_may_have_any_size(digits, four):
    large = Image.fromarray(np.rint(255 * four).astype(np.uint8)).resize((80, 80), Image.Resampling.NEAREST)
    np.testing.assert_allclose(digits.trace(large).scores_at(0), digits.trace(four).scores_at(0), atol=1e-5)


def test_a_trace_reads_again_what_it_read(digits, four):
    trace = digits.trace(four)
    np.testing.assert_array_equal(digits.trace(trace.text).scores_at(0), trace.scores_at(0))
    assert trace.text == digits.trace(four).text != digits.trace(four * 0.5).text


def test_covering_a_patch_is_hiding_its_pixels(digits, four):
    """Leave-one-out equals a reading of images whose pixels are replaced by hand, by the mean grey."""
    pixels, places = np.repeat(np.rint(four * 255)[None] / 255, 17, 0).astype(np.float32), range(16)
    for place in places:
        row, column = divmod(place, 4)
        pixels[place + 1, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2] = digits.network.config.pixel_mean
    logs = independent(digits, pixels)[0].double().log_softmax(-1).numpy()
    expected = logs[0, 4] - logs[1:, 4]
    assert attributions(digits, four, "leave-one-out", token=4)[1:] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("method", ["shap", "lime", "integrated gradients", "gradient × input"])
def test_methods_that_change_a_text_cover_patches(digits, four, method):
    scores = attributions(digits, four, method, token=4)
    assert np.isnan(scores[0]) and np.isfinite(scores[1:]).all()
    if method in ("shap", "integrated gradients"):  # they sum to what all patches together are worth
        covered = [token.cover() if isinstance(token, Patch) else token for token in digits.tokenize(four)]
        full, empty = digits.log_chances(digits.logits_of([digits.tokenize(four), covered], 0))[:, 4]
        assert np.nansum(scores) == pytest.approx(full - empty, abs=0.02)


def test_heads_off_are_those_of_the_independent_encoder(digits, four):
    with_all, _ = independent(digits, np.rint(four[None] * 255).astype(np.float32) / 255)
    effects = head_effects(digits, four, token=4)
    output = digits.network.blocks[1].attention.output
    weights = output.weight.data.clone()
    try:
        output.weight.data[:, 32:48] = 0  # head 2
        without, _ = independent(digits, np.rint(four[None] * 255).astype(np.float32) / 255)
    finally:
        output.weight.data = weights
    logs = [logits.double().log_softmax(-1)[0, 4].item() for logits in (with_all, without)]
    assert effects.shape == (3, 4) and effects[1, 2] == pytest.approx(logs[1] - logs[0], abs=1e-5)


def test_edits_and_rollout_work(digits, four):
    changes = [edits.Cut(0, 7), edits.Temperature(0, 1, 2.0), edits.Skip(2, "attention"), edits.Stream(1, 0, value=np.zeros(64))]
    plain, *changed = digits.traces(four, [[], *([change] for change in changes)])
    assert changed[0].attention["self"][0][:, 0, 7].max() == 0
    assert all(np.abs(trace.scores_at(0) - plain.scores_at(0)).max() > 1e-3 for trace in changed)
    np.testing.assert_allclose(rollout(plain.attention["self"]).sum(-1), 1)


def test_a_trace_is_saved_with_its_image(digits, four, tmp_path):
    trace = digits.trace(four)
    trace.save(tmp_path / "four.safetensors")
    opened = models.load_trace(tmp_path / "four.safetensors")
    assert opened.tokens == trace.tokens and opened.info == trace.info
    np.testing.assert_array_equal(opened.tokens[7].picture, trace.tokens[7].picture)
    np.testing.assert_allclose(opened.scores_at(0), trace.scores_at(0), atol=1e-6)


def test_the_wrong_input_is_refused_in_a_sentence(digits, four):
    sorter = models.load("sorter")
    refusals = {
        "sorter reads text, and this is an image": lambda: sorter.trace(four),
        "digits reads images, and there is no file “The cat sat”": lambda: digits.trace("The cat sat"),
        "and this is a list": lambda: digits.trace([1, 2, 3]),
        "one image at a time": lambda: digits.trace(four, "a text"),
        "does not continue": lambda: digits.generate(four),
        "reads images: it has no table": lambda: digits.embedding([0]),
        "this is measured on texts": lambda: head_scores(digits),
        "measured on texts. head_effects": lambda: head_importance(digits),
        "reads images, and this": lambda: head_means(digits),
    }
    for words, ask in refusals.items():
        with pytest.raises((ValueError, TypeError)) as caught:
            ask()
        assert words in str(caught.value)
    with pytest.raises(ModelError, match="reads images, and here a model is needed that reads text"):
        models.load("digits", reads="text")
    with pytest.raises(ModelError, match="it has no tokenizer"):
        models.load_tokenizer("digits")
