"""Every file that is taken away says where it comes from, and what it says can be checked."""

from __future__ import annotations

import csv as reader
import hashlib
import io
import json
import re
import shutil
from functools import cache
from html.parser import HTMLParser
from importlib.metadata import version
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import nbformat
import numpy as np
import pandas as pd
import pytest
import streamlit
from hypothesis import given
from hypothesis import strategies as st

import models
from analysis import scope
from models.catalog import WEIGHTS
from models.scratch.model_folder import from_folder
from models.version import VERSION
from pages.attention import recipes
from tests.models.networks import network, tokenizer
from ui import state
from ui.look import Look
from ui.picture import files, take_away
from ui.picture.caption import caption
from ui.picture.notebook import notebook
from ui.picture.picture import Picture
from ui.picture.provenance import MOST_IN_CELL, as_cell, as_json, as_meta, provenance

NASTY = '=1+1;=2 , "x" ##ing # </script>\'"><meta>\n\n```\n🐕 \ud800'
load = cache(models.load)


def picture(recipe=recipes.head_lines, text: str = NASTY) -> Picture:
    model = load("writer")
    trace = model.trace(text)
    seen = scope(trace.attention["self"])
    options = (
        {"layer": 1, "heads": [2], "chosen": None}
        if recipe is recipes.head_lines
        else {"layer": 1, "head": 2, "causal": True, "title": ""}
    )
    return Picture(
        recipe, (Look(model, trace, "self", "expert", picked=(1, 2)),), options, "head-view", lambda: {"weights": seen[1][[2]]}
    )


@pytest.fixture
def where() -> dict:
    return provenance((load("writer"), load("writer").trace(NASTY)))


def test_what_is_said_is_true(where):
    file = WEIGHTS / "writer" / "model.safetensors"
    assert (
        where["headlight"] == VERSION and where["torch"] == version("torch") and where["transformers"] == version("transformers")
    )
    assert where["models"] == [
        {"name": "writer", "weights": f"SHA-256 {hashlib.sha256(file.read_bytes()).hexdigest()}", "dtype": "float32"}
    ]
    (text,) = where["texts"]
    assert text["text"] == NASTY and text["left_out"] == 0
    assert text["token_ids"] == [token.id for token in load("writer").trace(NASTY).tokens]
    assert json.loads(as_json(where)) == where and as_json(where).isascii()


def test_two_models_and_a_target_are_all_told():
    translator = load("translator")
    origin = provenance((load("writer"), load("writer").trace("The cat")), (translator, translator.trace("A cat.", "Un chat")))
    assert [model["name"] for model in origin["models"]] == ["writer", "translator"]
    assert origin["texts"][1]["target_ids"] == [token.id for token in translator.trace("A cat.", "Un chat").target]
    assert provenance((load("writer"), None))["texts"] == []


def test_weights_are_known_by_what_anybody_can_ask_of_the_files(tmp_path):
    network("BERT").save_pretrained(tmp_path, max_shard_size="20KB")
    tokenizer("encoder").save_pretrained(tmp_path)
    files = sorted(tmp_path.glob("*.safetensors"))
    assert len(files) > 1
    lines = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    assert models.load(str(tmp_path)).weights == f"SHA-256 {hashlib.sha256(lines.encode()).hexdigest()}"


@pytest.mark.parametrize("kind", ["ours", "transformers"])
@pytest.mark.parametrize("what", ["the same", "gone", "changed", "changed, of one size", "asked for before it went"])
def test_weights_are_not_told_of_a_file_that_is_not_what_was_read(tmp_path, kind, what):
    folder = tmp_path / "mine"
    if kind == "ours":
        shutil.copytree(WEIGHTS / "writer", folder)
        model = from_folder(folder)
    else:
        network("BERT").save_pretrained(folder)
        tokenizer("encoder").save_pretrained(folder)
        model = models.load(str(folder))
    file = folder / "model.safetensors"
    digest = f"SHA-256 {hashlib.sha256(file.read_bytes()).hexdigest()}"
    words = {"the same": digest, "gone": "unknown: the file model.safetensors cannot be read any more"}
    words["asked for before it went"] = model.weights if what == "asked for before it went" else ""
    if what in ("gone", "asked for before it went"):
        file.unlink()
    elif what != "the same":
        before = file.stat()
        file.write_bytes(b"\0" * before.st_size + b"\0" * (what == "changed"))
        assert file.stat().st_mtime_ns != before.st_mtime_ns
    assert model.weights == words.get(what, "unknown: the file model.safetensors has changed since the model was loaded")
    assert what != "asked for before it went" or model.weights == digest
    assert str(tmp_path) not in model.weights


def test_a_model_loads_without_a_digest_of_its_files(monkeypatch):
    asked = []
    real = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda *given: asked.append(given) or real(*given))
    model = models.load("writer")
    model.predict("The cat")
    assert not asked
    assert model.weights == model.weights and len(asked) == 1, "it is read once"


def test_a_path_on_the_disk_is_not_told(tmp_path):
    network("BERT").save_pretrained(tmp_path / "mine")
    tokenizer("encoder").save_pretrained(tmp_path / "mine")
    model = models.load(str(tmp_path / "mine"))
    assert str(tmp_path) not in as_json(provenance((model, model.trace("the cat"))))


@pytest.mark.parametrize("recipe", [recipes.head_lines, recipes.one_head], ids=["view", "figure"])
def test_a_page_has_it_in_its_head(recipe, where):
    made = picture(recipe)
    page = take_away.page(made, caption(made))
    assert metas(page) == [where] and page.encode(), "half of a character, which UTF-8 has not, stops no file"


