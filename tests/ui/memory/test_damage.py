"""What goes wrong outside of Python, or in files of our own: each becomes a sentence."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

import models
from models.catalog import WEIGHTS, own
from models.errors import ModelError
from tests.models.networks import tokenizer
from ui.memory import trainings
from ui.memory.eviction import Shelf
from ui.memory.jobs import Jobs


@pytest.fixture
def ours(tmp_path) -> Path:
    """A copy of the writer, which a visitor may change."""
    folder = tmp_path / "ours"
    folder.mkdir()
    for file in ("config.json", "tokenizer.json", "model.safetensors"):
        shutil.copy(WEIGHTS / "writer" / file, folder)
    assert own(str(folder))
    return folder


def panic(*anything) -> None:
    """As a library in Rust ends where its authors were sure of something."""
    made = tokenizer("decoder").backend_tokenizer
    made.enable_truncation(8, stride=4)
    content = json.loads(made.to_str())
    content["truncation"] |= {"max_length": 2, "stride": 4}
    type(made).from_str(json.dumps(content)).encode("The cat sat on the mat, and the dog sat on the cat.")


def test_a_panic_is_no_exception():
    with pytest.raises(BaseException) as caught:
        panic()
    assert type(caught.value).__name__ == "PanicException" and not isinstance(caught.value, Exception)


def test_a_model_whose_loading_panics_is_refused_and_the_next_is_loaded():
    shelf = Shelf(lambda name, report: panic() if name == "bad" else models.load("writer"), lambda: 10**9)
    job = shelf.ask("bad", 1)
    assert job.ended.wait(60) and job.done and "could not be loaded" in job.error
    assert shelf.get("good").info.kind == "decoder"


def test_work_that_panics_ends_with_an_error():
    job = Jobs(1).ask("key", panic, "Working", 1)
    assert job.ended.wait(60) and isinstance(job.error, RuntimeError)


def test_a_text_that_makes_a_tokenizer_panic_is_an_error_and_the_next_is_read():
    model = models.load("writer")

    class Panicking:
        id_to_token = model.vocabulary.tokenizer.id_to_token
        encode = panic

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model.vocabulary, "tokenizer", Panicking())
        with pytest.raises(RuntimeError, match="A library stopped"):
            model.trace("The cat")
    assert model.trace("The cat").tokens


def test_a_config_that_is_deeply_nested_is_refused(ours):
    (ours / "config.json").write_text('{"kind": ' + "[" * 100_000 + "]" * 100_000 + "}")
    assert not own(str(ours))
    with pytest.raises(ModelError):
        models.load(str(ours))


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("kind, words", [("a folder", "a folder, not a file"), ("a link", "a link to nothing"), ("gone", "")])
def test_what_stands_in_the_place_of_a_file_of_our_own_is_said(ours, name, kind, words):
    shutil.copy(WEIGHTS / "writer" / "tuned_lens.safetensors", ours)  # beside the weights, and no weights
    (ours / name).unlink()
    if kind == "a folder":
        (ours / name).mkdir()
    elif kind == "a link":
        (ours / name).symlink_to(name)
    with pytest.raises(ModelError, match=f"{name} is {words}" if words else f"{name} is missing|holds no {name}"):
        models.load(str(ours))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_of_our_own_that_are_no_numbers_are_refused(ours, value):
    file = ours / "model.safetensors"
    weights = load_file(file)
    weights[min(weights)].view(-1)[3] = value
    save_file(weights, file)
    with pytest.raises(ModelError, match="not numbers"):
        models.load(str(ours))


class Trained:
    """A training that can be written so far and no further."""

    subject, learned = "copy", 40

    def __init__(self, error: Exception):
        self.error = error

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "model.safetensors").write_bytes(b"half")
        raise self.error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "disk of the server is full"),
        (RuntimeError("I/O error: No space left on device (os error 28)"), "disk of the server is full"),
        (OSError(errno.EACCES, "Permission denied"), "log says why"),
    ],
)
def test_a_model_that_cannot_be_written_leaves_no_half_of_it(tmp_path, monkeypatch, error, words):
    monkeypatch.setattr(trainings.own_folder, "folder", lambda: tmp_path)
    with pytest.raises(ModelError, match=words):
        trainings.write_model("abc", Trained(error))
    assert not list(tmp_path.iterdir())
