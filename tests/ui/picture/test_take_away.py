"""What is taken away holds what the picture shows: files are read back, notebooks are run."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import re
from csv import reader
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import nbformat
import numpy as np
import pandas as pd
import pytest
import streamlit
from hypothesis import given, settings
from hypothesis import strategies as st
from nbclient import NotebookClient

import models
from analysis import entropy
from models.trace import Attention
from pages.attention import compare
from pages.attention.compose import compose
from pages.attention.settings import Settings
from tests.models.networks import network, tokenizer
from tests.serving import ROOT
from ui import state
from ui.look import Look, beside
from ui.picture import files, take_away
from ui.picture.caption import caption, slug
from ui.picture.files import cell, csv, npz
from ui.picture.notebook import literal, looks_source, notebook
from ui.picture.picture import Numbers, Picture
from viz.palette import DARK, LIGHT, sequential
from viz.view import View

TEXT = "The farmer gave the hungry dog a bone"
NASTY = '"""\'\\n</script><img src=x onerror=alert(1)>\n =1+1 🐕\u200d🦺 $x$ \\N{BULLET} {0} %s'


load = cache(models.load)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, str]:
    made = {}
    for name, kind in {"BERT": "encoder", "T5": "encoder-decoder"}.items():
        folder = tmp_path_factory.mktemp("folders") / f"a {name} 'model'"
        network(name).save_pretrained(folder)
        tokenizer(kind).save_pretrained(folder)
        made[name] = str(folder)
    return made


@pytest.fixture(scope="module")
def look(folders):
    """`look("writer", text, kind="self", target="", **options)`: a text through a model, and head 1 of layer 1."""

    def made(name: str, text: str = TEXT, kind: str = "self", target: str = "", **options) -> Look:
        model = load(folders.get(name, name))
        trace = model.trace(text, target)
        return Look(model, trace, kind, "expert", target, (1, 1), options=options)

    return made


@pytest.fixture
def place(monkeypatch):
    """`place("Reading", look, shade="rollout")`: the picture that the page makes when its controls stand so; every: with all
    heads of the layer switched on."""

    def made(view: str, look: Look, level: str = "expert", every: bool = False, **choices) -> Picture:
        monkeypatch.setattr(state, "level", lambda: level)
        look = replace(look, level=level)
        on = {"heads": tuple(range(look.scope.attention.heads)), "of_head": look.head} if every else {}
        settings = Settings(view, **on, **choices)
        (picture,) = compose(look, settings).pictures
        return picture

    return made


def run(book: str) -> View:
    """The picture of a notebook whose cells are run here, on models that are loaded once for all tests."""
    namespace: dict = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "load", load)
        for item in json.loads(book)["cells"]:
            if item["cell_type"] == "code":
                exec(item["source"], namespace)
    return namespace["picture"]


def data(drawn) -> bytes:
    """All that a picture shows; a figure's template is no part of it: Streamlit brings one, Jupyter another."""
    return drawn.data if isinstance(drawn, View) else drawn.update_layout(template=None).to_json().encode()


def table(made: Picture) -> list[dict[str, str]]:
    read = pd.read_csv(io.BytesIO(csv(made, caption(made))), dtype=str, keep_default_na=False)
    return read.to_dict("records")


def arrays(made: Picture):
    return np.load(io.BytesIO(npz(made, caption(made))), allow_pickle=False)


# ---------------------------------------------------------------- notebooks


@pytest.mark.parametrize(
    ("view", "model", "given", "choices"),
    [
        ("Head", "writer", {"whole_words": True}, {}),
        ("Head", "T5", {"kind": "cross", "target": "the dog"}, {}),
        ("Reading", "writer", {"text": NASTY}, {}),
        ("Reading", "writer", {"special": False, "renormalised": True}, {"shade": "rollout"}),
        ("Reading", "writer", {}, {"shade": "surprise"}),
        ("Reading", "T5", {"kind": "cross", "target": "the dog"}, {"shade": "all heads"}),
        ("Reading", "BERT", {"target": "the cat"}, {"shade": "layer"}),
        ("Model", "writer", {}, {"order": "similarity", "only": "token before"}),
        ("Query-key", "writer", {}, {"query": 3}),
        ("Query-key", "BERT", {"special": False}, {}),
        ("Heatmap", "writer", {"text": NASTY}, {"heat": "all heads"}),
        ("Heatmap", "writer", {"queries": (3, 6), "keys": (1, 4)}, {}),
    ],
)
def test_a_notebook_makes_the_same_picture(look, place, view, model, given, choices):
    made = place(view, look(model, **given), **choices)
    assert data(run(notebook(made, caption(made)))) == data(made.drawn)


