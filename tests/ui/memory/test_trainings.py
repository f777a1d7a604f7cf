"""Trainings that are kept: each visitor has their own, a link finds it, none that runs leaves, what was trained may be opened."""

from __future__ import annotations

import io
import json
import zipfile
from types import SimpleNamespace

import pytest
import streamlit as st
from hypothesis import given
from hypothesis import strategies as st_
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

import models
from models.errors import ModelError
from models.scratch.config import TransformerConfig
from models.training.live import SIZES, VOCABULARY, Budget, Training
from models.training.tasks import TASKS
from pages.attention import recipes
from ui import state
from ui.choices import picker, text_boxes
from ui.escaping import KEY as KEY_OF_NAME
from ui.look import Look
from ui.memory import addresses, allowed, limits, loaded, own_folder, trainings
from ui.memory.favourites import favourite
from ui.memory.guesses import Guesses
from ui.memory.shares import Bound
from ui.picture.caption import caption
from ui.picture.notebook import notebook
from ui.picture.picture import Picture
from ui.zipped import zip_folder

SMALL = {"vocabulary": VOCABULARY, "context": 32, "d_model": 16, "layers": 1, "heads": 2, "d_ff": 16}


KEY = "0123456789abcdef" * 2


def training() -> Training:
    return Training(TASKS["copy"](), TransformerConfig(**SMALL), Budget(steps=100_000, rows=1))


def repeating() -> Training:
    return Training(TASKS["repeat"](), TransformerConfig(**SMALL | {"context": 64, "layers": 2}), Budget(rows=1))


@pytest.fixture
def visit(monkeypatch):
    """visit(browser): a new session of somebody with that browser."""

    def new(browser: str = "") -> None:
        monkeypatch.setattr(st, "session_state", {})
        monkeypatch.setattr(trainings, "browser", lambda: browser)

    monkeypatch.setattr(trainings, "_owned", type(trainings._owned)())
    monkeypatch.setattr(trainings, "_trained", {})
    monkeypatch.setattr(trainings, "_left", type(trainings._left)())
    monkeypatch.setattr(trainings, "_guesses", Guesses(trainings.OWN, lambda: trainings.WRONG))
    new()
    return new


def test_a_visitor_comes_back_to_his_training_and_others_to_theirs(visit):
    mine, theirs = training(), training()
    visit("one")
    assert trainings.mine() == ("", None)
    trainings.keep("mine", mine)
    visit("two")
    assert trainings.mine() == ("", None)
    trainings.keep("theirs", theirs)
    assert trainings.mine() == ("theirs", theirs)
    visit("one")
    assert trainings.mine() == ("mine", mine), "a browser finds its own after a reload"


def test_without_cookies_a_training_is_that_of_its_session(visit):
    mine = training()
    trainings.keep("mine", mine)
    assert trainings.mine() == ("mine", mine)
    visit()
    assert trainings.mine() == ("", None)


def test_what_is_let_go_of_stops_and_nobody_elses_does(visit):
    mine, theirs = training(), training()
    visit("two")
    trainings.keep("theirs", theirs)
    theirs.start()
    visit("one")
    trainings.keep("mine", mine)
    mine.start()
    assert trainings.running() == 2
    trainings.forget()
    assert (mine.state, theirs.state) == ("stopped", "running") and trainings.mine() == ("", None)
    theirs.stop()


