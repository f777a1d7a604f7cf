"""A disk without room: each thing that is written says so in a sentence or goes on without it, and leaves no half of a file."""

from __future__ import annotations

import errno
import logging
import shutil
import tempfile
from pathlib import Path

import pytest

import models
from models.errors import ModelError, is_full
from models.huggingface.trial import plainly
from models.lens import tuned_lens
from models.scratch.config import TransformerConfig
from models.training.live import SIZES, Budget, Training
from models.training.tasks import TASKS
from models.training.tensorboard import TensorBoardLog
from pages.layers import lens_training
from pages.train import control
from tests.disk import full
from tests.pages.opening import open_link, press
from ui.memory import trainings


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(trainings.own_folder, "folder", lambda: tmp_path)
    monkeypatch.setattr(trainings, "_owned", type(trainings._owned)())
    monkeypatch.setattr(trainings, "_trained", {})
    return tmp_path


def training(**watch) -> Training:
    made = Training(
        TASKS["copy"](), TransformerConfig(**SIZES | {"d_model": 16, "layers": 1}), Budget(steps=8, rows=1, every=4), **watch
    )
    made.advance(1)
    return made


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_no_room_is_known_by_its_number_its_words_and_what_it_came_from(number):
    there = OSError(number, "whatever")
    assert is_full(there) and not is_full(OSError(errno.EACCES, "Permission denied"))
    with pytest.raises(ValueError) as caught:
        raise ValueError("It could not be written.") from there
    assert is_full(caught.value)


def test_a_trained_model_that_has_no_room_is_told_of_in_a_sentence_and_can_be_written_later(place):
    small_training = training()
    with full(), pytest.raises(ModelError, match="disk of the server is full; the training is not harmed") as refusal:
        trainings.write_model("abc", small_training)
    assert str(place) not in str(refusal.value) and not list(place.iterdir())
    assert trainings.write_model("abc", small_training).folder.is_dir()


def test_a_server_without_any_place_for_files_says_so_too(place, monkeypatch):
    def nowhere() -> Path:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp', '/srv/secret']")

    monkeypatch.setattr(trainings.own_folder, "folder", nowhere)
    with pytest.raises(ModelError, match="could not be written to a folder") as refusal:
        trainings.write_model("abc", training())
    assert "secret" not in str(refusal.value)


def test_a_training_whose_log_has_no_room_says_what_to_do_and_begins_without_it(place, monkeypatch):
    app = open_link("train", "level=expert&train-steps=40&train-every=20&train-rows=1&train-log=true")
    shutil.rmtree(place)
    place.write_text("")  # where its folder should be
    press(app, "Start")
    error = app.error[0].value.replace("\\", "")
    assert error.startswith("The TensorBoard log could not be started.") and error.endswith("Train without the log.")
    assert str(place) not in error and not app.exception
    app.toggle(key="train-log").set_value(False).run()
    press(app, "Start")
    assert not app.error and "Step" in app.get("progress")[-1].proto.text
    for owned in trainings._owned.values():
        owned.training.stop()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # TensorBoard's writer dies of it
def test_a_log_for_which_there_is_no_room_any_more_ends_and_the_training_goes_on(place):
    log = TensorBoardLog(place / "logs", "copy")
    small_training = training(watch=log)
    with full():
        small_training.advance(8)
    assert small_training.state == "done" and len(small_training.curves.loss) == 8
    assert "cannot be written to any more" in log.says


def test_what_is_said_of_a_log_that_ended_does_not_tell_where_it_lies(place, monkeypatch):
    notices: list[str] = []
    monkeypatch.setattr(control.st, "warning", lambda sentence, **_: notices.append(sentence))
    small_training = training(watch=TensorBoardLog(place / "logs", "copy"))
    small_training.watch.says = (
        f"The TensorBoard log ends at step 3, as {small_training.watch.folder} cannot be written to any more."
    )
    control.buttons(small_training)
    assert "as its folder cannot be written to any more" in notices[0] and str(place) not in notices[0]


def test_a_lens_for_which_there_is_no_room_is_used_and_leaves_no_half_of_a_file(place, monkeypatch, caplog):
    model = models.load("sorter")
    monkeypatch.setattr(tuned_lens, "folder", lambda: place)
    monkeypatch.setattr(tuned_lens, "train", lambda *_, **__: (tuned_lens.tuned_lens_of(models.load("writer")), {}))
    with full(), caplog.at_level(logging.ERROR):
        assert lens_training.train(model, "any", lambda share, words: None) is not None
    assert not list(place.iterdir()) and "could not be kept" in caplog.text


def test_what_the_system_refuses_while_a_model_opens_is_said_without_the_path():
    for error, words in (
        (OSError(errno.ENOSPC, "No space left on device", "/srv/secret/refs/main"), "disk of the server is full"),
        (PermissionError(errno.EACCES, "Permission denied", "/srv/secret/config.json"), "Permission denied"),
    ):
        with pytest.raises(ModelError, match=words) as refusal, plainly("owner/name"):
            raise error
        assert "secret" not in str(refusal.value) and "“owner/name”" in str(refusal.value)


def test_a_page_is_drawn_typed_on_and_taken_away_where_nothing_can_be_written(monkeypatch):
    """All of it is done in memory."""
    monkeypatch.setattr(tempfile, "tempdir", "/proc/nowhere")
    with full(0):
        app = open_link("attention", "text=The cat sat&level=expert")
        app.text_input(key="text").set_value("The cat sat on").run()
    assert not app.exception and not app.error and app.text_input(key="text").value == "The cat sat on"
