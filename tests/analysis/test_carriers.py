"""What an overview says of a prediction is what each of its parts says by itself."""

from __future__ import annotations

import numpy as np
import pytest

from analysis import attributions, head_effects, logit_attribution, overview
from analysis.effects import changes, skip_effects
from models import edits as E
from tests.models.edited import model

TEXT = "The girl took her bag and said that"


@pytest.fixture(scope="module")
def result():
    return overview(model("writer"), TEXT)


def test_each_number_is_that_of_its_own_analysis(result):
    writer, trace = model("writer"), model("writer").trace(TEXT)
    assert result.prediction == writer.predict(TEXT, top=1)[0] and list(result.others) == writer.predict(TEXT, top=6)[1:]
    heads = result.heads.set_index(["layer", "head"]).effect.unstack().to_numpy()
    np.testing.assert_allclose(heads, head_effects(writer, TEXT), atol=1e-5)
    feedforwards = result.feedforwards.sort_values("layer").effect
    np.testing.assert_allclose(feedforwards, skip_effects(writer, trace, "feedforward"), atol=1e-5)
    wrote = logit_attribution(writer, trace, result.prediction.id, against=result.others[0].id)
    expected = wrote[wrote.part == "attention"].dropna().set_index(["layer", "head"]).contribution.unstack().to_numpy(float)
    np.testing.assert_allclose(result.heads.set_index(["layer", "head"]).direct.unstack(), expected, atol=1e-5)
    scores = attributions(writer, TEXT, "leave-one-out")
    np.testing.assert_allclose(result.words["leave-one-out"], scores[result.words.position], atol=1e-5)
    three = [E.Head(row.layer, row.head) for row in result.heads.head(3).itertuples()]
    assert result.together == pytest.approx(changes(writer, trace, [three])[0], abs=1e-5)
    assert result.alone == pytest.approx(sum(head_effects(writer, TEXT)[edit.layer, edit.head] for edit in three), abs=1e-5)


def test_the_strongest_come_first_and_it_is_read_at_a_glance(result):
    for table, column in ((result.heads, "effect"), (result.feedforwards, "effect"), (result.words, "leave-one-out")):
        assert (np.diff(table[column].abs()) <= 0).all()
    assert len(str(result).splitlines()) < 40 and repr(result) == str(result)
    first = result.heads.iloc[0]
    assert "“ she”" in str(result) and f"{first.effect:+.3f}" in str(result) and "Doubt" in str(result)
    assert result._repr_html_().count("<table") == 3
    strange = overview(model("writer"), "1 <b>2</b> <script>", top=2)
    assert "<script>" not in strange._repr_html_() and "<b>2" not in strange._repr_html_() and len(strange.others) == 2


def test_another_token_and_another_place_can_be_asked_about():
    he = model("writer").tokenize(" he")[-1].id
    result = overview(model("writer"), TEXT, position=3, token=he)
    assert (result.prediction.id, result.position) == (he, 3)
    np.testing.assert_allclose(
        result.heads.set_index(["layer", "head"]).effect.unstack(), head_effects(model("writer"), TEXT, 3, he), atol=1e-5
    )
    ids = [token.id for token in model("writer").tokenize(TEXT)]
    assert str(overview(model("writer"), ids)) == str(overview(model("writer"), TEXT))


@pytest.mark.parametrize("name", ["filler", "translator", "BERT", "BLOOM", "T5", "GPT-2"])
def test_what_a_model_does_not_give_is_said_and_the_rest_stands(name):
    net = model(name)
    text = f"the cat {net.info.mask}" if net.info.mask else "the cat"
    result = overview(net, text, target="the" if net.info.kind == "encoder-decoder" else "")
    heads = result.heads.set_index(["kind", "layer", "head"])
    assert heads.index.is_unique and np.isfinite(heads.effect).all()
    assert len(heads) == sum(attention.layers * attention.heads for attention in net.trace(text).attention.values())
    is_known = np.isfinite(heads.direct)
    assert is_known.any() == (name not in ("BERT", "BLOOM"))
    assert name != "BERT" or any("no sum of what its parts wrote" in doubt for doubt in result.doubts)
    assert name not in ("translator", "T5") or not is_known["encoder"].any(), "an encoder writes to no logit"
    assert str(result) and result._repr_html_()


def test_what_cannot_be_asked_is_said():
    with pytest.raises(ValueError, match=r"predicts at masks, and there is none: type \[MASK\]|and there is none"):
        overview(model("filler"), "The cat sat.")
    with pytest.raises(ValueError, match="no language-model head"):
        overview(model("XLNet"), "the cat", position=0)
    with pytest.raises(ValueError, match="no position 99"):
        overview(model("writer"), TEXT, position=99)
    with pytest.raises(ValueError, match="no token 99999"):
        overview(model("writer"), TEXT, token=99999)
    with pytest.raises(ValueError, match="top says how many rows"):
        overview(model("writer"), TEXT, top=0)
