"""A model with some other weights: all others are shared, the model itself stays, and what is saved opens again."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import models
from tests.models.huggingface.image_families import FAMILIES, image, save
from tests.models.networks import SIZE, tokenizer


@pytest.fixture(scope="module", params=["writer", "translator", "sorter", "digits", "BERT", "ViT"])
def model(request, tmp_path_factory):
    if request.param == "ViT":
        build, processor, _ = FAMILIES["ViT"]
        return models.load(str(save(tmp_path_factory.mktemp("ViT"), build, processor)))
    if request.param == "BERT":
        import transformers

        folder = tmp_path_factory.mktemp("BERT")
        torch.manual_seed(0)
        transformers.BertForMaskedLM(transformers.BertConfig(**SIZE)).save_pretrained(folder)
        tokenizer("encoder").save_pretrained(folder)
        return models.load(str(folder))
    return models.load(request.param)


def read(model) -> list[np.ndarray]:
    subject = image() if model.info.reads == ("image",) else "The cat sat."
    return list(model.trace(subject, remember=False).hidden.values())


def test_one_weight_is_another_and_the_model_stays(model):
    before, parameters = read(model), dict(model.network.named_parameters())
    *_, name = (name for name, weight in parameters.items() if weight.dim() == 2 and any(map(str.isdigit, name.split("."))))
    other = model.with_weights({name: 2 * parameters[name]}, "other", "doubled")
    changed = dict(other.network.named_parameters())
    torch.testing.assert_close(changed[name], 2 * parameters[name])
    assert all(changed[key] is weight for key, weight in parameters.items() if key != name)
    assert other.info.name == "other" and other.info.source == "doubled" and type(other) is type(model)
    assert any(np.abs(a - b).max() > 1e-4 for a, b in zip(read(other), before, strict=True))
    for mine, again in zip(read(model), before, strict=True):
        np.testing.assert_array_equal(mine, again)


def test_what_is_saved_opens_again(model, tmp_path):
    model.save(tmp_path / "saved")
    for mine, again in zip(read(model), read(models.load(str(tmp_path / "saved"))), strict=True):
        np.testing.assert_allclose(again, mine, atol=1e-5)


def test_weights_that_do_not_fit_are_refused_by_name(model):
    name, weight = next(iter(model.network.named_parameters()))
    with pytest.raises(ValueError, match="no weight “nothing”"):
        model.with_weights({"nothing": weight})
    with pytest.raises(ValueError, match="in what should take its place"):
        model.with_weights({name: torch.zeros(3, 5, 7)})