def test_what_has_ended_leaves_first_then_what_is_paused_and_whoever_had_it_is_told(visit, monkeypatch):
    monkeypatch.setattr(trainings, "KEPT", Bound(4, 10**9))
    stored = {}
    try:
        for number in range(4):
            visit(f"{number}")
            stored[number] = training()
            trainings.keep(f"{number}", stored[number])
            stored[number].start()
        visit("late")
        with pytest.raises(trainings.Full, match="This server already runs as many trainings as it allows"):
            trainings.keep("late", training())
        assert trainings.mine() == ("", None) and trainings.running() == 4 and not trainings.notice_of_loss()
        stored[1].pause()
        stored[2].stop()
        trainings.keep("late", training())
        assert list(trainings._owned) == ["0", "1", "3", "late"], "what has ended leaves first"
        assert stored[1].state == "paused"
        stored["late"] = trainings.mine()[1]
        stored["late"].start()
        trainings.keep("another", training())
        assert list(trainings._owned) == ["0", "3", "late", "another"] and stored[1].state == "stopped", "then what is paused"
        assert stored[0].state == stored[3].state == "running"
        visit("2")
        assert (
            trainings.mine() == ("", None) and "needed the place of your training “copy” (stopped, " in trainings.notice_of_loss()
        )
        trainings.keep("again", training())
        assert not trainings.notice_of_loss() and trainings.mine()[0] == "again"
        visit("1")
        trainings.mine()
        assert "(paused, " in trainings.notice_of_loss()
        visit("3")
        assert trainings.mine()[0] == "3" and not trainings.notice_of_loss()
    finally:
        for training_left in [*stored.values(), *(owned.training for owned in trainings._owned.values())]:
            training_left.stop()


def test_a_class_of_sixty_trains_behind_one_address():
    typical = Training(TASKS["repeat"](), TransformerConfig(**SIZES), Budget())
    assert 60 * typical.memory < trainings.KEPT_OF_NETWORK.bytes and trainings.KEPT_OF_NETWORK.count > 60


def test_whoever_invents_cookies_leaves_places_to_others(visit, monkeypatch):
    monkeypatch.setattr(addresses, "mine", lambda: "attacker")
    refused = 0
    for number in range(3 * trainings.KEPT.count):
        visit(f"cookie {number}")
        try:
            trainings.keep(f"{number}", SimpleNamespace(state="running", memory=10**6, task=TASKS["copy"](), step=1))
        except trainings.Full as full:
            refused += str(full) == trainings.FULL_NETWORK
    assert refused == 3 * trainings.KEPT.count - trainings.KEPT_OF_NETWORK.count
    monkeypatch.setattr(addresses, "mine", lambda: "home")
    visit("honest")
    mine = training()
    trainings.keep("mine", mine)
    assert trainings.mine() == ("mine", mine) and len(trainings._owned) == trainings.KEPT_OF_NETWORK.count + 1


def test_a_training_that_has_ended_holds_its_model_and_its_snapshots_alone():
    small_training = Training(TASKS["copy"](), TransformerConfig(**SMALL), Budget(steps=20, rows=1))
    going = small_training.memory
    small_training.advance(100)
    assert small_training.state == "done" and small_training.memory < going and len(small_training.snapshots) == 3
    assert (
        not small_training._optimizers
        and not small_training._good
        and all(weight.grad is None for weight in small_training.network.parameters())
    )
    assert small_training.memory == 4 * small_training.parameters + sum(
        snapshot.attention.nbytes for snapshot in small_training.snapshots
    )


def test_models_that_were_written_are_bounded_and_the_oldest_leave_with_their_folders(visit, monkeypatch):
    monkeypatch.setattr(trainings, "WRITTEN", Bound(3, 10**9))
    mine, made = training(), []
    for _ in range(5):
        mine.advance(1)
        made.append(trainings.write_model(KEY, mine))
    assert [trained.folder.is_dir() for trained in made] == [False, False, True, True, True]
    assert [trainings.find(trained.name) is trained for trained in made] == [False, False, True, True, True]
    assert "has room for it" in picker.refusal(made[0].name) and picker.refusal(made[4].name) == ""
    monkeypatch.setattr(trainings, "WRITTEN", Bound(100, int(2.5 * made[4].bytes)))
    mine.advance(1)
    trainings.write_model(KEY, mine)
    assert len(trainings._trained) == 2, "also by their bytes"


