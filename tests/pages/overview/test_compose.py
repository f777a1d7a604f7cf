"""The numbers of page "Overview" are those of the model: of its trace, the lens and its predictions."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import models
from analysis.lens import lens
from models.huggingface.model import HuggingFaceModel
from pages.overview.compose import KEY, ROWS, compose, position_of
from pages.overview.picking import picked
from pages.overview.stations import choices, cut_word, why_open
from tests.grids import grid
from tests.models.classifiers import saved
from tests.models.huggingface.folders import save
from tests.models.huggingface.test_head_counts import laguna
from tests.models.huggingface.test_layer_numbers import sparse
from tests.models.networks import NETWORKS, network, tokenizer
from tests.pages.opening import PAGES
from tests.viz.views.test_stations_view import sent
from ui.look import Choices, Look, look_of
from ui.picture.board import Note
from ui.state import LEVELS
from viz import percent

TEXTS = {
    "writer": ("The cat sat on the mat and the cat", ""),
    "filler": ("The [MASK] sat on the mat", ""),
    "translator": ("The cat sleeps.", "Le chat"),
    "sorter": ("Did the dog see the cat", ""),
}


def look(name: str, text: str | None = None, level: str = "intermediate", **choices: object) -> Look:
    model = models.load(name)
    first, target = TEXTS.get(name, ("The cat sat", ""))
    return look_of(model, model.trace(first if text is None else text, target), target, Choices(level=level, **choices))


def drawn(seen: Look) -> tuple[dict, dict[str, np.ndarray]]:
    content = compose(seen).contents[KEY]
    assert not isinstance(content, Note), content
    return sent(content)


@pytest.mark.parametrize("name", TEXTS)
def test_weights_are_those_of_the_trace(name):
    seen = look(name)
    _, arrays = drawn(seen)
    kinds = {"lane0": "encoder", "lane1": "decoder", "bridge": "cross"} if seen.trace.target else {"lane0": "self"}
    for part, kind in kinds.items():
        for layer, weights in enumerate(arrays[f"weights-{part}"]):
            assert np.abs(weights / 255 - seen.trace.attention[kind][layer]).max() <= 0.5 / 255 + 1e-6


@pytest.mark.parametrize("name", ["writer", "filler", "translator"])
def test_guesses_are_those_of_the_lens_and_chances_those_of_the_model(name):
    seen = look(name)
    header, _ = drawn(seen)
    at = position_of(seen)
    by_lens = lens(seen.trace, [at], top=1).probabilities[:, 0, 0]
    assert [guess["number"] for guess in header["guesses"]] == [percent(share) for share in by_lens]
    best = seen.model.top(seen.trace.logits_at(at), at, 8)
    assert [(outcome["id"], outcome["number"]) for outcome in header["outcomes"]] == [
        (prediction.id, percent(prediction.probability)) for prediction in best
    ]


def test_a_classifier_ends_in_its_labels():
    seen = look("sorter")
    header, _ = drawn(seen)
    best = seen.model.predict(seen.trace.text, top=8)
    assert [outcome["name"] for outcome in header["outcomes"]] == [prediction.text for prediction in best]
    assert header["guesses"][-1]["number"] == percent(best[0].probability)


@pytest.mark.parametrize(("name", "level"), grid(product(TEXTS, LEVELS), [*zip(TEXTS, (*LEVELS, LEVELS[0]), strict=True)]))
def test_every_sentence_is_filled_with_what_the_picture_has(name, level):
    header, _ = drawn(look(name, level=level))
    facts = {"token", "key", "share", "head", "head_words", "chosen", "layer", "layer_number", "guess", "chance"}
    facts |= {"before", "before_share", "best", "best_share", "all", "even"}
    words = [
        *(text for station in header["stations"] for text in (station["title"], station["note"], station["step"])),
        *header["rest"].values(),
    ]
    marks = {mark.split("}")[0] for text in words for mark in text.split("{")[1:]}
    assert marks <= facts
    assert all(station["step"] for station in header["stations"])


def test_a_chosen_token_is_the_one_that_is_followed():
    seen = look("writer", token=3)
    header, _ = drawn(seen)
    assert header["lanes"][0]["places"][header["row"]] == 3
    best = seen.model.top(seen.trace.logits_at(3), 3, 1)[0]
    assert header["outcomes"][0]["id"] == best.id


@pytest.mark.parametrize("token", [None, 0, 2, 30])
@pytest.mark.parametrize("level", ["beginner", "expert"])
def test_a_long_text_has_the_token_that_is_followed_and_the_one_that_it_looks_at(level, token):
    seen = look("writer", " ".join(f"cat {i}" for i in range(40)), level, token=token)
    header, arrays = drawn(seen)
    (lane,) = header["lanes"]
    at = position_of(seen)
    looked = int(seen.attention[seen.layer][seen.head, at].argmax())
    assert len(lane["tokens"]) == ROWS and lane["tokens"].count(None) == 1
    assert lane["places"][header["row"]] == at and {0, at, looked} <= set(lane["places"])
    assert lane["omitted"] + len(lane["tokens"]) - 1 == len(seen.trace.tokens)
    row = arrays["weights-lane0"][seen.layer, seen.head, header["row"]].astype(int)
    assert abs(row.sum() - 255) <= len(row), "the row of all others has what is left"


def test_of_a_very_long_text_only_the_chosen_layer_is_sent(monkeypatch):
    from pages.overview import recipes

    monkeypatch.setattr(recipes, "MOST", 100)
    header, arrays = drawn(look("writer", layer=3))
    assert header["gazes"]["lane0"]["layers"] == [3] and arrays["weights-lane0"].shape[0] == 1


def test_an_encoder_without_a_gap_says_how_to_make_one():
    header, _ = drawn(look("filler", "The cat sat"))
    assert not header["outcomes"] and not header["guesses"]
    assert "mask" in header["rest"]["no guess"]


def test_a_model_without_a_head_says_so(tmp_path):
    seen = look(str(save(network("BERT without a head"), tmp_path)))
    header, _ = drawn(seen)
    assert "no language-model head" in header["rest"]["no guess"] and not header["outcomes"]


@pytest.mark.parametrize("name", TEXTS)
def test_each_station_leads_to_a_page(name):
    seen = look(name)
    links = {station["key"]: station["link"] for station in drawn(seen)[0]["stations"]}
    assert all(link.partition("?")[0] in PAGES for link in links.values())
    assert links["look"] == "attention" and links["layers"] == "layers?part=Lens"
    assert links["chances"] == ("generate" if seen.model.grows else "explain")


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("The cat sat", []),
        ("The cat baked", ["b", "aked"]),
        ("The cat baked a", ["b", "aked"]),
        ("The cat, and 7", []),
        ("", []),
    ],
)
def test_a_word_of_several_tokens_is_named(text, pieces):
    assert cut_word(look("writer", text)) == pieces
    header, _ = drawn(look("writer", text, "beginner"))
    assert ("cut" in header["rest"]) == bool(pieces)


@pytest.mark.parametrize(("name", "reason"), [("writer", "previous"), ("sorter", "single"), ("translator", "lookup")])
def test_beginners_read_why_a_head_is_open(name, reason):
    seen = look(name, level="beginner")
    assert why_open(seen) == f"why {reason}"
    assert "because" in drawn(seen)[0]["rest"]["open"]
    other = replace(seen, picked=(0, 1))
    assert (other.layer, other.head) != (seen.layer, seen.head) and why_open(other) == ""
    assert "open" not in drawn(other)[0]["rest"]


def test_a_station_opens_with_the_same_choices():
    seen = look("translator", level="expert", attention="encoder", layer=1, head=2, token=1)
    assert choices(seen, "look") == {"level": "expert", "layer": "L1", "head": "H2", "attention": "Encoder", "token": "1"}
    assert choices(seen, "bridge")["attention"] == "Cross"
    assert choices(look("writer", level="beginner", layer=4), "mix") == {"level": "beginner", "stage": "mixed values"}


@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60), st.sampled_from(LEVELS), st.booleans())
def test_any_text_is_drawn(text, level, narrow):
    seen = look("writer", text, level, narrow=narrow)
    header, arrays = drawn(seen)
    assert arrays["weights-lane0"].shape[2] == len(header["lanes"][0]["tokens"])
    assert header["lanes"][0]["tokens"][header["row"]] is not None


def test_the_same_look_gives_the_same_bytes():
    seen = look("translator", level="expert")
    first = compose(seen)
    assert first.data == compose(replace(seen)).data
    assert compose(replace(seen)).contents[KEY] is first.contents[KEY], "a class that looks at one text has one picture"


ODD = (
    "GPT-2",
    "GPT-OSS, sinks",
    "DeepSeek-V3",
    "Falcon",
    "BERT",
    "ALBERT",
    "DeBERTa-v2",
    "MPNet",
    "T5",
    "BART",
)


@pytest.mark.thorough
@pytest.mark.parametrize("level", ["beginner", "expert"])
@pytest.mark.parametrize("name", ODD)
def test_other_architectures_are_drawn_with_their_own_numbers(name, level):
    kind = NETWORKS[name][0]
    model = HuggingFaceModel(network(name), tokenizer(kind), kind)
    target = "the dog" if kind == "encoder-decoder" else ""
    text = "The <mask> sat on the mat" if kind == "encoder" else "The cat sat on the mat"
    seen = look_of(model, model.trace(text, target), target, Choices(level=level))
    header, arrays = drawn(seen)
    last = header["lanes"][-1]
    assert len(header["guesses"]) == len(last["numbers"]) + 1 == arrays[f"vectors-lane{len(header['lanes']) - 1}"].shape[0]
    at = position_of(seen)
    best = model.top(seen.trace.logits_at(at), at, 1)[0]
    assert header["outcomes"][0]["number"] == seen.percent(best.probability)


def test_layers_may_differ_in_their_heads():
    model = laguna()
    seen = look_of(model, model.trace("The cat sat on the mat"), "", Choices(level="expert", layer=1, head=7))
    header, _ = drawn(seen)
    assert header["gazes"]["lane0"]["counts"] == list(seen.attention.counts)
    assert len(set(seen.attention.counts)) > 1


def test_layers_have_the_numbers_of_the_network():
    model = sparse()
    seen = look_of(model, model.trace("The cat sat on the mat"), "", Choices(level="expert"))
    header, _ = drawn(seen)
    assert header["lanes"][0]["numbers"] == list(model.info.layer_numbers) != list(range(len(model.info.layer_numbers)))
    assert len(header["guesses"]) == len(model.info.layer_numbers) + 1


def test_a_classifier_of_hugging_face_is_drawn(tmp_path):
    header, _ = drawn(look(str(saved("BERT", tmp_path / "classifier"))))
    assert header["outcomes"] and header["guesses"]


CLICKS = [
    ("writer", "expert", {"token": [0, 1]}, {"token": 1}),
    ("writer", "expert", {"token": [0, 99]}, {}),
    ("writer", "expert", {"token": [1, 1]}, {}),
    ("writer", "beginner", {"layer": 1, "head": 2}, {}),
    ("writer", "expert", {"layer": 1, "head": 99}, {"layer": 1, "head": 7}),
    ("writer", "expert", {"layer": 99, "head": 0}, {}),
    ("writer", "expert", {"layer": 1, "head": -1}, {}),
    ("translator", "expert", {"token": [0, 1]}, {}),
    ("translator", "expert", {"token": [1, 1]}, {"token": 1}),
    ("filler", "expert", {"token": [0, 1]}, None),
    ("writer", "expert", {"outcome": 5}, None),
    ("writer", "expert", {"open": "tokens"}, None),
    ("writer", "expert", 5, None),
]


@pytest.mark.parametrize(("name", "level", "click", "picks"), CLICKS)
def test_a_click_chooses_a_token_or_a_head_or_does_something_else(name, level, click, picks):
    seen = look(name, level=level)
    assert picked(seen, click) == picks
    if picks and "token" in picks:
        assert picked(replace(seen, chosen_token=1), click) == {"token": None}, "once more lets it go"
        assert picked(seen, {"token": [click["token"][0], seen.newest]}) == {"token": None}