@pytest.mark.parametrize("way", ["head", "layer", "text", "model"])
def test_a_notebook_of_two_that_are_compared(look, monkeypatch, way):
    chosen_look = look("BERT")
    other = {
        "head": chosen_look.at(1, 0),
        "layer": chosen_look.at(0, 1),
        "text": look("BERT", TEXT + " and"),
        "model": look("writer"),
    }
    monkeypatch.setattr(compare, f"other_{way}", lambda _: other[way])
    made = compare.picture(chosen_look, way)
    book = notebook(made, caption(made))
    assert data(run(book)) == data(made.drawn)
    assert book.count("models.load(") == (2 if way == "model" else 1)
    rows, both = table(made), made.numbers()
    assert [row["from_token"] for row in rows[:: len(both["a"].names["to"])]] == [cell(name) for name in both["a"].names["from"]]
    for name in ("a", "b", "difference"):
        np.testing.assert_array_equal([np.float32(row[name]) for row in rows], both[name].values.astype(np.float32).ravel())
    if way == "head":
        assert "L1 H1 and L1 H0" in caption(made).title


@pytest.mark.thorough
def test_jupyter_runs_notebooks_from_top_to_bottom(look, place):
    load.cache_clear()  # a model that has read on from another text may differ in the last digit
    asks = "picture.data if hasattr(picture, 'kind') else picture.update_layout(template=None).to_json().encode()"
    client = NotebookClient(nbformat.v4.new_notebook(), timeout=120, resources={"metadata": {"path": str(ROOT)}})
    with client.setup_kernel():  # one for both: most of the time goes into importing torch
        for view, choices, mime in (
            ("Reading", {"shade": "entropy"}, "text/html"),
            ("Heatmap", {}, "application/vnd.plotly.v1+json"),
        ):
            made = place(view, look("writer", NASTY, whole_words=True), **choices)
            client.nb = book = nbformat.reads(notebook(made, caption(made)), as_version=4)
            nbformat.validate(book)
            book.cells.append(nbformat.v4.new_code_cell(f"import hashlib\nhashlib.sha256({asks}).hexdigest()"))
            for i, item in enumerate(book.cells):
                client.execute_cell(item, i)
            assert book.cells[-1].outputs[0]["data"]["text/plain"] == repr(hashlib.sha256(data(made.drawn)).hexdigest())
            assert any(mime in cell_output.get("data", {}) for cell_output in book.cells[-3].outputs), "and it is shown"
            load.cache_clear()


@settings(deadline=None, max_examples=60)
@given(text=st.text(), name=st.text(), target=st.text(min_size=1))
def test_any_text_stays_what_it_was(text, name, target):
    """What the source loads, reads and looks at is what the look says, whatever the text holds."""
    info = SimpleNamespace(name=name)
    trace = SimpleNamespace(text=text, target=["start"], tokens=[], cut=0)
    seen = SimpleNamespace(options={"queries": (0, 3)})
    strange_look = SimpleNamespace(
        model=SimpleNamespace(info=info, at_most=None, weights=""),
        trace=trace,
        kind="cross",
        scope=seen,
        second=target,
        beginner=False,
    )
    source = looks_source(SimpleNamespace(looks=(strange_look,), takes=("trace", "seen")))
    source.encode()  # a notebook is UTF-8
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    texts = {
        ast.unparse(call.func): [ast.literal_eval(value) for value in call.args if isinstance(value, ast.Constant)]
        for call in calls
    }
    assert texts["models.load"] == [name]
    assert texts["model.trace"] == [text, target]


def test_what_cannot_be_written_down_is_refused():
    for value in (object(), float("nan"), np.arange(3), [lambda: 0]):
        with pytest.raises(ValueError, match="cannot be written"):
            literal(value)
    assert literal(np.int64(3)) == "3"


def test_a_text_that_was_cut_is_cut_in_the_notebook_too(look, place):
    model = load("writer")
    model.at_most = 8
    try:
        made = place("Head", look("writer", TEXT * 2))
        book = notebook(made, caption(made))
        assert made.looks[0].trace.cut and len(made.looks[0].trace.tokens) == 8
        model.at_most = None
        assert data(run(book)) == data(made.drawn)
    finally:
        model.at_most = None