def test_what_was_trained_is_opened_by_its_name_and_its_folder_by_nobody(visit, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", "")
    mine = training()
    mine.advance(2)
    made = trainings.write_model(KEY, mine)
    assert made.name == f"copy, 2 steps ({KEY})" and picker.refusal(made.name) == ""
    model = loaded._load(made.name, lambda progress: None)
    assert (model.info.name, model.info.layers) == (made.name, 1)
    for folder in (made.folder, made.folder.parent, own_folder.folder()):
        with pytest.raises(ModelError, match="cannot be opened here"):
            allowed.check_folder(str(folder))
    mine.advance(1)
    assert trainings.write_model(KEY, mine).folder != made.folder, "what was written stays as it was"
    assert "stays for as long as its server runs" in picker.refusal("copy, 400 steps")
    assert "stays for as long as its server runs" in picker.refusal("copy, 1 step (01234567)")
    assert "stays for as long as its server runs" in picker.refusal(f"copy, 1 step ({KEY[::-1]})")


def test_nothing_that_a_visitor_sees_of_a_trained_model_is_a_path_or_its_key(visit, monkeypatch, tmp_path):
    visit("me")
    mine = repeating()
    mine.advance(1)
    made = trainings.write_model(KEY, mine)
    model, title = loaded._load(made.name, lambda progress: None), "repeat, 1 step"
    text, (layer, head, _) = made.examples[0], made.induction
    trace = model.trace(text)
    seen = Look(model, trace, "self", "expert", picked=(layer, head))
    options = {"layer": layer, "heads": [head], "chosen": None}
    drawn = Picture(recipes.head_lines, (seen,), options, "head-view", dict)
    caption_text = caption(drawn)
    book = notebook(drawn, caption_text)
    shown = {
        "picker": picker.label(made.name, ["writer", made.name]),
        "side bar": picker.shorten(made.name),
        "origin": picker.origin(model.info),
        "caption": str(caption_text),
        "title": caption_text.title,
        "file": caption_text.stem,
        "notebook": book,
    }
    for place, words in shown.items():
        assert KEY not in words and "/hl-" not in words and str(own_folder.folder()) not in words, place
    assert shown["picker"] == title and title in shown["caption"] and title in shown["title"]
    folder = "./repeat-1-step"
    assert f"models.load('{folder}')" in json.loads(book)["cells"][2]["source"]
    assert "page Train" in shown["origin"] and "page Train" in json.loads(book)["cells"][0]["source"]
    with zipfile.ZipFile(io.BytesIO(zip_folder(made.folder))) as archive:
        archive.extractall(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert models.load(folder).info.layers == model.info.layers, "the folder that is taken away is what the notebook opens"


def test_two_that_are_called_the_same_are_told_apart_by_their_keys(visit):
    visit("me")
    names = []
    for key in (KEY, KEY[::-1]):
        mine = training()
        mine.advance(1)
        names.append(trainings.write_model(key, mine).name)
    labels = [picker.label(name, names) for name in names]
    assert labels == ["copy, 1 step (01234567)", "copy, 1 step (fedcba98)"], "the beginning is enough, and opens nothing"
    assert [picker.label(name, [name]) for name in names] == ["copy, 1 step"] * 2
    assert [trainings.full_name(label, "") for label in labels] == names
    visit("somebody else")
    assert [trainings.full_name(label, "") for label in labels] == labels and all(map(picker.refusal, labels))
    assert trainings.full_name(labels[0], KEY) == names[0]


def test_keys_have_128_bits_a_link_has_four_and_wrong_ones_are_counted(visit):
    assert len({trainings.new_name() for _ in range(100)}) == 100
    assert all(KEY_OF_NAME.search(f"copy, 1 step ({trainings.new_name()})")[0] for _ in range(10))
    assert int(max(trainings.new_name() for _ in range(100)), 16) > 2**120
    mine = training()
    mine.advance(1)
    visit("me")
    name = trainings.write_model(KEY, mine).name
    visit("somebody else")
    wrong = [f"{number:032x}" for number in range(10_000)]
    assert trainings.names(",".join([*wrong[:3], KEY])) == [name] and trainings.names(",".join([*wrong[:4], KEY])) == []
    for _ in range(100):
        trainings.names(wrong[0])
    assert trainings.names(KEY) == [name], "the same wrong key is one guess"
    trainings.names(",".join(wrong))
    assert len(trainings._guesses) == 2 * 4, "of the browser, and of its network"
    for key in wrong[4 : trainings.OWN]:
        trainings.names(key)
    assert trainings.names(KEY) == [] and "Too many keys" in picker.refusal(name) and "from your browser" in picker.refusal(name)
    visit("me")
    assert trainings.names("") == [name] and picker.refusal(name) == "", "one’s own needs no key"


def test_whoever_invents_cookies_guesses_no_keys(visit):
    tried = 0
    for number in range(3 * trainings.WRONG):
        visit(f"cookie {number}")
        tried += "stays for as long" in picker.refusal(f"copy, 1 step ({number:032x})")
    assert tried == trainings.WRONG and "from your network" in picker.refusal(f"copy, 1 step ({KEY})")


def test_a_link_opens_a_trained_model_by_its_key_and_nobody_guesses_it(visit):
    visit("me")
    mine = training()
    mine.advance(1)
    made = trainings.write_model(KEY, mine)
    assert trainings.keys(made.name, "writer", None) == KEY and trainings.keys("writer") is None
    assert made.name in trainings.names("") and trainings.full_name("copy, 1 step", "") == made.name, (
        "whoever trained it needs no key"
    )
    visit("somebody else")
    assert made.name not in trainings.names("") and made.name in trainings.names(f"0,{KEY}")
    assert trainings.full_name("copy, 1 step", "") == "copy, 1 step" and trainings.full_name("copy, 1 step", KEY) == made.name
    visit("")
    assert made.name not in trainings.names(""), "without cookies nobody is known"


def test_a_trained_model_begins_with_its_own_sequence_through_its_induction_head(visit):
    mine = repeating()
    mine.advance(1)
    made = trainings.write_model(KEY, mine)
    model = loaded._load(made.name, lambda progress: None)
    for text in (state.DEFAULT_TEXT, text_boxes.EXAMPLES["translator"][0]):
        st.session_state = {"text": text}
        text_boxes.follow(models.load("writer").info, model.info)
        assert st.session_state["text-next"] == made.examples[0] == "".join(mine.probe)[:-1]
    st.session_state = {"text": "My own words."}
    text_boxes.follow(models.load("writer").info, model.info)
    assert "text-next" not in st.session_state
    scores, first = mine.snapshots[-1].induction, favourite(model)
    assert scores[first.layer, first.head] == scores.max() and first.does == "induction"


def test_a_trained_model_offers_examples_of_its_own_task(visit):
    mine = training()
    mine.advance(1)
    info = loaded._load(trainings.write_model(KEY, mine).name, lambda progress: None).info
    own = text_boxes.examples(info)
    assert own[0] == "".join(mine.probe)[:-1] and 1 < len(own) <= trainings.EXAMPLES
    assert all(len(example) == mine.task.length - 1 for example in own)
    assert text_boxes.examples(models.load("writer").info)[0] == state.DEFAULT_TEXT


@given(st_.binary(min_size=16, max_size=16))
def test_a_browser_is_known_by_its_token_whatever_the_mask(token):
    """Streamlit sends the same token under another mask each time."""
    cookies = {generate_xsrf_token_string(token) for _ in range(3)}
    assert {trainings.unmask(cookie) for cookie in cookies} == {token.hex()} and len(cookies) == 3
    assert trainings.unmask("") == trainings.unmask("2|xyz|12|3") == ""


def test_a_paused_training_goes_on_only_where_it_might_begin(visit, monkeypatch):
    monkeypatch.setenv(limits.TRAININGS, "1")
    visit("somebody")
    paused, running = training(), training()
    paused.state, running.state = "paused", "running"
    trainings.keep("paused", paused)
    trainings.check_running()
    trainings.keep("running", running)
    with pytest.raises(trainings.Full, match="at most 1 of your trainings"):
        trainings.check_running()
    assert [name for name, _ in trainings.runs()] == ["paused", "running"]
    trainings.forget("paused")
    visit("somebody else")
    trainings.forget("running")
    assert list(trainings._owned) == ["running"], "of others nothing is dropped"