def test_a_page_of_its_own_has_it_too(where):
    made = picture(lambda trace, seen, **options: '<html><head><meta charset="utf-8"></head><body>BertViz</body></html>')
    assert metas(take_away.page(made, caption(made))) == [where]


def metas(page: str) -> list[dict]:
    results = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            if tag == "meta" and ("name", "provenance") in attributes:
                results.append(json.loads(dict(attributes)["content"]))

    Reader().feed(page)
    return results


def test_a_csv_has_it_in_its_first_row_and_any_program_reads_the_table(where):
    made = picture()
    written = files.csv(made, caption(made))
    table = pd.read_csv(io.BytesIO(written), keep_default_na=False)
    tokens = [files.cell(token.text) for token in load("writer").trace(NASTY).tokens]
    assert list(dict.fromkeys(table["from_token"])) == list(dict.fromkeys(tokens))
    assert list(table)[-1] == "provenance" and json.loads(table["provenance"][0]) == where
    assert set(table["provenance"][1:]) == {""}


@given(st.text())
def test_no_cell_of_it_is_a_formula_whatever_separates_cells(text):
    origin = {"headlight": VERSION, "texts": [{"text": text, "token_ids": [1, 2]}], "address": ""}
    written = as_cell(origin)
    assert json.loads(written) == origin and len(written.splitlines()) == 1
    for separator in ",;\t":
        for row in reader.reader(io.StringIO(f'1,"{written.replace(chr(34), 2 * chr(34))}"', newline=""), delimiter=separator):
            assert not any(re.match(r"\s*[=+\-@]", cell) for cell in row)


def test_a_cell_has_room_for_it_however_long_the_text_is():
    origin = {"headlight": VERSION, "texts": [{"text": "é" * 9000, "token_ids": [1] * 9000}], "address": "http://x/?text=é"}
    written = as_cell(origin)
    assert len(written) < MOST_IN_CELL
    assert json.loads(written) == {"headlight": VERSION, "texts": [{"characters": 9000, "tokens": 9000}], "address": ""}


def test_an_npz_has_it(where):
    made = picture()
    with np.load(io.BytesIO(files.npz(made, caption(made))), allow_pickle=False) as numbers:
        assert json.loads(str(numbers["provenance"])) == where


def test_a_notebook_has_it_in_a_cell_and_in_its_metadata(where):
    made = picture()
    book = nbformat.reads(notebook(made, caption(made)), as_version=4)
    nbformat.validate(book)
    assert book.metadata["headlight"] == where
    last = book.cells[-1]
    assert last.cell_type == "markdown"
    inside = re.fullmatch(r".*?^```json\n(.*?)\n```", last.source, flags=re.DOTALL | re.MULTILINE)[1]
    assert json.loads(inside) == where, "a text cannot end the block"


def test_what_a_reader_of_a_notebook_sees_first_is_its_result():
    """The code that leads to it is folded, in JupyterLab and in Jupyter Book."""
    made = picture()
    code = [each for each in nbformat.reads(notebook(made, caption(made)), as_version=4).cells if each.cell_type == "code"]
    assert len(code) > 1 and "picture" in code[-1].source and not code[-1].metadata
    for each in code[:-1]:
        assert each.metadata["jupyter"]["source_hidden"] and "hide-input" in each.metadata["tags"]


def test_png_and_svg_get_it_with_the_view(where):
    caption_text = caption(picture())
    view = take_away.export_view("key", caption_text.stem, caption_text.title, str(caption_text), as_json(caption_text.where))
    header = json.loads(view.data[4 : 4 + int.from_bytes(view.data[:4], "little")])
    assert json.loads(header["provenance"]) == where


def test_the_address_is_that_of_the_view(monkeypatch):
    query = SimpleNamespace(to_dict=lambda: {"level": "expert", "text": "old", "layer": "L2"})
    monkeypatch.setattr(streamlit, "context", SimpleNamespace(url="http://localhost:8501/attention?x=1"))
    monkeypatch.setattr(streamlit, "query_params", query)
    monkeypatch.setattr(streamlit, "session_state", {"text": "a & b"})
    assert provenance()["address"] == "http://localhost:8501/attention?level=expert&text=a+%26+b&layer=L2"


def test_the_address_says_text_and_model_also_where_nobody_chose_them(monkeypatch):
    monkeypatch.setattr(streamlit, "context", SimpleNamespace(url="http://localhost:8501/build"))
    monkeypatch.setattr(streamlit, "query_params", SimpleNamespace(to_dict=dict))
    monkeypatch.setattr(streamlit, "session_state", {"text": state.DEFAULT_TEXT, "in-use": "writer"})
    asked = dict(parse_qsl(urlsplit(provenance()["address"]).query))
    assert asked == {"model": "writer", "text": state.DEFAULT_TEXT}


def test_a_diagram_says_whose_tokens_give_it_its_lengths():
    trace = load("writer").trace("The cat")
    made = Picture(lambda: None, (), {}, "x", dict, title="Architecture", counted=Look(load("writer"), trace, "self", "expert"))
    caption_text = caption(made)
    assert caption_text.where["texts"][0]["text"] == "The cat" and caption_text.where["models"][0]["name"] == "writer"
    assert str(caption_text) == "Architecture. Text: “The cat”. Shown: lengths in tokens of writer. Made with Headlight."


def test_a_page_without_a_place_for_it_stays_as_it_is():
    assert as_meta("<p>", {}) == "<p>"