def test_a_second_text_that_was_not_read_is_not_told_of():
    assert beside(models.load("writer").trace("The cat sat"), "left over") == ""


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize("options", [{}, {"special": False}, {"whole_words": True}, {"queries": (2, 5), "keys": (0, 3)}])
def test_a_csv_holds_the_weights_as_they_are(look, place, options):
    chosen_look = look("writer", **options)
    made = place("Head", chosen_look, every=True)
    weights, rows = chosen_look.scope[1], table(made)
    queries, keys = chosen_look.scope.queries, chosen_look.scope.keys
    seen = [(q, k) for q, group in enumerate(queries.groups) for k, other in enumerate(keys.groups) if other[0] <= group[-1]]
    assert len(rows) == weights.shape[0] * len(seen)
    first = [group[0] for group in queries.groups], [group[0] for group in keys.groups]
    for row in rows:
        q, k = first[0].index(int(row["from_position"])), first[1].index(int(row["to_position"]))
        assert np.float32(row["weight"]) == weights[int(row["head"]), q, k]
        assert (row["from_token"], row["to_token"]) == (cell(queries.tokens[q].text), cell(keys.tokens[k].text))


def test_a_csv_of_a_model_that_looks_both_ways_has_every_pair(look, place):
    chosen_look = look("BERT")
    rows = table(place("Head", chosen_look, every=True))
    weights = chosen_look.trace.attention["self"][1]
    assert len(rows) == weights.size
    np.testing.assert_array_equal(np.array([np.float32(row["weight"]) for row in rows]).reshape(weights.shape), weights)


def test_an_npz_holds_what_each_picture_shows(look, place):
    chosen_look = look("writer")
    attention = chosen_look.trace.attention["self"]
    np.testing.assert_array_equal(arrays(place("Head", chosen_look))["weights"], attention[1][[1]])
    np.testing.assert_array_equal(arrays(place("Head", chosen_look, every=True))["weights"], attention[1])
    np.testing.assert_array_equal(arrays(place("Heatmap", chosen_look))["weights"], attention[1][1])
    np.testing.assert_array_equal(
        arrays(place("Model", chosen_look))["weights"], np.stack([attention[i] for i in range(attention.layers)])
    )
    np.testing.assert_array_equal(arrays(place("Reading", chosen_look, shade="layer"))["weights"], attention[1].mean(0))
    np.testing.assert_allclose(
        arrays(place("Reading", chosen_look, shade="entropy"))["entropy_nats"], entropy(attention)[1, 1], rtol=1e-6
    )
    parts = arrays(place("Query-key", chosen_look, query=4))
    np.testing.assert_array_equal(parts["weight"], attention[1][1, 4])
    np.testing.assert_allclose((parts["k"] * parts["q"]).sum(-1), parts["raw"], rtol=1e-4, atol=1e-4)


def test_an_npz_says_what_it_is(look, place):
    arrays_in_npz = arrays(place("Head", look("T5", NASTY, kind="cross", target="the dog", whole_words=True)))
    about, cross_look = (
        json.loads(str(arrays_in_npz["metadata"])),
        look("T5", NASTY, kind="cross", target="the dog", whole_words=True),
    )
    assert about["texts"] == [NASTY, "the dog"] and about["attention"] == "cross" and about["options"]["whole_words"] is True
    assert about["arrays"]["weights"]["axes"] == ["head", "from", "to"] and (about["layer"], about["head"]) == (1, 1)
    rows = cross_look.scope.queries.tokens
    assert about["tokens"]["from_tokens"] == [token.after.text for token in rows] == list(arrays_in_npz["from_tokens"])
    assert about["tokens"]["choosing_tokens"] == [token.text for token in rows] == list(arrays_in_npz["choosing_tokens"])
    assert (rows[0].text, rows[1].after.text, rows[1].text) == ("the", "the", " dog"), "a word stands for the rows that chose it"
    assert list(arrays_in_npz["to_positions"]) == [group[0] for group in cross_look.scope.keys.groups]


def test_query_and_key_stand_in_one_table(look, place):
    chosen_look = look("writer")
    made = place("Query-key", chosen_look, query=4)
    rows, parts = table(made), made.numbers()
    assert len(rows) == parts["k"].size
    for row in rows:
        key, dimension = int(row["to_position"]), int(row["dimension"])
        assert np.float32(row["k"]) == parts["k"][key, dimension] and np.float32(row["q"]) == parts["q"][dimension]
        assert np.float32(row["weight"]) == parts["weight"][key]


def large(heads: int, count: int, layers: int = 2) -> Look:
    """Attention of random rows that look both ways."""
    weights = np.random.default_rng(0).dirichlet(np.ones(count), (layers, heads, count)).astype(np.float32)
    tokens = load("writer").tokenize("a " * (count - 1))[:count]
    attention = Attention.from_arrays(weights, tokens, tokens)
    info = models.ModelInfo("x", "encoder", layers, heads, heads, 8, 10, None, 100, "")
    trace = SimpleNamespace(text="a", attention={"self": attention}, target=[], tokens=tokens, cut=0)
    return Look(SimpleNamespace(info=info, at_most=None, weights=""), trace, "self", "expert", picked=(1, 2))


