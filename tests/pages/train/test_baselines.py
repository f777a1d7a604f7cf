"""A network without attention on page Train: planned, trained, drawn without heads, and compared with a transformer."""

from __future__ import annotations

import numpy as np
import pytest

from models.scratch.config import TransformerConfig
from models.training.baselines import BASELINES, Baseline, BaselineConfig, count_parameters, matching
from models.training.live import SIZES, Budget, Training
from models.training.tasks import TASKS
from pages.train import compare
from pages.train import state as page_state
from tests.pages.opening import open_link, words_on
from ui import state
from ui.choices.networks import LAYERS_OF, NETWORKS
from ui.memory import trainings

SMALL = TransformerConfig(**SIZES | {"d_model": 16, "heads": 2, "d_ff": 16, "context": 24})


def trained(network: str, steps: int = 4) -> Training:
    config = SMALL if network == "transformer" else matching(network, SMALL)
    run = Training(TASKS["copy"](), config, Budget(steps=steps, every=2, rows=2))
    run.advance(steps)
    run.stop()
    return run


def test_every_network_can_be_chosen():
    assert [*NETWORKS][1:] == [*BASELINES] == [*LAYERS_OF]


@pytest.mark.parametrize("level", ["intermediate", "expert"])
def test_a_plan_says_how_wide_the_network_is_and_how_many_parameters_both_have(level):
    words = words_on(open_link("train", f"level={level}&train-network=GRU&train-layers=3"))
    wanted = TransformerConfig(**SIZES | {"layers": 3})
    chosen = matching("gru", wanted)
    assert f"{count_parameters(lambda: Baseline(chosen)):,} parameters" in words and f"{chosen.d_model}" in words


@pytest.mark.parametrize("curve", page_state.CURVES.values)
@pytest.mark.parametrize("level", ["beginner", "intermediate", "expert"])
def test_a_run_without_heads_is_drawn_with_each_curve(monkeypatch, level, curve):
    if curve == "Entropy" or (level == "beginner" and curve not in page_state.CURVES.values[:2]):
        pytest.skip("it has none, and beginners have two curves")
    run = trained("lstm")
    monkeypatch.setattr(trainings, "runs", lambda: [("first", run)])
    monkeypatch.setattr(trainings, "mine", lambda: ("first", run))
    app = open_link("train", f"level={level}&curves={curve.replace(' ', '+')}&by-layer=Entropy+of+the+heads")
    words = words_on(app)
    assert not app.exception and not app.error and "with 2 layers of an LSTM" in words
    assert ("no attention for the other pages" if level == "expert" else "Only transformers open on the other pages") in words
    assert [button.label for button in app.get("download_button")] == ["Weights (safetensors)"]
    assert "Open on all pages" not in [button.label for button in app.button]


@pytest.mark.parametrize("curve", page_state.COMPARED.values)
def test_it_is_compared_with_a_transformer_and_has_no_curve_of_heads(monkeypatch, curve):
    runs = [("first", trained("transformer")), ("second", trained("convolution"))]
    monkeypatch.setattr(trainings, "runs", lambda: runs)
    monkeypatch.setattr(trainings, "mine", lambda: runs[1])
    app = open_link("train", f"level=expert&compared={curve}")
    assert not app.exception and not app.error and "No attention" in words_on(app)
    names = compare.titles(runs)
    assert "network Transformer" in names[0] and "network Causal convolution" in names[1]
    monkeypatch.setattr(state, "level", lambda: "expert")
    drawn = compare.curves(list(zip(names, [run for _, run in runs], strict=True)), curve, 4)
    assert len(drawn.options["names"]) == (1 if curve in ("Induction", "Entropy") else 2)
    assert set(np.unique(drawn.numbers()["run"].values)) == set(drawn.options["names"])


def test_a_log_of_heads_is_refused_in_a_sentence_where_there_are_none():
    app = open_link("train", "level=expert&train-network=LSTM&train-log=true&train-steps=20")
    app.button(key="train-start").click().run()
    assert not trainings.runs() and "this network has none" in app.error[0].value


def test_two_of_the_same_network_differ_in_their_sizes_alone():
    runs = [Training(TASKS["copy"](), BaselineConfig("gru", 2, width, 257, 24), Budget(steps=2, rows=2)) for width in (8, 12)]
    assert compare.differences(runs) == ["width 8", "width 12"]
