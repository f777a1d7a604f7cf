"""Classifiers on the pages: labels by their names, why this one, and all other pages as before."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

from analysis import attributions
from pages.type.compose import HERE
from pages.type.labelled import each_token, what_it_says
from tests.grids import grid
from tests.models.classifiers import LABELS, model, saved
from tests.pages.levels import read
from tests.pages.opening import open_link, words_on
from tests.pages.taking import offered
from ui import state
from ui.escaping import plain
from ui.look import Look
from ui.memory import loaded
from ui.picture.board import Draft
from viz.numbers import decimal

TEXT = "The cat sat on the mat, and the dog sat on the cat."
KINDS = {"text": "BERT", "any": "BERT, any of them", "number": "BERT, a number", "token": "BERT, tokens", "decoder": "GPT-2"}
KINDS |= {"two": "BART", "mean": "ModernBERT, the mean"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, str]:
    root = tmp_path_factory.mktemp("labelled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_MODEL_DIRS", str(root))
        paths = {kind: str(saved(name, root / kind)) for kind, name in KINDS.items()}
        for folder in paths.values():
            loaded.model(folder)
        yield paths


def link(folder: str, more: str = "") -> str:
    return f"model={folder}&text={TEXT.replace(' ', '+')}&{more}"


@pytest.mark.parametrize("kind", grid(KINDS, ["text", "number", "token", "two"]))
def test_why_this_label_is_what_the_analysis_says(folders, kind):
    app = open_link("explain", link(folders[kind], "level=expert"))
    classifier = loaded.model(folders[kind])
    trace = classifier.trace(TEXT)
    place = trace.tokens.index(trace.tokens[-2 if kind == "token" else -1]) if kind in ("token", "decoder", "two") else 0
    scores = attributions(classifier, TEXT, "leave-one-out", position=place)
    assert app.dataframe[0].value.iloc[:, 1].tolist() == [decimal(score) for score in scores]
    assert app.dataframe[0].value.columns[1] == ("points" if kind == "number" else "nats")
    assert f"“{plain(classifier.outcome(int(trace.scores_at(place).argmax())))}”" in words_on(app)


def test_a_classifier_of_two_stacks_has_one_box_and_says_what_its_decoder_reads(folders):
    app = open_link("explain", link(folders["two"], "target=Le+chat"))
    assert "reads your text twice" in words_on(app) and not any("answer so far" in box.label for box in app.text_input)
    board = "".join(
        str(component.proto) for component in open_link("type", link(folders["two"], "level=expert")).get("bidi_component")
    )
    assert "then the text without its last token" in board and "happy" in board and "“space” looks" not in board


@pytest.mark.parametrize("level", state.LEVELS)
@pytest.mark.parametrize("kind", ["two", "decoder"])
def test_no_row_of_a_classifier_is_said_to_choose_a_word(folders, kind, level, monkeypatch):
    """Elsewhere a decoder's rows serve to choose the next token; here each belongs to the token just read, and has its name."""
    for page in ("type", "attention", "layers"):
        page_text = read(open_link(page, link(folders[kind], f"level={level}&view=Heatmap")))
        assert not re.search(
            r"serves to choose|to choose th|looked at to choose|it chooses|answer grows|of the answer|of its answer", page_text
        )
    if kind == "two":
        trace = loaded.model(folders[kind]).trace(TEXT)
        for token, marked in (("", len(trace.target) - 1), ("&token=3", 3)):
            drawn = offered(monkeypatch, "type", link(folders[kind], f"level={level}{token}"))
            assert drawn["board target"].options["chosen"] == marked
        assert trace.attention["cross"].rows == trace.target


@pytest.mark.parametrize("kind", ["text", "mean", "two"])
def test_what_the_slopes_sum_to_is_said_on_page_flow(folders, kind):
    app = open_link("flow", link(folders[kind], "level=intermediate"))
    board = "".join(str(component.proto) for component in app.get("bidi_component"))
    assert "Together they make" in board and "{total}" not in board and "{logit}" not in board


