"""What the parts of page "Heads" say where something cannot be measured, and where a range cannot be said."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

import models
from analysis.composition import WAYS, HeadWeights
from analysis.redundancy import Likeness, Together
from pages.heads import recipes, standins, why
from tests.analysis.test_samples import OWN, few_words
from tests.pages.opening import open_link, words_on
from tests.pages.taking import header
from tests.serving import ROOT
from ui.lexicon.marks import sections
from ui.look import Look
from ui.memory import loaded
from viz import percent

BY = ("outputs", "maps")  # what heads can be alike in
FRENCH = "model=translator&level=expert&text=The+cat+sat"


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (f"{FRENCH}&heads-part=Weights", "Choose “Encoder” or “Decoder” in the side bar"),
        (f"{FRENCH}&heads-part=Importance&heads-text=your+text", "Type a text and its target"),
        (f"{FRENCH}&target=Le+chat&heads-part=Importance&heads-text=your+text", "too short for a range"),
        (f"{FRENCH}&target=Le+chat&heads-part=Stand-ins&heads-text=your+text&attention=Decoder", "Most like decoder L"),
    ],
    ids=["cross-attention by its weights", "no target", "one text", "stand-ins"],
)
def test_what_a_part_says(link, words):
    assert words in words_on(open_link("heads", link))


@pytest.mark.parametrize("level", ["intermediate", "expert"])
def test_a_classifier_has_a_loss_and_it_is_said_why_it_is_not_measured(level):
    text = words_on(open_link("heads", f"model=sorter&level={level}&text=Did+the+cat+sit&heads-part=Importance"))
    assert "cross-entropy of the right label" in text and "no loss" not in text and "predicts no word" not in text


@pytest.fixture(scope="module")
def few(tmp_path_factory) -> Iterator[str]:
    """A folder with a model whose tokenizer knows forty words and no English."""
    folder, model = tmp_path_factory.mktemp("few"), few_words()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_MODEL_DIRS", str(folder))
        model.network.save_pretrained(folder)
        model.vocabulary.tokenizer.save_pretrained(folder)
        loaded.model(str(folder))
        yield str(folder)


@pytest.mark.parametrize("level", ["beginner", "intermediate", "expert"])
def test_of_texts_that_the_tokenizer_cannot_spell_nothing_is_said_but_their_share(few, level):
    page = words_on(open_link("heads", f"model={few}&level={level}&text=w1+w2"))
    assert "100\u00a0%" in page and ("your text" in page or level == "beginner")
    assert "got a label" not in page and "did one thing clearly" not in page


@pytest.mark.parametrize("part", ["Labels", "Importance", "Stand-ins"])
def test_a_visitors_own_texts_are_measured_in_every_part(few, part):
    text = "↵".join(OWN).replace(" ", "+")
    page = words_on(open_link("heads", f"model={few}&level=expert&text={text}&heads-text=your+text&heads-part={part}"))
    assert "your text, in 4 parts" in page
    assert part == "Stand-ins" or "0\u00a0%" in page, "none of its tokens is unknown"
    assert part != "Labels" or "guessing all tokens alike would cost 3.78" in page


@pytest.mark.thorough
def test_the_share_of_unknown_tokens_and_the_loss_on_the_sample_stand_on_the_page():
    page = words_on(open_link("heads", "level=intermediate&text=The+cat+sat"))
    assert "knows 100\u00a0% of the tokens in the 12 sample texts" in page and "The model’s loss there is 3.42 nats" in page


def test_a_beginner_meets_heads_and_hears_what_a_link_keeps_for_later():
    app = open_link("heads", "text=The+cat+sat&heads-part=Importance")
    assert "Choose the level “Intermediate” to see that" in words_on(app)


def test_a_score_that_a_head_cannot_have_is_not_the_nearest_to_a_label():
    row = {"previous": 0.04, "previous_low": 0.03, "previous_null": 0.05, "next": 0.0, "next_low": 0.0, "next_null": 0.0}
    assert why.nearest(pd.Series(row)) == "previous"  # a decoder's heads never see the token after
    assert why.nearest(pd.Series(row | {"next": 0.1, "next_low": 0.09, "next_null": 0.1})) == "next"


def test_a_blank_square_says_why_it_is_blank():
    columns = {"label": ["previous", ""], "previous": [0.7, 0.1], "previous_null": [0.1, 0.1]}
    table = pd.concat([pd.DataFrame(columns | {"previous_low": [0.6, 0.0], "previous_high": [0.8, 0.2]})] * 24, ignore_index=True)
    table["layer"], table["head"] = np.divmod(np.arange(48), 8)
    model, names = models.load("writer"), {"previous": "token before"}
    labels = recipes.labels_board(model, kind="self", name="", names=names, chosen=None, seeds=3, texts=None, table=table)
    assert header(labels)["blank"] == "no label"
    alike = Likeness(np.eye(48), np.eye(48))
    assert (
        header(recipes.alike(model, kind="self", texts=None, by="maps", chosen=(2, 1), likeness=alike))["blank"]
        == "nothing to compare"
    )
    ends = [header(recipes.alike(model, kind="self", texts=None, by=by, chosen=(2, 1), likeness=alike))["ends"] for by in BY]
    assert ends == [[-1, 1], [0, 1]], "the colours of a likeness run over all that it can be"
    known = HeadWeights(pd.DataFrame({"layer": [0, 1], "head": [0, 0]}), np.full((3, 2, 2), np.nan), 0.1)
    read = recipes.composition(model, kind="self", way=WAYS[0], chosen=(1, 0), weights=known)
    assert header(read)["blank"] == "it is not in an earlier layer"


def test_a_score_below_0_is_said_and_what_is_not_known_is_left_out():
    row = pd.Series({"name": -0.0118, "name_low": -0.056, "name_high": 0.012, "name_null": np.nan})
    score_texts = why.numbers_of(row, "name")
    assert (score_texts["score"], score_texts["low"], score_texts["high"]) == ("−1.18\u00a0%", "−5.60\u00a0%", "1.20\u00a0%")
    assert score_texts["beside"] == "", "a model too large for shuffled copies"
    assert recipes.against_chance(row, "name") == "−5.60\u00a0% to 1.20\u00a0%"


@pytest.mark.thorough
def test_what_one_text_cannot_say_is_left_out():
    unknown = {"name": 0.3, "name_low": np.nan, "name_high": np.nan, "name_null": 0.1}
    score_texts = why.numbers_of(pd.Series(unknown), "name")
    assert score_texts["range"] == ""
    assert recipes.against_chance(pd.Series(unknown), "name").startswith("one text, so no range; shuffled")
    assert recipes.against_chance(pd.Series(unknown | {"name": np.nan}), "name") == "not measured"
    page = words_on(open_link("heads", "level=intermediate&text=The+cat+sat&heads-text=your+text"))
    assert "nan" not in page.split() and "range – to –" not in page and "stays the same" not in page
    assert "so it has no range, and a label needs one" in page and "type a second line" in page


def test_the_ends_of_all_pairs_stand_beside_all_pairs():
    draw, count = np.random.default_rng(0).normal(size=(4, 40, 40)), 40 * 39 // 2
    noise = standins.of_all_pairs(Together(np.arange(40), draw + draw.transpose(0, 2, 1), np.ones(len(draw))))
    assert noise["pairs"] == str(count) and noise["chance"] == percent(1 / 8)
    assert float(noise["low"].replace("−", "-")) < 0 < float(noise["high"])
    assert abs(float(noise["same"].split("\u00a0")[0]) - 12.5) < 100 * 4 * np.sqrt(1 / 8 * 7 / 8 / count)
    assert standins.of_all_pairs(Together(np.arange(40), np.abs(draw), np.ones(len(draw))))["same"] == percent(1.0)


@pytest.mark.parametrize("level", ["intermediate", "expert"])
def test_what_is_lost_without_two_heads_is_not_told_as_how_they_work(level):
    text = sections(ROOT / "pages" / "heads" / f"{level}.md")["together"]
    assert "so that one can" not in text and "circuit" not in text and "one after the other" not in text


def test_the_most_alike_of_all_pairs_stand_in_a_table_beside_the_middle_one():
    likeness = np.corrcoef(np.random.default_rng(1).normal(size=(48, 9)))
    model = models.load("writer")
    rows, middle = standins.most_alike(Look(model, model.trace("The cat")), likeness)
    pairs = {(f"L{i // 8} H{i % 8}", f"L{j // 8} H{j % 8}"): likeness[i, j] for i in range(48) for j in range(i)}
    five = sorted(pairs.values())[-5:]
    assert [row["Alike"] for _, row in rows.iterrows()] == [f"{value:.2f}" for value in reversed(five)]
    assert all(f"{pairs[row['Other head'], head]:.2f}" == row["Alike"] for head, row in rows.iterrows())
    assert middle == f"{np.median(list(pairs.values())):.2f}".replace("-", "−")
