"""The head that a newcomer meets does what the page says of it."""

import numpy as np
import pytest

import models
from analysis.samples import SENTENCES
from tests.pages.levels import read
from tests.pages.opening import open_link
from ui.memory.favourites import CLEAR, favourite
from viz import percent


@pytest.mark.parametrize("name", models.names())
def test_the_first_head_of_a_model_that_ships_does_something_clearly(name):
    model = models.load(name)
    for kind in ("cross", "encoder", "decoder") if model.info.kind == "encoder-decoder" else ("self",):
        assert favourite(model, kind).score > CLEAR


def test_of_a_classifier_it_is_the_head_that_looks_most_at_one_token_where_the_label_is_read():
    model = models.load("sorter")
    most = np.zeros((model.info.layers, model.info.heads))
    for text in SENTENCES:
        trace = model.trace(text)
        typed = [i for i, token in enumerate(trace.tokens) if not token.special]
        attention = trace.attention["self"]
        most += [attention[layer][:, model.places(trace)[0], typed].max(-1) for layer in range(attention.layers)]
    first = favourite(model)
    assert (first.layer, first.head, first.does) == (*divmod(int(most.argmax()), model.info.heads), "single")
    assert first.score == pytest.approx(most.max() / len(SENTENCES))
    words = read(open_link("type", "model=sorter&text=Did+the+cat+sit"))
    assert f"it gave one token **{percent(first.score)}**".replace("\N{NO-BREAK SPACE}", " ") in words


@pytest.mark.parametrize(
    ("name", "purpose"),
    [("writer", "what the model expects next"), ("filler", "guesses for the gap"), ("sorter", "what the model says about it")],
)
def test_the_heading_of_page_type_says_what_the_model_does(name, purpose):
    assert purpose in read(open_link("type", f"model={name}&text=The+cat"))