def test_too_many_rows_for_a_spreadsheet_are_those_of_the_chosen_head(place, monkeypatch):
    large_look = large(heads=4, count=12)
    weights = large_look.trace.attention["self"]
    made = place("Model", large_look)
    monkeypatch.setattr(files, "MOST_ROWS", 12 * 12)
    rows = table(made)
    assert {(row["layer"], row["head"]) for row in rows} == {("1", "2")}
    np.testing.assert_array_equal([np.float32(row["weight"]) for row in rows], weights[1][2].ravel())
    assert files.left_out(files.numbers(made), large_look).startswith("CSV: L1 H2 only")
    monkeypatch.setattr(files, "MOST_ROWS", 4 * 12 * 12)
    assert {(row["layer"], row["head"]) for row in table(made)} == {("1", str(head)) for head in range(4)}
    monkeypatch.setattr(files, "MOST_ROWS", 50)
    weights_in_csv = sorted((np.float32(row["weight"]) for row in table(made)), reverse=True)
    np.testing.assert_array_equal(weights_in_csv, np.sort(weights[1][2].ravel())[::-1][:50])
    assert "the 50 largest" in files.left_out(files.numbers(made), large_look)
    monkeypatch.setattr(files, "MOST_NUMBERS", 4 * 12 * 12)
    arrays_in_npz = arrays(made)
    np.testing.assert_array_equal(arrays_in_npz["weights"], weights[1][None])
    assert json.loads(str(arrays_in_npz["metadata"]))["arrays"]["weights"]["layer"] == [1]


def test_what_fits_is_all_there(place):
    assert files.left_out(files.numbers(place("Model", large(2, 5))), large(2, 5)) == ""


@given(st.text())
def test_a_token_is_never_a_formula_and_comes_back(text):
    shown = cell(text)
    assert not re.match(r"[\s\u200b-\u200f\u2060-\u2064\ufeff\xad]*[=+\-@]", shown)
    shown.encode()
    back = re.sub(r"(?<![^;\t\r\n])'", "", shown)
    assert back == text.replace("\0", "\u2400").encode("utf-8", "replace").decode()


@pytest.mark.parametrize("sign", "=+-@＝＋－＠﹦﹢﹣﹫")
@pytest.mark.parametrize(
    "before", ["", " ", "\t", "\u200b", "\ufeff", "\u2060\u00ad", "\ue000", "\x07", "\ufe0f", "\u3164", "\u2800", "\u0301"]
)
def test_a_formula_behind_invisible_signs_is_text_too(before, sign):
    assert cell(f"{before}{sign}1+1") == f"'{before}{sign}1+1".replace("\t", "\t'")


@pytest.mark.parametrize("sign", "=+-@＝'")
@pytest.mark.parametrize("end", [";", "\t", "\n", "\r\n", '"";'])
def test_no_formula_begins_where_a_spreadsheet_of_another_country_ends_a_cell(end, sign):
    assert cell(f"a{end} {sign}1+1{end}") == f"a{end}' {sign}1+1{end}"


@pytest.mark.parametrize("separator", ",;\t")
@given(st.text("=a1 \"';\t\r\n,"))
def test_no_cell_is_a_formula_whatever_separates_cells_and_however_a_token_is_quoted(separator, text):
    line = '0,"{}",1'.format(cell(text).replace('"', '""'))
    for row in reader(io.StringIO(line, newline=""), delimiter=separator):
        assert not any(re.match(r"\s*[=+\-@]", part) for part in row)


def test_a_token_as_long_as_a_book_is_cut_where_many_rows_and_cells_have_it(monkeypatch, place):
    item, long = large(heads=4, count=12), "x" * 100_000
    tokens = [replace(token, text=long if i == 5 else token.text) for i, token in enumerate(item.trace.tokens)]
    attention = Attention.from_arrays(np.stack([item.trace.attention["self"][layer] for layer in range(2)]), tokens, tokens)
    item = replace(item, trace=SimpleNamespace(**vars(item.trace) | {"attention": {"self": attention}, "tokens": tokens}))
    made = place("Model", item)
    monkeypatch.setattr(files, "MOST_CHARACTERS", 2**18)
    rows = table(made)
    assert {row["from_token"] for row in rows} == {*(token.text for token in tokens if token.text != long), "x" * 226 + "…"}
    monkeypatch.setattr(files, "MOST_IN_ARRAY", 2**13)
    saved = arrays(made)
    assert saved["from_tokens"].nbytes <= 4 * 2**13 and saved["from_tokens"][5] == "x" * 681 + "…"
    assert json.loads(str(saved["metadata"]))["tokens"]["from_tokens"][5] == long, "all of it once"


