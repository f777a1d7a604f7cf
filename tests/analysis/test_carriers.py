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
def found():
    return overview(model("writer"), TEXT)


def test_each_number_is_that_of_its_own_analysis(found):
    writer, trace = model("writer"), model("writer").trace(TEXT)
    assert found.prediction == writer.predict(TEXT, top=1)[0] and list(found.others) == writer.predict(TEXT, top=6)[1:]
    heads = found.heads.set_index(["layer", "head"]).effect.unstack().to_numpy()
    np.testing.assert_allclose(heads, head_effects(writer, TEXT), atol=1e-5)
    feedforwards = found.feedforwards.sort_values("layer").effect
    np.testing.assert_allclose(feedforwards, skip_effects(writer, trace, "feedforward"), atol=1e-5)
    wrote = logit_attribution(writer, trace, found.prediction.id, against=found.others[0].id)
    expected = wrote[wrote.part == "attention"].dropna().set_index(["layer", "head"]).contribution.unstack().to_numpy(float)
    np.testing.assert_allclose(found.heads.set_index(["layer", "head"]).direct.unstack(), expected, atol=1e-5)
    scores = attributions(writer, TEXT, "leave-one-out")
    np.testing.assert_allclose(found.words["leave-one-out"], scores[found.words.position], atol=1e-5)
    three = [E.Head(row.layer, row.head) for row in found.heads.head(3).itertuples()]
    assert found.together == pytest.approx(changes(writer, trace, [three])[0], abs=1e-5)
    assert found.alone == pytest.approx(sum(head_effects(writer, TEXT)[one.layer, one.head] for one in three), abs=1e-5)


def test_the_strongest_come_first_and_it_is_read_at_a_glance(found):
    for table, column in ((found.heads, "effect"), (found.feedforwards, "effect"), (found.words, "leave-one-out")):
        assert (np.diff(table[column].abs()) <= 0).all()
    assert len(str(found).splitlines()) < 40 and repr(found) == str(found)
    first = found.heads.iloc[0]
    assert "“ she”" in str(found) and f"{first.effect:+.3f}" in str(found) and "Doubt" in str(found)
    assert found._repr_html_().count("<table") == 3
    strange = overview(model("writer"), "1 <b>2</b> <script>", top=2)
    assert "<script>" not in strange._repr_html_() and "<b>2" not in strange._repr_html_() and len(strange.others) == 2


def test_another_token_and_another_place_can_be_asked_about():
    he = model("writer").tokenize(" he")[-1].id
    found = overview(model("writer"), TEXT, position=3, token=he)
    assert (found.prediction.id, found.position) == (he, 3)
    np.testing.assert_allclose(
        found.heads.set_index(["layer", "head"]).effect.unstack(), head_effects(model("writer"), TEXT, 3, he), atol=1e-5
    )
    given = [token.id for token in model("writer").tokenize(TEXT)]
    assert str(overview(model("writer"), given)) == str(overview(model("writer"), TEXT))


@pytest.mark.parametrize("name", ["filler", "translator", "BERT", "BLOOM", "T5", "GPT-2"])
def test_what_a_model_does_not_give_is_said_and_the_rest_stands(name):
    made = model(name)
    text = f"the cat {made.info.mask}" if made.info.mask else "the cat"
    found = overview(made, text, target="the" if made.info.kind == "encoder-decoder" else "")
    heads = found.heads.set_index(["kind", "layer", "head"])
    assert heads.index.is_unique and np.isfinite(heads.effect).all()
    assert len(heads) == sum(one.layers * one.heads for one in made.trace(text).attention.values())
    known = np.isfinite(heads.direct)
    assert known.any() == (name not in ("BERT", "BLOOM"))
    assert name != "BERT" or any("no sum of what its parts wrote" in one for one in found.doubts)
    assert name not in ("translator", "T5") or not known["encoder"].any(), "an encoder writes to no logit"
    assert str(found) and found._repr_html_()


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
