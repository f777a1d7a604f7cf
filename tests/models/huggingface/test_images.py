"""Models of images: held to transformers' eager attention, to readings by hand, and refused in words."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

import models
from analysis import attributions, head_effects, rollout
from analysis.attribution import Attribution
from models import edits
from models.errors import ModelError
from tests.grids import grid
from tests.models.huggingface.image_families import FAMILIES, NAMES, PATCH, REFUSED, SIDE, VIT, image, save


def reference(model, folder):
    return type(model.network).from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()


def read(network, model, tokens, **asked):
    """Return the answer of transformers itself for the pixels of these tokens."""
    with torch.inference_mode():
        return network(pixel_values=torch.tensor(model.grid.pixels(tokens))[None], **asked)


@pytest.mark.parametrize("name", grid(FAMILIES, few=["ViT", "CLIP, both halves"]))
def test_it_equals_transformers_eager(name, tmp_path):
    """Attention, hidden states and logits; and the pixels are those of the processor."""
    build, processor, leading = FAMILIES[name]
    model = models.load(str(save(tmp_path, build, processor)), device="cpu")
    network, given = reference(model, tmp_path), image()
    trace = model.trace(given)
    expected = read(network, model, trace.tokens, output_attentions=True, output_hidden_states=True)
    np.testing.assert_array_equal(
        model.grid.pixels(trace.tokens), processor(images=given, return_tensors="np")["pixel_values"][0].astype(np.float32)
    )
    assert model.info.reads == ("image",) and model.grid.leading == leading
    assert [token.text for token in trace.tokens if token.special] == list(leading)
    attention = trace.attention["self"]
    assert attention.layers == len(expected.attentions) == 3
    for layer, weights in enumerate(expected.attentions):
        np.testing.assert_allclose(attention[layer], weights[0].numpy(), atol=1e-5)
    for layer, states in enumerate(expected.hidden_states[:-1]):  # the last one may be after the final norm
        np.testing.assert_allclose(trace.hidden["self"][layer], states[0].numpy(), atol=1e-4)
    if not model.info.labels:
        assert not trace.predicts and "no head for labels" in model.info.notes[0]
        return
    np.testing.assert_allclose(trace.scores_at(0), expected.logits[0].numpy(), atol=1e-4)
    np.testing.assert_allclose(model.logits_of([trace.tokens] * 2, 0)[1], expected.logits[0].numpy(), atol=1e-4)
    best = model.predict(given, top=1)[0]
    assert best.text == NAMES[int(expected.logits.argmax())]
    _edits_are_those_by_hand(model, network, given)


def _edits_are_those_by_hand(model, network, given) -> None:
    """A patch covered, and a head off: its columns of the matrix after it are 0."""
    trace = model.trace(given)
    place = len(model.grid.leading) + 4
    covered = [token.cover() if position == place else token for position, token in enumerate(trace.tokens)]
    by_hand = model.grid.pixels(trace.tokens).copy()
    by_hand[:, PATCH : 2 * PATCH, PATCH : 2 * PATCH] = 0  # the middle of three by three
    with torch.inference_mode():
        expected = network(pixel_values=torch.tensor(by_hand)[None]).logits[0].numpy()
    np.testing.assert_allclose(model.logits_of([covered], 0)[0], expected, atol=1e-4)
    if not model.info.queries:
        return
    changed = model.trace(given, edits=[edits.Head(1, 2)])
    layers = max((part for part in network.modules() if isinstance(part, torch.nn.ModuleList)), key=len)
    output = [part for part in layers[1].modules() if isinstance(part, torch.nn.Linear) and part.weight.shape == (32, 32)][-1]
    with torch.no_grad():
        output.weight[:, 16:24] = 0
    np.testing.assert_allclose(changed.scores_at(0), read(network, model, trace.tokens).logits[0].numpy(), atol=1e-4)


@pytest.mark.parametrize("name", grid(REFUSED, few=["Swin"]))
def test_what_has_no_tokens_of_patches_is_refused_in_a_sentence(name, tmp_path):
    build, processor, words = REFUSED[name]
    with pytest.raises(ModelError, match=words) as caught:
        models.load(str(save(tmp_path, build, processor)), device="cpu")
    assert str(caught.value).isprintable() and "GPT-2" not in str(caught.value) and len(str(caught.value)) < 500


@pytest.fixture(scope="module")
def vit(tmp_path_factory):
    folder = save(tmp_path_factory.mktemp("vit"), FAMILIES["ViT"][0], VIT)
    return models.load(str(folder), device="cpu"), folder


def test_rollout_and_attention_times_gradient_equal_an_independent_computation(vit):
    model, folder = vit
    network = reference(model, folder)
    trace = model.trace(image())
    label = model.predict(image(), top=1)[0].id
    pixels = torch.tensor(model.grid.pixels(trace.tokens))[None]
    out = network(pixel_values=pixels, output_attentions=True)
    slopes = torch.autograd.grad(out.logits[0, label], out.attentions)
    rolled, relevance = torch.eye(10), torch.zeros(10)
    for weights, slope in zip(out.attentions, slopes, strict=True):
        rolled = (0.5 * weights[0].mean(0) + 0.5 * torch.eye(10)) @ rolled
        relevance += (weights[0] * slope[0]).clamp(min=0).mean(0).sum(0)
    np.testing.assert_allclose(rollout(trace.attention["self"])[-1], rolled.detach().numpy(), atol=1e-6)
    ours = Attribution(model, trace, 0, label).scores("attention × gradient")
    np.testing.assert_allclose(ours, (relevance / relevance.sum()).detach().numpy(), atol=1e-5)


def test_analyses_take_an_image_as_they_take_a_text(vit):
    model, _ = vit
    effects = head_effects(model, image(), token=1)
    assert effects.shape == (3, 4) and np.abs(effects).max() > 0
    alone = model.trace(image(), edits=[edits.Head(2, 3)])
    before, after = (model.log_chances(trace.scores_at(0))[1] for trace in (model.trace(image()), alone))
    assert effects[2, 3] == pytest.approx(after - before, abs=1e-5)
    assert np.isfinite(attributions(model, image(), "integrated gradients")[1:]).all()
    changes = [edits.Cut(0, 5), edits.Temperature(0, 1, 3.0), edits.Skip(1), edits.Stream(1, 0, add=np.arange(32.0))]
    plain, *changed = model.traces(image(), [[], *([change] for change in changes)])
    assert changed[0].attention["self"][1][:, 0, 5].max() == 0
    assert all(np.abs(trace.scores_at(0) - plain.scores_at(0)).max() > 1e-4 for trace in changed)
    _, second = model.traces([image(), image(1)])
    np.testing.assert_allclose(second.scores_at(0), model.trace(image(1)).scores_at(0), atol=1e-5)
    assert set(plain.parts["self"]) == {"attention", "feedforward"}
    assert model.output_weights("self", 0).shape == (4, 8, 32) and model.value_weights("self", 0).shape == (4, 32, 8)


def test_the_image_that_is_drawn_is_what_the_processor_leaves_of_it(vit, tmp_path):
    """ViT resizes: the picture of its tokens is the resized image; its mean and spread are measured."""
    model, _ = vit
    assert model.grid.mean == pytest.approx((0.5,) * 3, abs=1e-6) and model.grid.spread == pytest.approx((0.5,) * 3, abs=1e-6)
    exact = image(2, SIDE, SIDE)
    np.testing.assert_array_equal(model.grid.image_of(model.tokenize(exact)), exact)
    clip = models.load(str(save(tmp_path, *FAMILIES["CLIP, vision"][:2])), device="cpu")
    np.testing.assert_array_equal(clip.grid.image_of(clip.tokenize(exact)), exact)
    with pytest.raises(ValueError, match="was cut into tokens by"):
        clip.trace(model.trace(exact).text)


def test_processors_of_strangers_are_bounded(tmp_path):
    save(tmp_path, *FAMILIES["ViT"][:2])
    file = tmp_path / "preprocessor_config.json"
    settings = json.loads(file.read_text())
    for changed, words in (
        ({"size": {"height": 10**6, "width": 10**6}}, "sides of 1000000 pixels"),
        ({"image_processor_type": "NoSuchProcessor"}, "could not be loaded"),
        ({"size": {"shortest_edge": SIDE}}, "another number of patches|does not read a plain image"),
    ):
        file.write_text(json.dumps(settings | changed))
        with pytest.raises(ModelError, match=words) as caught:
            models.load(str(tmp_path), device="cpu")
        assert len(str(caught.value)) < 400
    file.write_text("{")
    with pytest.raises(ModelError, match="not readable JSON"):
        models.load(str(tmp_path), device="cpu")
