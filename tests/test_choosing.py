"""A row of cross-attention belongs to the token just read and serves to choose the next: pointing at a word means the row that
chose it, in everything that names rows."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

import models
from analysis import paragraph, scope
from analysis.word_alignment import place, read_links, tokens_in
from models.attention.traced import COMING, Attention
from models.catalog import WEIGHTS
from models.tokens import Token
from ui.memory.favourites import favourite
from viz import head_view, query_key_view, reading_view
from viz.figures.heatmap import heatmap, heatmap_grid
from viz.tokens import row_names
from viz.views.grid_view.layers import attention_movie

SOURCE, TARGET = "The cat sleeps.", "Le chat dort."


@pytest.fixture(scope="module")
def translator():
    return models.load("translator")


@pytest.fixture(scope="module")
def trace(translator):
    return translator.trace(SOURCE, TARGET)


def test_pointing_at_a_french_word_lights_its_english_word(translator):
    """Of the 181 links, in the head that the app opens with and the paragraph that it shows; the row of the word itself, which
    chose the one after it, finds few of them."""
    best = favourite(translator, "cross")
    right = late = count = 0
    for source, target, links in read_links((WEIGHTS / "translator" / "alignments.tsv").read_text(encoding="utf-8")):
        trace = translator.trace(source, target)
        seen = scope(trace.attention["cross"])
        tokens, weights, start = paragraph(trace, "cross", seen, seen[best.layer][best.head], target)
        for word, meant in links:
            pointed = start + tokens_in(tokens[start:], *place(word, target))[0]
            lit = tokens_in(tokens[:start], *place(meant, source))
            right += int(weights[pointed].argmax()) in lit
            late += int(weights[pointed + 1].argmax()) in lit
            count += 1
    assert count == 181 and right / count >= 0.85 > 0.5 > late / count


def test_a_row_is_named_by_what_it_reads_and_what_it_chooses(trace):
    cross = trace.attention["cross"]
    assert [row.after for row in cross.rows] == list(trace.target)
    assert [row.id for row in cross.rows[:-1]] == [token.id for token in trace.target[1:]]
    assert (cross.rows[-1].text, cross.rows[-1].special) == (COMING, True)
    names = row_names(cross.rows)
    assert "after “Le”, choosing “chat”" in names and names[-1] == "after “.”, choosing what comes next"
    for kind in ("encoder", "decoder"):
        assert trace.attention[kind].rows == trace.attention[kind].queries and row_names(trace.attention[kind].rows) is None


def test_hidden_signs_do_not_hide_the_row_that_chose_the_first_word(trace):
    cross = trace.attention["cross"]
    seen = scope(cross, special=False)
    assert seen.queries.tokens[0].text.strip() == "Le" and seen.queries.groups[0] == [0]
    assert seen.queries.tokens[-1].text == COMING, "nor what it looks at now"
    np.testing.assert_array_equal(seen[0][:, 0], cross[0][:, 0, : len(seen.keys.tokens)])


def test_a_word_stands_for_the_rows_that_chose_its_tokens():
    """Averaged, as `analysis.word_alignment` reads a word."""
    tokens = [Token(0, "<s>", 0, 0, True), Token(1, "cha", 0, 3), Token(2, "ton", 3, 6), Token(3, " dort", 6, 11)]
    keys = [Token(4, "kitten", 0, 6), Token(5, " sleeps", 6, 13)]
    weights = np.random.default_rng(0).dirichlet([1, 1], (1, 1, 4)).astype(np.float32)
    seen = scope(Attention.from_arrays(weights, tokens, keys, chooses=True), whole_words=True)
    assert [token.text for token in seen.queries.tokens] == ["chaton", " dort", COMING]
    assert row_names(seen.queries.tokens)[1] == "after “chaton”, choosing “dort”"
    np.testing.assert_allclose(seen[0][0], [weights[0, 0, :2].mean(0), weights[0, 0, 2], weights[0, 0, 3]], rtol=1e-6)


def header(view) -> dict:
    return json.loads(view.data[4 : 4 + int.from_bytes(view.data[:4], "little")])


def test_every_picture_names_its_rows_so(trace):
    cross, called = trace.attention["cross"], "after “Le”, choosing “chat”"
    rows, keys, at = cross.rows, cross.keys, row_names(cross.rows).index("after “Le”, choosing “chat”")
    assert header(head_view(rows, keys, cross[0]))["from"]["rows"][at] == called
    figure = heatmap(rows, keys, cross[0][0])
    assert figure.data[0].y[at] == f"{called} (row {at})" and figure.layout.yaxis.title.text == "from (query), choosing"
    assert figure.layout.yaxis.ticktext[at] == "·chat" and figure.data[0].hovertemplate.startswith("%{y}, to %{x}")
    assert heatmap_grid(rows, keys, cross[0]).data[0].y[at].startswith(called)
    zeros = np.zeros(len(keys))
    view = query_key_view(rows[at], keys, np.zeros(2), np.zeros((len(keys), 2)), zeros, 1.0, zeros, zeros)
    assert header(view)["row"] == called and called in view.label
    assert called in header(attention_movie(rows, keys, cross[0][:1]))["rowNames"]
    tokens, weights, start = paragraph(trace, "cross", scope(cross), cross[0][0], TARGET)
    sent = header(reading_view(tokens, weights, toggle=True))
    assert sent["after"][start + at] == "“Le”" and sent["after"][:start] == [""] * start and not sent["toggle"]


def test_a_spreadsheet_has_what_was_read_and_what_was_chosen(trace, translator):
    from ui.look import Look
    from ui.picture import files
    from ui.picture.caption import caption
    from ui.picture.picture import Picture

    seen = scope(trace.attention["cross"])
    look = Look(translator, trace, "cross", "expert", TARGET, picked=(0, 0))
    made = Picture(lambda: None, (look,), {"layer": 0, "heads": None}, "head-view", lambda: {"weights": seen[0]})
    rows = pd.read_csv(io.BytesIO(files.csv(made, caption(made))), dtype=str).to_dict("records")
    result = {(row["from_position"], row["from_token"], row["choosing_token"]) for row in rows}
    assert result == {(str(i), row.after.text, row.text) for i, row in enumerate(seen.queries.tokens)}