def test_a_contrast_of_two_labels_in_a_link(folders):
    app = open_link("explain", link(folders["text"], "level=expert&explain-word=happy&explain-against=sad&explain-by=LIME"))
    scores = attributions(loaded.model(folders["text"]), TEXT, "lime", token=2, against=0)
    assert app.dataframe[0].value.iloc[:, 1].tolist() == [decimal(score) for score in scores]
    assert "“happy” rather than “sad”" in words_on(app)


def test_a_label_that_is_not_there_is_told_of(folders):
    app = open_link("explain", link(folders["text"], "level=expert&explain-word=angry"))
    assert len(app.warned) == 1 and "the label “angry”, which does not exist here" in app.warned[0]
    assert app.dataframe


def test_a_beginner_is_told_of_no_chance_where_there_is_none(folders):
    assert "Can you believe it?" not in words_on(open_link("explain", link(folders["number"])))
    assert "Can you believe it?" in words_on(open_link("explain", link(folders["text"])))


PAGES = ["type", "attention", "layers", "flow", "space", "inside", "generate", "change", "heads"]
OPENED = [*product(PAGES, ["text", "token"], ["beginner", "expert"])]  # `make test` has every third


@pytest.mark.parametrize(("page", "kind", "level"), grid(OPENED, OPENED[::3]))
def test_every_page_opens_with_a_classifier(folders, page, kind, level):
    more = f"level={level}" + ("&part=Lens" if page == "layers" else "")
    page_text = words_on(open_link(page, link(folders[kind], more)))
    if page in ("layers", "generate"):
        assert "labels" in page_text or ("classification head" in page_text and level == "expert")
    if page == "inside":
        assert "way ends" in page_text


def test_type_says_what_the_chances_are():
    """Probabilities of one label sum to 1, those of any labels need not, and a number is no probability."""
    for kind, words in (("text", "one of 3 labels"), ("any", "need not add up to 100"), ("number", "It is not a chance")):
        classifier = model(KINDS[kind])
        draft = Draft(HERE, Look(classifier, classifier.trace(TEXT)))
        part = what_it_says(draft, 1.0, 5)
        assert words in part.above
        numbers = draft.pictures[0].numbers()
        if kind == "number":
            assert numbers.keys() == {"score", "label"} and "numbers for names" in part.above
            continue
        shares = numbers["probability"].values
        assert set(numbers["label"].values) == set(LABELS)
        assert (shares.sum() == pytest.approx(1)) == (kind == "text")


def test_each_token_is_listed_with_its_label():
    classifier = model("BERT, tokens")
    look = Look(classifier, classifier.trace(TEXT), chosen_token=3)
    part = what_it_says(Draft(HERE, look), 1.0, 5)
    best = classifier.top(look.trace.scores_at(3), 3, 1)[0]
    assert "for **sat**" in part.above.replace(" ", "").replace("for**", "for **")
    assert each_token(look) in part.below
    listed = part.below
    assert listed.count("**") // 2 - 1 == len(classifier.places(look.trace)) and f"**{best.text}**" in listed
    assert np.isfinite(best.probability)


def test_why_one_text_follows_from_another_is_asked_of_both(folders):
    second = "the dog sat"
    app = open_link("explain", link(folders["text"], f"level=expert&two-texts=true&target={second.replace(' ', '+')}"))
    scores = attributions(loaded.model(folders["text"]), TEXT, "leave-one-out", position=0, target=second)
    assert len(scores) > len(loaded.model(folders["text"]).tokenize(TEXT)) and np.isfinite(scores[-3:-1]).all()
    assert app.dataframe[0].value.iloc[:, 1].tolist() == [decimal(score) for score in scores]


@pytest.mark.parametrize("kind", ["text", "number", "token"])
@pytest.mark.parametrize("experiment", ["Two texts", "What wrote it", "Circuit"])
def test_an_experiment_that_asks_about_words_says_that_there_are_labels(folders, experiment, kind):
    level = "expert" if kind == "text" or experiment == "Circuit" else "intermediate"
    page_text = words_on(open_link("change", link(folders[kind], f"level={level}&experiment={experiment}")))
    assert "page Explain" in page_text and ("no unembedding" if level == "expert" else "predicts no words") in page_text