def test_tokens_with_quotes_and_line_breaks_read_back(look, place):
    chosen_look = look("writer", '=cmd "a",\n\nb;\t\'x')
    rows = table(place("Heatmap", chosen_look))
    assert {row["from_token"] for row in rows} == {cell(token.text) for token in chosen_look.scope.queries.tokens}
    assert any(token.text.startswith("=") for token in chosen_look.scope.queries.tokens), "or this shows nothing"


def test_names_of_heads_are_those_of_the_model():
    array = Numbers(np.zeros((2, 1, 1)), ("head", "from", "to"), {"head": [3, 7]})
    made = SimpleNamespace(look=None, numbers=lambda: {"weights": array})
    assert files.numbers(made)["weights"].at("head", 1).name("head", 0) == 7


# ---------------------------------------------------------------- words


def test_a_caption_says_model_text_layer_head_and_options(look, place):
    made = place("Query-key", look("writer"), query=3)
    words = str(caption(made))
    for part in ("writer", "decoder", TEXT, "L1 H1", "token 3", "gave"):
        assert part in words
    words = str(caption(place("Head", look("T5", kind="cross", target="the dog", whole_words=True))))
    assert "a T5 'model' (" in words and "/a T5" not in words, "and not where on a disk it stands"
    assert "cross L1" in words and "whole words" in words and "“the dog”" in words
    words = str(caption(place("Query-key", look("T5", kind="cross", target="the dog"), query=1)))
    assert re.search(r"after “\w+”, choosing “\w+” \(row 1\)", words)
    assert all("L1 H1" in str(caption(place("Head", look("writer"), level))) for level in ("beginner", "expert"))


def test_the_head_view_opens_with_the_chosen_head_alone_and_keeps_those_that_were_switched_on(look, place):
    """A layer of eight heads is 631 lines, of which nobody reads one."""
    chosen_look = look("writer")
    assert place("Head", chosen_look).options["heads"] == [chosen_look.head]
    made = place("Head", chosen_look, heads=(1, 3), of_head=chosen_look.head)
    assert made.options["heads"] == [1, 3] and "L1 H1 and H3" in str(caption(made))
    weights = files.numbers(made)["weights"]
    np.testing.assert_array_equal(weights.values, chosen_look.scope[chosen_look.layer][[1, 3]])
    assert [weights.name("head", i) for i in range(2)] == [1, 3]
    assert "L1, all heads" in str(caption(place("Head", chosen_look, heads=tuple(range(8)), of_head=chosen_look.head)))
    beside_another = place("Head", chosen_look, heads=(1, 3), of_head=chosen_look.head + 1)
    assert beside_another.options["heads"] == [chosen_look.head], "these were switched on beside another head"


def test_beginners_get_the_head_view_with_heads_and_threshold_alone(look, place):
    assert place("Head", look("writer"), "beginner").options["simple"] and "simple" not in place("Head", look("writer")).options


@given(st.text())
def test_a_file_name_is_one_that_every_system_takes(text):
    assert re.fullmatch(r"([A-Za-z0-9.][A-Za-z0-9.\-]*)?", slug(text)) and not slug(text).startswith(".")


@pytest.mark.parametrize(
    ("chosen", "screen", "dark"),
    [("screen", "light", False), ("screen", "dark", True), ("light", "dark", False), ("dark", "light", True)],
)
def test_the_page_of_a_figure_has_the_colours_on_screen_or_those_that_are_chosen(look, place, monkeypatch, chosen, screen, dark):
    made = place("Heatmap", look("writer"))
    about = caption(made)
    monkeypatch.setattr(streamlit, "session_state", {"taken-colours": chosen})
    monkeypatch.setattr(streamlit, "context", SimpleNamespace(theme=SimpleNamespace(type=screen)))
    assert take_away.is_dark() is dark
    whole = take_away.page(made, about, dark)
    ours, other = (DARK, LIGHT) if dark else (LIGHT, DARK)
    assert f"background: {ours['paper']}" in whole and f"background: {other['paper']}" not in whole
    end, other_end = (sequential(theme["accent"])[-1][1] for theme in (ours, other))
    assert end in whole and other_end not in whole, "the scale of the weights too"
