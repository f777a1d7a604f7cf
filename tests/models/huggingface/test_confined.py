"""Files that ask for more memory or time than there is: each is refused with a sentence, and nothing else is disturbed."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from models.errors import Cancelled, ModelError
from models.huggingface import confined, forking
from models.huggingface.open import open_model
from models.huggingface.trial import MOST_GROWTH, growth
from tests.grids import grid
from tests.models.networks import network, tokenizer

BOMBS = {
    "ALBERT groups": {"model_type": "albert", "num_hidden_groups": 2000, "inner_group_num": 2000},
    "Funnel blocks": {"model_type": "funnel", "block_sizes": [2000] * 1000},
    "Switch experts": {"model_type": "switch_transformers", "num_experts": 20_000, "num_layers": 20},
    "positions": {"model_type": "xlm", "sinusoidal_embeddings": True, "max_position_embeddings": 10**8},
}


@pytest.fixture
def folder(tmp_path) -> Path:
    network("Llama, grouped-query").save_pretrained(tmp_path)
    tokenizer("decoder").save_pretrained(tmp_path)
    return tmp_path


def edit(file: Path, change) -> None:
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))


def refusal(folder: Path) -> str:
    with pytest.raises(ModelError) as caught:
        open_model(str(folder))
    assert str(caught.value).isprintable() and len(str(caught.value)) < 400
    return str(caught.value)


@pytest.mark.parametrize("bomb", grid(BOMBS, ["Switch experts"]))
def test_a_config_that_asks_for_gigabytes(folder, bomb, monkeypatch):
    monkeypatch.setattr(confined, "MEMORY", 100_000_000)
    (folder / "config.json").write_text(json.dumps(BOMBS[bomb]))
    assert "asks for more than 100 MB of memory" in refusal(folder)


def test_a_config_that_asks_for_hours(folder, monkeypatch):
    monkeypatch.setattr(confined, "MEMORY", 20_000_000_000)
    monkeypatch.setattr(confined, "SECONDS", 1)
    (folder / "config.json").write_text(json.dumps(BOMBS["Switch experts"]))
    assert "or 1 seconds" in refusal(folder)


def replacements(times: int) -> dict:
    steps = [{"type": "Replace", "pattern": {"String": "ж"}, "content": "ж" * 10} for _ in range(times)]
    return {"type": "Sequence", "normalizers": steps}


def test_a_tokenizer_that_lengthens_what_it_reads(folder):
    """By a letter that no sample would hold, ten times ten times ten …"""
    file = folder / "tokenizer.json"
    edit(file, lambda content: content.update(normalizer=replacements(3)))
    assert open_model(str(folder)).predicts
    edit(file, lambda content: content.update(normalizer=replacements(9)))
    assert "makes a flood of text" in refusal(folder)


def test_a_tokenizer_that_adds_a_flood(folder):
    def flood(content: dict) -> None:
        start = {"SpecialToken": {"id": "<s>", "type_id": 0}}
        text = {"Sequence": {"id": "A", "type_id": 0}}
        known = {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}
        pieces = {"single": [start] * 20_000 + [text], "pair": [text], "special_tokens": known}
        content["post_processor"] = {"type": "TemplateProcessing"} | pieces

    edit(folder / "tokenizer.json", flood)
    assert "makes a flood of text" in refusal(folder)


@pytest.mark.parametrize(
    ("step", "times"),
    [
        (replacements(9), 10**9),
        ({"type": "Replace", "pattern": {"Regex": "x*"}, "content": "ab"}, 3),
        ({"type": "Replace", "pattern": {"String": "  "}, "content": "▁"}, 1),
        ({"type": "Sequence", "decoders": [replacements(2), {"type": "ByteFallback"}]}, 100),
        ({"type": "NFKC"}, 1),
    ],
)
def test_how_much_longer_a_step_makes_a_text(step, times):
    assert growth(step) == times


def test_every_shipped_kind_of_tokenizer_is_far_below_the_limit():
    for kind in ("decoder", "encoder", "encoder-decoder"):
        decoder = json.loads(tokenizer(kind).backend_tokenizer.decoder.__getstate__())
        assert growth(decoder) < MOST_GROWTH / 100


def ends(trials: psutil.Process, others: Sequence[psutil.Process] = ()) -> bool:
    """Whether all processes of trials but those others end, given time."""
    return not psutil.wait_procs(set(trials.children()) - set(others), timeout=60)[1]


def test_who_gives_up_ends_the_trial_and_others_open_models_meanwhile(tmp_path_factory, monkeypatch):
    good, bad = tmp_path_factory.mktemp("good"), tmp_path_factory.mktemp("bad")
    for folder in (good, bad):
        network("Llama, grouped-query").save_pretrained(folder)
        tokenizer("decoder").save_pretrained(folder)
    (bad / "config.json").write_text(json.dumps(BOMBS["Switch experts"]))
    monkeypatch.setattr(confined, "MEMORY", 4_000_000_000)
    open_model(str(good))  # the process that waits is there from now on
    trials, enough, ended = psutil.Process(forking._process.pid), threading.Event(), []
    others = trials.children()  # that wait for questions of models which other tests have opened

    def report(progress):
        if enough.is_set():
            raise Cancelled

    def attempt() -> None:
        with pytest.raises(Cancelled):
            open_model(str(bad), report=report)
        ended.append(True)

    thread = threading.Thread(target=attempt)
    thread.start()
    while not set(trials.children()) - set(others):
        time.sleep(0.01)
    assert open_model(str(good)).predicts and not ended
    enough.set()
    thread.join(60)
    assert ended and ends(trials, others)
