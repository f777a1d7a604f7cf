"""README and docs/: their Python runs, their links resolve, and what README says of the app is true of it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np
import pytest
from packaging.requirements import Requirement

import models
from models.edits import Head
from models.version import VERSION
from tests.models.classifiers import saved
from tests.models.huggingface.folders import save
from tests.models.networks import network
from tests.pages.opening import open_link
from tests.serving import ROOT
from ui import menu, state
from viz import percent

DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted((ROOT / "docs").glob("*.md"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
CODE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$", re.MULTILINE | re.DOTALL)
APP = "http://localhost:8501"


def python_blocks(file: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", file.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


README_BLOCKS, PYTHON_BLOCKS = python_blocks(ROOT / "README.md"), python_blocks(ROOT / "docs" / "python.md")


def run(blocks: list[str], names: dict[str, object]) -> None:
    """Run the blocks statement by statement in one namespace; fail with the line that does not run."""
    for block in blocks:
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            try:
                exec(compile(ast.Module([statement], []), "documented lines", "exec"), names)
            except Exception as error:
                source = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
                pytest.fail(f"{source}\n{type(error).__name__}: {error}")


@pytest.mark.thorough
def test_every_line_for_a_notebook_in_python_md_runs(tmp_path, monkeypatch):
    """It takes twenty seconds: it runs all that the guide shows, which opens models, trains one and finds a circuit."""
    folders = {"gpt2": save(network("GPT-2"), tmp_path / "hub"), "owner/classifier": saved("BERT", tmp_path / "classifier")}
    monkeypatch.chdir(tmp_path)
    blocks = PYTHON_BLOCKS
    for name, folder in folders.items():  # these stand in for what is on the Hub
        blocks = [block.replace(f'"{name}"', repr(str(folder))) for block in blocks]
    names: dict[str, object] = {}
    run(blocks, names)
    assert len(names) > 60 and (tmp_path / "cat.safetensors").is_file()


def test_the_notebook_in_readme_runs_and_draws():
    (block,) = README_BLOCKS
    assert len([line for line in block.splitlines() if line.strip()]) == 8
    names: dict[str, object] = {}
    run([block], names)
    last = eval(block.splitlines()[-1], names)
    assert "</html>" in last.to_html() and len(names["lens"])


def test_results_in_comments_are_the_results():
    """`names()` and such: the value that stands behind a line."""
    values = re.findall(r"^models\.names\(\)  # (.*)$", "\n".join(PYTHON_BLOCKS), re.MULTILINE)
    assert [ast.literal_eval(value) for value in values] == [models.names()]


def test_readme_is_one_page():
    assert len(README.encode("utf-8")) <= 9000
    assert not [line for line in README.splitlines() if len(line) > 150]


def test_each_page_of_the_app_has_its_line_in_readme_and_its_part_in_pages_md():
    rows = re.findall(r"^\| \[(\w+)\]\(docs/pages\.md#(\w+)\) \| (.+) \|$", README, re.MULTILINE)
    assert [title for title, _, _ in rows] == list(menu.TITLES.values()), "in the order of the menu"
    assert [anchor for _, anchor, _ in rows] == list(menu.TITLES)
    assert not {title: words for title, _, words in rows if len(words.split()) > 12}
    assert set(menu.TITLES) <= anchors(ROOT / "docs" / "pages.md")


@cache
def anchors(file: Path) -> frozenset[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    text = CODE.sub("", file.read_text(encoding="utf-8"))
    headings = re.findall(r"^#{1,6} +(.+?) *$", text, re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings)
    return frozenset(re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in plain)


def links(text: str) -> list[str]:
    """The targets of a document's links, pictures and reference definitions."""
    text = re.sub(r"`[^`\n]*`", "", CODE.sub("", text))
    return re.findall(r"\]\(([^()\s]+)\)", text) + re.findall(r"^\[[^\]]+\]: (\S+)$", text, re.MULTILINE)


def broken(file: Path, text: str) -> list[str]:
    """The relative links of a document that lead nowhere: no such file, or no such heading in it."""
    wrong = []
    for link in links(text):
        url = urlsplit(link)
        if url.scheme:
            continue
        target = (file.parent / unquote(url.path)).resolve() if url.path else file
        is_ours = target.exists() and target.is_relative_to(ROOT)
        if not is_ours or (url.fragment and url.fragment not in anchors(target)):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_every_relative_link_leads_somewhere(file):
    text = file.read_text(encoding="utf-8")
    assert not broken(file, text)
    unknown = set(re.findall(r"\]\[([^\]]+)\]", CODE.sub("", text))) - set(re.findall(r"^\[([^\]]+)\]: ", text, re.MULTILINE))
    assert not unknown, "a reference without its definition"


def test_a_link_that_leads_nowhere_would_be_noticed():
    text = "[a](docs/none.md) [b](docs/pages.md#none) [c](#start) [d](https://example.org/x) `[e](f)`\n\n[g]: docs/none.webp\n"
    assert broken(ROOT / "README.md", text) == ["docs/none.md", "docs/pages.md#none", "docs/none.webp"]


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_files_and_scripts_that_a_document_names_are_there(file):
    text = file.read_text(encoding="utf-8")
    if file.name not in ("CHANGELOG.md", "extending.md", "glossary.md"):  # history; what is to be written; patterns of names
        named = re.findall(r"`((?:models|analysis|viz|ui|pages|bin|tests|lessons|docs)/[\w/.-]+\.(?:py|md|js|css|toml))`", text)
        assert not [name for name in named if not (ROOT / name).exists()]
    scripts = set(re.findall(r"\bbenchmarks\.([a-z_]+)", text)) - {"md"}
    assert not [name for name in scripts if not (ROOT / "benchmarks" / f"{name}.py").is_file()]


