"""Whatever stages an architecture has, page Inside draws them and has words for them."""

from __future__ import annotations

import pytest

from pages.inside import choose, code, formulas, opened, recipes, stops
from tests.analysis import test_inside_models as seen
from tests.models.networks import NETWORKS
from ui import state
from ui.look import Look

SOME = (
    "GPT-2", "Llama, grouped-query", "Qwen3", "Gemma 2, soft-capped", "GPT-OSS, sinks", "Mixtral", "Falcon", "OPT", "BLOOM",
    "DeepSeek-V3", "BERT", "BERT without a head", "ModernBERT", "ALBERT", "DeBERTa-v2", "XLNet", "T5", "BART",
)  # fmt: skip


@pytest.fixture(autouse=True)
def expert(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "level", lambda: "expert")


@pytest.mark.parametrize("name", SOME)
def test_every_stage_is_drawn_and_spoken_of(name):
    assert name in NETWORKS
    for way in seen.ways(name):
        kind = "cross" if way.stack == "decoder" else way.stack
        look = Look(seen.model(name), seen.trace(name), kind, "expert", picked=(way.layer, 1))
        lines = stops.lines(look, way)
        assert all(one.name and one.gist for one in lines), [one.key for one in lines if not one.gist]
        assert len({one.key for one in lines}) == len(lines), "a press tells them apart"
        for stage in filter(recipes.known, way.stages):
            here = opened.open_stage(look, way, stage, choose.Chosen(stage.name))
            for made in opened.drawings(here).values():
                assert made.drawn.data and made.numbers()
            cell = way.explain(stage.name, here.index)
            assert bool(cell.terms) == bool(formulas.put_in(opened.HERE, cell, stage, {})) or stage.formula == "choice"
            assert all(formulas.factors(opened.HERE, stage)) or not cell.terms
            assert isinstance(code.of(stage, way), str)
