"""Choosing and loading a model, in a real browser: from a folder, from a link, forbidden, slow."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Page, expect

import models
from models.huggingface.gallery import gallery
from tests.browser.pages.test_type import box, chips, no_error
from tests.browser.places import chance
from tests.serving import ROOT, Server, serve

WAIT = 60_000
TEXT = "The cat sat on the mat"


@pytest.fixture(scope="session")
def folders(tmp_path_factory) -> SimpleNamespace:
    """`good`: a small Llama with more layers than the writer; `other`: another; both in `root`. What is broken there is asked for
    in tests/ui/serving/test_chaos.py."""
    from transformers import LlamaConfig, LlamaForCausalLM

    from tests.models.networks import SIZE, tokenizer

    root = tmp_path_factory.mktemp("visitors")
    made = SimpleNamespace(root=root, outside=tmp_path_factory.mktemp("outside"))
    made.good, made.other = (root / name for name in ("llama", "other-llama"))
    for folder in (made.good, made.other):
        LlamaForCausalLM(LlamaConfig(**SIZE | {"num_hidden_layers": 9})).save_pretrained(folder)
        tokenizer("decoder").save_pretrained(folder)
    return made


@contextmanager
def serve_with(*script: Path, **environment: str) -> Iterator[Server]:
    """A server with a few more variables in its environment."""
    with ExitStack() as running:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            server = running.enter_context(serve(*script))
        yield server


@pytest.fixture(scope="session")
def url(chromium: str, folders) -> Iterator[str]:
    """A server that lets visitors open what is in `folders.root`, and keeps one of them in memory at a time."""
    size = (folders.good / "model.safetensors").stat().st_size
    with serve_with(HEADLIGHT_MODEL_DIRS=str(folders.root), HEADLIGHT_MODEL_BYTES=str(1.5 * size)) as server:
        yield server.url


@pytest.fixture(scope="session")
def slow(chromium: str, tmp_path_factory) -> Iterator[SimpleNamespace]:
    """A server at `url` where "owner/slow@x" is loading until `let("x")`."""
    gate = tmp_path_factory.mktemp("gate")
    with serve_with(ROOT / "tests/browser/apps/slow.py", GATE=f"{gate}/") as server:
        yield SimpleNamespace(url=server.url, let=lambda revision: (gate / revision).touch())


def bars(page: Page):
    return page.locator("[data-part^=bars]").get_by_role("button")


def visit(page: Page, url: str, **choices: str) -> Page:
    expect(bars(go_to(page, url, **choices)).first).to_be_visible(timeout=WAIT)
    return page


def go_to(page: Page, url: str, **choices: str) -> Page:
    page.goto(url + "/?" + "&".join(f"{key}={quote(value, safe='')}" for key, value in choices.items()))
    return page


def picker(page: Page):
    return page.locator(".st-key-model input")


def ask_for(page: Page, name: str) -> None:
    picker(page).click()
    picker(page).fill(name)
    page.keyboard.press("Enter")


def says(page: Page):
    return page.get_by_test_id("stAlert")


def about(page: Page):
    return page.locator(".st-key-about-model")


def shows_predictions_of(page: Page, name: str, text: str) -> None:
    best = models.load(name).predict(text, top=1)[0]
    expect(bars(page).first).to_contain_text(chance(page, best.probability), timeout=WAIT)


def linked(page: Page, choice: str) -> str | None:
    return parse_qs(urlsplit(page.url).query).get(choice, [None])[0]


def test_a_folder_typed_in_the_picker_is_opened_and_linked(new_page, url, folders):
    """It takes half a minute: the first folder that a server opens has it, and this test, import transformers."""
    page = visit(new_page(), url, text=TEXT, level="intermediate")
    ask_for(page, str(folders.good))
    expect(about(page)).to_contain_text("9 layers × 4 heads", timeout=WAIT)
    shows_predictions_of(page, str(folders.good), TEXT)
    expect(page.locator(".st-key-layer input")).to_be_visible()
    assert linked(page, "model") == str(folders.good) and linked(page, "text") == TEXT
    expect(says(page)).to_have_count(0)
    box(page).fill(TEXT + " again")
    shows_predictions_of(page, str(folders.good), TEXT + " again")
    no_error(page)


def test_a_link_opens_the_same_model_layer_and_head(new_page, url, folders):
    page = visit(new_page(), url, text=TEXT, level="expert", model=str(folders.good), layer="L8", head="H3")
    expect(about(page)).to_contain_text("9 layers", timeout=WAIT)
    shows_predictions_of(page, str(folders.good), TEXT)
    expect(page.get_by_text("Where it looks through L8 H3")).to_be_visible()
    expect(says(page)).to_have_count(0)
    ask_for(page, "writer")
    expect(about(page)).to_contain_text("6 layers")
    shows_predictions_of(page, "writer", TEXT)
    expect(says(page)).to_have_count(0)
    assert linked(page, "model") is None and linked(page, "layer") != "L8"
    no_error(page)


def test_a_forbidden_folder_is_refused_alike_whether_or_not_it_exists(new_page, url, folders):
    page, sentences = visit(new_page(), url), set()
    for path in (folders.outside, folders.outside / "nothing", folders.root / ".." / folders.outside.name):
        ask_for(page, str(path))
        expect(says(page)).to_contain_text(path.name)
        expect(picker(page)).to_have_value("writer")
        assert linked(page, "model") is None
        sentences.add(says(page).inner_text().replace(f"“{os.path.basename(os.path.normpath(path))}”", "NAME"))
    assert len(sentences) == 1
    no_error(page)


def test_the_gallery_draws_without_network_and_its_buttons_ask(new_page, url):
    page = visit(new_page(), url)
    page.get_by_role("button", name="Gallery").click()
    for entry in gallery():
        expect(page.get_by_role("dialog")).to_contain_text(entry.name)
    page.get_by_role("dialog").get_by_role("button", name="Load").first.click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(says(page)).to_contain_text(gallery()[0].name, timeout=WAIT)
    expect(picker(page)).to_have_value("writer")
    no_error(page)


def test_any_name_can_be_typed_in_the_gallery(new_page, url, folders):
    page = visit(new_page(), url, text=TEXT, level="intermediate")
    page.get_by_role("button", name="Gallery").click()
    page.get_by_label("Any model").fill(str(folders.good))
    page.keyboard.press("Enter")
    expect(about(page)).to_contain_text("9 layers", timeout=WAIT)
    assert linked(page, "model") == str(folders.good)
    no_error(page)


def test_while_a_model_loads_one_types_on_with_the_old_one(new_page, slow):
    page = visit(new_page(), slow.url, text="The")
    ask_for(page, "owner/slow@one")
    expect(about(page)).to_contain_text("Downloading owner/slow@one")
    expect(about(page)).to_contain_text(re.compile(r"\b\d+ of 548 MB"))
    expect(picker(page)).to_have_value("owner/slow@one")
    box(page).click()
    page.keyboard.press("End")
    page.keyboard.type(" cat sat on the mat", delay=60)
    expect(chips(page)).to_have_count(len(models.load("writer").tokenize("The cat sat on the mat")))
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    slow.let("one")
    expect(about(page)).to_contain_text("“owner/slow@one” reads", timeout=WAIT)
    expect(box(page)).to_have_value("The cat sat on the mat")
    assert linked(page, "model") == "owner/slow@one" and linked(page, "text") == "The cat sat on the mat"
    expect(says(page)).to_have_count(0)
    no_error(page)


def test_cancel_goes_back_and_leaves_another_visitor_his_model(new_page, slow):
    link = {"model": "owner/slow@two", "text": TEXT}
    first, second = go_to(new_page(), slow.url, **link), go_to(new_page(), slow.url, **link)
    for page in (first, second):
        expect(page.get_by_role("button", name="Cancel")).to_be_visible(timeout=WAIT)
        expect(bars(page)).to_have_count(0)
    first.get_by_role("button", name="Cancel").click()
    expect(says(first).filter(has_text="was cancelled")).to_be_visible()
    expect(picker(first)).to_have_value("writer")
    expect(first.get_by_role("button", name="Cancel")).to_have_count(0)
    assert linked(first, "model") is None
    slow.let("two")
    expect(about(second)).to_contain_text("“owner/slow@two” reads", timeout=WAIT)
    no_error(first)
    no_error(second)


def test_a_model_that_had_to_make_room_comes_back_at_the_next_key(new_page, url, folders):
    first = visit(new_page(), url, text=TEXT, model=str(folders.good))
    shows_predictions_of(first, str(folders.good), TEXT)
    second = visit(new_page(), url, text=TEXT, model=str(folders.other))
    shows_predictions_of(second, str(folders.other), TEXT)
    box(first).fill(TEXT + " again")
    shows_predictions_of(first, str(folders.good), TEXT + " again")
    expect(picker(first)).to_have_value(str(folders.good))
    expect(says(first)).to_have_count(0)
    no_error(first)
