"""Whatever stages an architecture has, page Inside draws them and has words for them."""

from __future__ import annotations

import pytest

from pages.inside import code, detail, formulas, recipes, stops
from pages.inside.compose import HERE
from pages.inside.opened import open_stage
from pages.inside.spots import Selection
from tests.analysis import test_inside_models as seen
from tests.models.networks import NETWORKS
from ui.look import Look
from ui.picture.board import Draft

SOME = (
    "GPT-2",
    "Llama, grouped-query",
    "Qwen3",
    "Gemma 2, soft-capped",
    "GPT-OSS, sinks",
    "Mixtral",
    "Falcon",
    "OPT",
    "BLOOM",
    "DeepSeek-V3",
    "BERT",
    "BERT without a head",
    "ModernBERT",
    "ALBERT",
    "DeBERTa-v2",
    "XLNet",
    "T5",
    "BART",
)


@pytest.mark.parametrize("name", SOME)
def test_beginners_find_every_stage_under_one_of_a_few_stations(name):
    for way in seen.ways(name):
        kind = "cross" if way.stack == "decoder" else way.stack
        draft = Draft(HERE, Look(seen.model(name), seen.trace(name), kind, "beginner"))
        listed, under = [line.key for line in stops.lines(draft, way)], stops.stations(way)
        assert 6 <= len(listed) - 1 <= 9 and listed[-1] == stops.ORDER, listed
        assert [*dict.fromkeys(under.values())] == listed, "in the order of the way"
        assert {"pieces", "weights"} <= set(listed)


@pytest.mark.parametrize("name", SOME)
def test_every_stage_is_drawn_and_spoken_of(name):
    assert name in NETWORKS
    for way in seen.ways(name):
        kind = "cross" if way.stack == "decoder" else way.stack
        look = Look(seen.model(name), seen.trace(name), kind, "expert", picked=(way.layer, 1))
        draft = Draft(HERE, look)
        lines = stops.lines(draft, way)
        assert all(line.name and line.gist for line in lines), [line.key for line in lines if not line.gist]
        assert len({line.key for line in lines}) == len(lines), "a press tells them apart"
        for stage in filter(recipes.known, way.stages):
            here = open_stage(look, way, stage, Selection(stage.name))
            for drawing in detail.drawings(draft, here).values():
                assert drawing.drawn.data and drawing.numbers()
            cell = way.explain(stage.name, here.index)
            assert bool(cell.terms) == bool(formulas.put_in(draft, cell, stage, {})) or stage.formula == "choice"
            assert all(formulas.factors(draft, stage)) or not cell.terms
            assert isinstance(code.of(stage, way), str)
