"""The tuned lens: any model learns one that is nearer to its own answers, and a lens belongs to the weights it was made for."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import models
from analysis import tuned_lens
from analysis.lens import lens, translator
from models.catalog import WEIGHTS
from models.huggingface.model import HuggingFaceModel
from models.lens import tuned_lens as lenses
from models.lens.tuned_lens import FILE, LensRecipe, TunedLens, figures_of, fingerprint, keep, linear, train, tuned_lens_of
from models.training.shipped_lens import ship
from tests.models.networks import network, tokenizer

WORDS = "the cat sat on a mat and the dog ran to the big house where old men told a boy of a black cow".split()  # noqa: SIM905
RECIPE = LensRecipe(positions=500, steps=8, batch=64)


def text(seed: int, words: int = 1500) -> str:
    return " ".join(np.random.default_rng(seed).choice(WORDS, words))


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(lenses, "folder", lambda: tmp_path / "kept")
    return tmp_path


def tiny(name: str = "GPT-2", kind: str = "decoder", called: str = "tiny") -> HuggingFaceModel:
    return HuggingFaceModel(network(name), tokenizer(kind), kind, name=called)


@pytest.mark.parametrize(("name", "kind"), [("GPT-2", "decoder"), ("BERT", "encoder"), ("T5", "encoder-decoder")])
def test_it_lowers_the_distance_to_the_last_layer_on_text_that_it_never_saw(name, kind):
    """And at the last layer it changes nothing."""
    model = tiny(name, kind)
    translators, figures = train(model, [text(0)], RECIPE)
    trace = lenses.read(model, text(1, 60))
    places = model.places(trace) if kind == "encoder" else None
    plain, tuned = lens(trace, places), lens(trace, places, translate=translators)
    assert tuned.kl[:-1].mean() < 0.9 * plain.kl[:-1].mean()
    np.testing.assert_array_equal(tuned.probabilities[-1], plain.probabilities[-1])
    np.testing.assert_array_equal(translators(trace.stream)[-1], trace.stream[-1])
    assert (np.array(figures["tuned_lens_kl"]) <= figures["logit_lens_kl"]).all(), "a layer keeps what is best"


def test_what_is_a_linear_map_is_found():
    """Without noise and nearly without a ridge, whatever the lengths of the streams."""
    generator = np.random.default_rng(0)
    here = generator.normal(size=(400, 6)) * np.exp(generator.normal(0, 2, (400, 1)))
    a, b = generator.normal(size=(6, 6)), generator.normal(size=6)
    solution = linear(here, here + here @ a + b, 1e-9)
    np.testing.assert_allclose(solution[0], a, atol=1e-3)
    np.testing.assert_allclose(solution[1], b, atol=1e-3)


def test_it_is_kept_on_disk_and_read_back(home):
    model = tiny()
    assert tuned_lens_of(model) is None and figures_of(model) == {}
    with pytest.raises(ValueError, match="no tuned lens for tiny"):
        tuned_lens(model, model.trace("a b"))
    translators, figures = train(model, [text(0)], RECIPE)
    file = keep(translators, model, figures)
    assert file.parent == home / "kept" and figures_of(model)["tuned_lens_kl"] == figures["tuned_lens_kl"]
    again = tuned_lens_of(tiny(called="another name"))
    np.testing.assert_array_equal(again.matrices, translators.matrices)
    np.testing.assert_array_equal(again.offsets, translators.offsets)
    file.write_bytes(b"nonsense")
    assert tuned_lens_of(model) is None and figures_of(model) == {}


def test_a_changed_weight_does_not_get_the_old_lens(home):
    model = tiny()
    layers, width = model.info.layers, model.info.d_model
    nothing = TunedLens(np.zeros((layers, width, width), np.float32), np.zeros((layers, width), np.float32))
    keep(nothing, model, {})
    before, weight = fingerprint(model), next(model.network.parameters())
    assert tuned_lens_of(model) is not None
    with torch.no_grad():
        weight[0, 0] += 1
    assert fingerprint(model) != before and tuned_lens_of(model) is None
    with torch.no_grad():
        weight[0, 0] -= 1
    assert (fingerprint(model) == before) == (tuned_lens_of(model) is not None)


def test_the_lens_that_ships_belongs_to_the_weights_that_ship(home):
    """If this fails, the writer was trained again: train its lens too (`python -m models.training.shipped_lens`)."""
    writer = models.load("writer")
    assert translator(writer) is not None and (WEIGHTS / "writer" / FILE).is_file()


def test_too_little_text_is_a_sentence_and_so_is_a_model_without_a_head():
    with pytest.raises(ValueError, match="200 are the least"):
        train(tiny(), ["the cat sat"], RECIPE)
    headless = HuggingFaceModel(network("BERT without a head"), tokenizer("encoder"), "encoder", predicts=False)
    with pytest.raises(ValueError, match="no language-model head"):
        train(headless, [text(0)], RECIPE)
    assert tuned_lens_of(headless) is None


def test_whoever_no_longer_wants_it_stops_it():
    def enough(share: float, words: str) -> None:
        assert 0 <= share <= 1 and words
        if share > 0.5:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        train(tiny(), [text(0)], RECIPE, enough)


def test_the_text_that_ships_is_enough_for_wide_models():
    sample = lenses.SAMPLE.read_text(encoding="utf-8")
    assert len(sample.split()) > 20_000 and "*" not in sample


def test_the_command_writes_what_ships(tmp_path):
    (tmp_path / "english_train.txt").write_text("\n\n".join(text(seed, 200) for seed in range(3)))
    figures = ship("writer", tmp_path, LensRecipe(positions=300, steps=0), tmp_path)
    assert (np.array(figures["tuned_lens_kl"]) <= figures["logit_lens_kl"]).all() and (tmp_path / "tuned_lens.json").is_file()
    assert lenses._read(tmp_path / FILE, 0)[1]["weights"] == fingerprint(models.load("writer"))


@pytest.mark.parametrize(
    ("name", "kind", "formula"),
    [
        ("GPT-2", "decoder", "Wᵁ · norm(h)"),
        ("BERT", "encoder", "Wᵁ · t(h) + b"),
        ("ELECTRA", "encoder", "Wᵁ · t(h) + b"),
        ("T5", "encoder-decoder", "Wᵁ · norm(h)"),
        ("BART", "encoder-decoder", "Wᵁ · h"),
        ("GPT-J", "decoder", "Wᵁ · norm(h) + b"),
    ],
)
def test_the_formula_on_screen_is_that_of_the_head(name, kind, formula):
    assert tiny(name, kind).way_out_formula() == formula


def test_the_formulas_of_the_models_that_ship():
    assert models.load("writer").way_out_formula("x") == "Wᵁ · norm(x)"
    assert models.load("filler").way_out_formula("x") == "Wᵁ · norm(x)"
