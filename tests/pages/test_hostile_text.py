"""Whatever a visitor takes away of a model whose name and tokens are an attack holds them as text, in each kind of file."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np
import plotly.graph_objects as go
import pytest
import torch
import transformers as T
from markdown_it import MarkdownIt

import models
from analysis.projector import projector_files
from tests.grids import grid
from tests.models.networks import GPT, tokenizer
from tests.node import printed
from tests.pages.taking import arrays, offered
from ui.memory import loaded
from ui.picture import files, take_away
from ui.picture.caption import caption
from ui.picture.notebook import notebook, recipe_source
from ui.picture.picture import Caption, Picture
from viz.view import View
from viz.views.export import figure_page, table_page

ATTACKS = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "<img src=x onerror=alert(1)>",
    "]]></title>",
    "&lt;b&gt;",
    "{{7*7}}{0}%s",
    "%{nowhere}",
    '"""\nimport os\nos.abort()\n',
    "'); import os; os.abort(); ('",
    "\n```\n<b>",
    "[x](javascript:alert(1))",
    "=cmd|' /C calc'!A0",
    "a;=1+1;",
    "b\t@SUM(1)",
    "c\n-2+3",
    "\u2028\u2029",
    "\x00",
    "\u202eabc\u2066",
]
NAME = '<img src=x onerror=alert(1)> {{7*7}} ```"""` \'model\''
MADE = re.compile(r"<br>|<extra></extra>|<span style='font-size:10px'>|</span>|</?b>|</?i>")  # what figures of ours say in HTML
CALLED = {"models.load", "model.trace", "scope", "dict", "np.load", "io.BytesIO", "base64.b64decode", "replace", "plain_signs"}
IMPORTED = {"models", "analysis", "dataclasses", "viz.tokens", "base64", "io", "numpy"}
FORMULA, NUMBER = r"[\s\u200b-\u200f\u2060-\u2064\ufeff\xad]*[=+\-@]", r"-?[\d.]+(e-?\d+)?"
MARKDOWN = {"heading", "paragraph", "inline", "text", "text_special", "code_inline", "fence"}
LINKS = [
    ("type", "level=expert"),
    ("attention", "level=expert&view=Head"),
    ("attention", "level=expert&view=Reading"),
    ("attention", "level=expert&view=Heatmap"),
    ("attention", "level=expert&view=Query-key"),
    ("attention", "level=expert&view=Model"),
    ("attention", "level=expert&view=BertViz"),
    ("layers", "level=expert&part=Evolution"),
    ("layers", "level=expert&part=Statistics"),
    ("layers", "level=expert&part=Lens"),
    ("flow", "level=expert"),
    ("flow", "level=expert&show=Streams"),
    ("flow", "level=expert&show=Layer+by+layer"),
    ("space", "level=expert&space=Tokens"),
    ("space", "level=expert&space=One+word"),
    ("space", "level=expert&space=Vocabulary"),
    ("inside", "level=expert&stage=weights"),
    ("inside", "level=expert&stage=choice"),
    ("inside", "level=expert&stage=ids"),
    ("inside", "level=expert&stage=tokens"),
    ("inside", "level=expert&stage=order"),
    ("explain", "level=expert&explain-by=Integrated+gradients"),
    ("change", "level=expert&changes=h2.3"),
    ("change", "level=expert&experiment=Steer"),
    ("change", "level=expert&experiment=What+wrote+it"),
    ("change", "level=expert&experiment=Two+texts&other-text={other}"),
    ("heads", "level=expert"),
    ("generate", "level=expert&generate-said=14-310"),
    ("build", "level=expert&build=Masks"),
    ("build", "level=expert&build=Architecture"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A model with this name, whose vocabulary has the attacks as tokens."""
    folder = tmp_path_factory.mktemp("models") / NAME
    words = tokenizer("decoder")
    words.add_tokens([T.AddedToken(text, normalized=False) for text in ATTACKS])
    torch.manual_seed(0)
    T.GPT2LMHeadModel(T.GPT2Config(**GPT | {"vocab_size": len(words)})).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


@pytest.mark.parametrize(("page", "link"), grid(LINKS, LINKS[::10]))
def test_all_that_is_taken_away_of_a_page_holds_the_attack_as_text(monkeypatch, folder, page, link):
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", str(folder.parent))
    loaded.model(str(folder))
    text = "The cat" + "".join(ATTACKS) + " sat"
    link = link.format(other=quote(text.replace("cat", "dog")))
    pictures = offered(monkeypatch, page, f"{link}&model={quote(str(folder))}&text={quote(text)}").values()
    assert pictures
    for picture in pictures:
        about = caption(picture)
        assert_page_is_ours(picture, about)
        if isinstance(picture.drawn, str):
            continue  # BertViz’s page is the only file of it
        assert_notebook_is_ours(picture, about)
        assert_no_formula(picture, about)
        assert json.loads(str(arrays(picture)["provenance"])) == about.where


class Reader(HTMLParser):
    """Counts the elements of a page, by name and names of attributes, and keeps its scripts, its title and its caption."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: Counter[tuple[str, ...]] = Counter()
        self.scripts: list[str] = []
        self.texts = {"title": "", "p": ""}
        self.inside = ""

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.elements[tag, *(name for name, _ in attributes)] += 1
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            self.scripts[-1] += data
        elif self.inside in self.texts:
            self.texts[self.inside] += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page.encode().decode())
    reader.close()
    return reader


def assert_page_is_ours(picture: Picture, about: Caption) -> None:
    """The page has the elements of one that shows nothing; what the attack says is data of its script, or text."""
    drawn, whole = picture.drawn, read(take_away.page(picture, about))
    assert whole.texts["p"].endswith(str(about))
    if isinstance(drawn, str):  # BertViz’s own page
        assert whole.elements["script",] == 3 and not whole.elements.keys() & {("img", "src", "onerror"), ("b",)}
        assert not any(attack in drawn for attack in ATTACKS if "<" in attack)
        return
    if isinstance(drawn, View):
        empty, title = replace(drawn, data=b"", label="").to_html("empty"), drawn.label
    elif isinstance(drawn, go.Figure):
        assert_labels_are_ours(drawn)
        empty, title = figure_page(go.Figure(), "", ""), about.title
    else:
        empty, title = table_page(drawn.iloc[:0], "", ""), about.title
        assert whole.elements.pop(("td",)) == drawn.size and whole.elements.pop(("tr",)) == len(drawn)
    other = read(take_away.as_meta(empty, {}))
    assert whole.elements == other.elements
    assert [script.count("<") for script in whole.scripts] == [script.count("<") for script in other.scripts]
    assert whole.texts["title"] == title


def assert_labels_are_ours(figure: go.Figure) -> None:
    """Plotly reads a little HTML in all texts, and places of values in templates: both are ours alone."""
    for name, words in strings(json.loads(figure.to_json())):
        assert "<" not in MADE.sub("", words) and not (name.endswith("template") and "nowhere" in words), words


def strings(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """The texts in a figure, and what each is called."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for inner, part in value.items():
            yield from strings(part, inner)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part, name)


def assert_notebook_is_ours(picture: Picture, about: Caption) -> None:
    """Its code calls and imports what we call and import, with the text as a literal; its words hold no markup of the text."""
    cells = json.loads(notebook(picture, about))["cells"]
    (recipe, *code), words = ([cell["source"] for cell in cells if cell["cell_type"] == kind] for kind in ("code", "markdown"))
    assert recipe == recipe_source(picture.recipe) and not any(attack in recipe for attack in ATTACKS)
    nodes = [node for source in code for node in ast.walk(ast.parse(source))]
    calls = [(ast.unparse(node.func), [*map(ast.unparse, node.args)]) for node in nodes if isinstance(node, ast.Call)]
    assert {name for name, _ in calls} <= {*CALLED, picture.recipe.__name__}
    assert {node.module for node in nodes if isinstance(node, ast.ImportFrom)} <= IMPORTED
    assert {part.name for node in nodes if isinstance(node, ast.Import) for part in node.names} <= IMPORTED
    assert {args[0] for name, args in calls if name == "models.load"} == {repr(look.model.info.name) for look in picture.looks}
    read_texts = {args[0] for name, args in calls if name == "model.trace"}
    assert read_texts <= {repr(look.trace.text) for look in picture.looks} and bool(read_texts) == (
        bool(picture.looks) and bool({"trace", "seen"} & {*picture.takes})
    )
    parts = [part for cell in words for block in MarkdownIt().parse(cell) for part in (block, *(block.children or ()))]
    assert {re.sub("_(open|close)$", "", part.type) for part in parts} <= MARKDOWN, "no HTML, link, picture or code of the text"
    assert [part.content for part in parts if part.type == "code_inline"] in ([], ["app.py"])
    heading, caption, *_ = (part for part in parts if part.type == "inline")
    assert plain_text(heading) == " ".join(about.title.split()) and plain_text(caption) == " ".join(str(about).split())


def plain_text(inline) -> str:
    return "".join(part.content for part in inline.children).replace("\ufffd", "\0")  # which Markdown has for it


def assert_no_formula(picture: Picture, about: Caption) -> None:
    """No cell is a formula, whichever sign a spreadsheet takes for the end of a cell, and each token is there."""
    written = files.csv(picture, about).decode("utf-8-sig")
    for separator in ",;\t":
        for row in csv.reader(io.StringIO(written, newline=""), delimiter=separator):
            assert not [text for text in row if re.match(FORMULA, text) and not re.fullmatch(NUMBER, text)], separator


def test_a_title_of_an_svg_holds_the_attack_as_text():
    """A title, a caption and words of a picture are written by these two functions."""
    texts = [*ATTACKS, NAME, "\x00\ud800\ufffe", "x" * 100_000]
    script = f"""import {{ safe, tag }} from "./views/export/pen.js";
for (const text of {json.dumps(texts)}) console.log(JSON.stringify(tag("desc", {{ words: text }}, safe(text))));"""
    for text, line in zip(texts, printed(script).strip().split("\n"), strict=True):
        element = ElementTree.fromstring(json.loads(line))
        legal = re.sub("[\x00\ud800\ufffe]", "\ufffd", text)
        assert element.text == legal and not len(element)
        assert element.get("words") == re.sub(r"[\t\n]", " ", legal), "XML has spaces for them in an attribute"


def test_a_saved_trace_and_the_files_for_the_projector_hold_the_attack_as_text(folder, tmp_path):
    model = models.load(str(folder))
    trace = model.trace("".join(ATTACKS) + "\ud800")
    trace.save(tmp_path / "trace")
    opened = models.load_trace(tmp_path / "trace")
    assert (opened.text, opened.tokens, opened.info) == (trace.text, trace.tokens, model.info)
    texts = [*ATTACKS, "\ud800"]
    lines = projector_files(np.zeros((len(texts), 2)), {"token": texts})["metadata.tsv"].decode().splitlines()
    assert len(lines) == len(texts) and not any("\t" in line for line in lines)