def test_every_benchmark_that_can_be_run_is_in_benchmarks_md():
    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    scripts = [file.stem for file in (ROOT / "benchmarks").glob("*.py") if "__main__" in file.read_text(encoding="utf-8")]
    assert len(scripts) > 10 and not [name for name in scripts if f"| `benchmarks.{name}` |" not in text]


@pytest.mark.parametrize(
    "name",
    ["requirements.txt", "requirements-dev.txt", "requirements-docs.txt", "requirements-processes.txt", "requirements-ray.txt"],
)
def test_every_pinned_package_has_its_reason(name):
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    reasons = dict(re.findall(r"^\| ([\w-]+)(?: \([^)]*\))? \| (.+) \|$", text, re.MULTILINE))
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pins = {Requirement(line).name for line in lines if line.strip() and not line.startswith(("-r", "#"))}
    assert pins and not pins - reasons.keys()
    others = (file.read_text(encoding="utf-8").lower() for file in (*ROOT.glob("requirements*.txt"), ROOT / "package.json"))
    known = "\n".join(others)
    assert not [package for package in reasons if package != "package" and f"{package.lower()}" not in known], "needed no more"


def test_the_wheel_that_documents_name_has_this_version():
    for file in DOCUMENTS:
        if file.name != "CHANGELOG.md":
            assert set(re.findall(r"headlight-([\d.]+)-py3", file.read_text(encoding="utf-8"))) <= {VERSION}, file.name


LINKS = [link for link in links(README) if link.startswith(APP)]
PLACES = {urlsplit(link).path.strip("/") or menu.FIRST: link for link in LINKS}
STONE = "The king saw the stone bridge, and the queen saw the stone"


def test_links_into_the_app_lead_to_pages_and_say_what_an_address_can_say():
    assert list(PLACES) == ["type", "attention", "change"] and len(LINKS) == 3
    known = {key.name: key for key in state.linked_keys()}
    for link in LINKS:
        for name, (value,) in parse_qs(urlsplit(link).query, strict_parsing=True).items():
            assert not known[name].values or value in known[name].values


@pytest.mark.parametrize("page", PLACES)
def test_a_link_into_the_app_is_taken_as_it_is(page):
    asked = {name: value for name, (value,) in parse_qs(urlsplit(PLACES[page]).query).items()}
    app = open_link(page, urlsplit(PLACES[page]).query)
    assert not app.warned and not app.warning
    for name, value in asked.items():
        assert str(app.session_state[name]) == (value[1:] if name in ("layer", "head") else value), name


def chances(text: str, token: str, edits: list[list[Head]]) -> list[float]:
    """The probability that the writer gives to its first guess, which must be that token, with each list of edits."""
    writer = models.load("writer")
    (guess,) = writer.predict(text, top=1)
    assert guess.text.strip() == token
    logits = (trace.logits[-1].astype(np.float64) for trace in writer.traces(text, edits))
    return [float(np.exp(row[guess.id] - row.max()) / np.exp(row - row.max()).sum()) for row in logits]


def test_the_fairy_tale_goes_on_as_readme_says():
    (text,) = parse_qs(urlsplit(PLACES["type"]).query)["text"]
    assert text == "Once upon a" and chances(text, "time", [[]])[0] > 0.99
    assert re.search(r"“time” more than 99 %", README)


def test_the_head_looks_where_readme_says():
    asked = parse_qs(urlsplit(PLACES["attention"]).query)
    assert (asked["text"], asked["layer"], asked["head"]) == ([STONE], ["L4"], ["H5"])
    trace = models.load("writer").trace(STONE)
    tokens = [token.text.strip() for token in trace.tokens]
    assert tokens[-1] == "stone" and tokens.count("stone") == 2
    assert tokens.index("bridge") == tokens.index("stone") + 1, "the word after the first “stone”"
    assert trace.attention["self"][4][5, -1, tokens.index("bridge")] > 0.9
    assert "(L4 H5) gives more than 90 % of its attention to “bridge”" in README


def test_without_the_head_the_word_is_as_unlikely_as_readme_says():
    asked = parse_qs(urlsplit(PLACES["change"]).query)
    assert (asked["text"], asked["changes"]) == ([STONE], ["h4.5"])
    falls = re.search(r"The probability of “bridge” falls from ([\d.]+ %) to ([\d.]+ %)", README)
    others = re.search(r"with (\d+) of the other (\d+), “bridge” stays above (\d+) %", README)
    assert falls and others
    writer = models.load("writer")
    heads = [(layer, head) for layer in range(writer.info.layers) for head in range(writer.info.heads)]
    before, *after = chances(STONE, "bridge", [[], *([Head(*place)] for place in heads)])
    without = dict(zip(heads, after, strict=True))
    assert [percent(before), percent(without.pop((4, 5)))] == [number.replace(" ", "\xa0") for number in falls.groups()]
    assert len(without) == int(others[2])
    assert sum(value > int(others[3]) / 100 for value in without.values()) == int(others[1])


def test_what_readme_measured_stands_in_benchmarks_md():
    measured = re.search(r"^## Measured\n(.*?)^## ", README, re.MULTILINE | re.DOTALL)[1]
    numbers = re.findall(r"\d[\d.,]*(?: (?:ms|s|MB)\b)?", re.sub(r"GPT-2", "", measured))
    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert len(numbers) >= 9 and not [number for number in numbers if number.rstrip(".,") not in text]
