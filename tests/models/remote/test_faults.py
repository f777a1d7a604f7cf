"""Replicas that die, hang, talk nonsense or are absent: what was asked for is answered all the same, or a sentence says why."""

from __future__ import annotations

import time
from contextlib import suppress

import numpy as np
import pytest

import models
from models.errors import Cancelled, ModelError
from models.remote import backend, far_model, serving
from models.remote.client import AWAY, ReplicaClient, Unreachable
from models.remote.far_model import FarModel
from models.remote.replica import Replica
from models.remote.wire import pack, unpack
from tests.models.edited import TEXT, model
from tests.models.remote.serving import die, replicas, send

NOBODY = 9  # the port "discard", on which nothing listens


@pytest.fixture
def asked(monkeypatch):
    """HEADLIGHT_BACKEND, set for this test."""

    def be(setting: str):
        monkeypatch.setenv("HEADLIGHT_BACKEND", setting)
        backend._backend.cache_clear()
        return backend.backend()

    yield be
    backend._backend.cache_clear()


def assert_reads_as_here(far: FarModel) -> None:
    trace, here = far.trace(TEXT), model("writer").trace(TEXT)
    assert trace.tokens == here.tokens and np.allclose(trace.attention["self"][1], here.attention["self"][1], atol=1e-6)
    assert far.predict(TEXT) == model("writer").predict(TEXT)


def test_without_a_setting_everything_is_embedded(monkeypatch):
    monkeypatch.delenv("HEADLIGHT_BACKEND", raising=False)
    assert backend.backend() == backend.Backend() and backend.opened("writer") is None and not backend.asked_for()
    assert backend.trouble() == ""


@pytest.mark.parametrize(
    "setting", ["ray", "ray://", "ray://host", "ray://host:port", "ray://host:70000", "http://host:1", "ray://h:1/x"]
)
def test_a_setting_that_is_none_is_told_of_and_models_are_embedded(asked, setting):
    assert asked(setting).far is None and "HEADLIGHT_BACKEND must be" in backend.trouble()
    assert backend.opened("writer") is None


def test_ray_that_is_not_installed_is_told_of(asked, monkeypatch):
    monkeypatch.setattr(backend, "find_spec", lambda name: None)
    assert "not installed" in asked("ray://local").wrong and backend.opened("writer") is None


def test_several_processes_share_the_replicas_that_are_started_beside_them(monkeypatch):
    commands = []
    monkeypatch.setattr(backend, "find_spec", lambda name: True)
    monkeypatch.setattr(backend.subprocess, "Popen", lambda command, **more: commands.append(command) or Ended())
    environment = {"HEADLIGHT_BACKEND": "ray://local"}
    backend.start_for_all(environment)
    backend.start_for_all(environment)
    (command,) = commands
    assert environment == {"HEADLIGHT_BACKEND": f"ray://127.0.0.1:{command[command.index('--port') + 1]}"}
    for setting in ("", "embedded", "ray://10.0.0.5:8000", "nonsense"):
        backend.start_for_all(environment := {"HEADLIGHT_BACKEND": setting})
        assert environment == {"HEADLIGHT_BACKEND": setting} and len(commands) == 1


class Ended:
    """A process that has ended already."""

    def terminate(self) -> None:
        pass


def test_a_cluster_that_is_not_there_is_told_of_and_what_ships_is_read_here(asked):
    asked(f"ray://127.0.0.1:{NOBODY}")
    far = backend.opened("writer")
    models.load("writer").forget()  # what another test read is continued to the last digits but one
    assert_reads_as_here(far)
    assert "do not answer (nothing listens there)" in backend.trouble()
    with pytest.raises(ModelError, match="do not answer"):
        backend.opened("gpt2")


def test_a_folder_of_this_machine_is_opened_here(asked):
    asked(f"ray://127.0.0.1:{NOBODY}")
    assert backend.opened("./some/folder") is None
    assert "folders are not opened" in Replica("/etc").refusal


def test_a_model_that_opens_elsewhere_can_be_cancelled(asked):
    def slow(request) -> bool:
        time.sleep(0.3)
        return False

    def report(progress) -> None:
        raise Cancelled

    with replicas(slow) as port:
        asked(f"ray://127.0.0.1:{port}")
        with pytest.raises(Cancelled):
            backend.opened("GPT-2", report)
        assert backend.opened("GPT-2").info == model("GPT-2").info


def test_a_replica_that_dies_while_it_reads_is_asked_again(tmp_path):
    dying = iter([True, False, False, True, True, False])
    with replicas(lambda request: next(dying, False) and die(request)) as port:
        far = FarModel("writer", ReplicaClient("127.0.0.1", port), model("writer"))
        assert_reads_as_here(far)
        assert not far.far.trouble and far.far.asked >= 2 and next(dying, "all used") == "all used"


def test_replicas_that_all_die_leave_the_reading_to_the_model_here():
    dead = []
    with replicas(lambda request: bool(dead) and die(request)) as port:
        now = [0.0]
        far = FarModel("writer", ReplicaClient("127.0.0.1", port, clock=lambda: now[0]), model("writer"))
        trace = far.trace(TEXT)
        dead.append(True)
        here = model("writer").trace(TEXT)
        assert np.allclose(trace.attention["self"][3], here.attention["self"][3], atol=1e-6), "what is asked for later, too"
        assert far.far.trouble
        assert_reads_as_here(far)
        dead.clear()
        before = far.far.asked
        assert_reads_as_here(far)
        assert far.far.asked == before, "nobody is asked for a while"
        now[0] += AWAY + 1
        assert_reads_as_here(far)
        assert far.far.asked > before and not far.far.trouble, "then they are asked again"


def test_a_model_that_is_elsewhere_alone_says_that_nobody_answers():
    dead = []
    with replicas(lambda request: bool(dead) and die(request)) as port:
        far = FarModel("GPT-2", ReplicaClient("127.0.0.1", port))
        dead.append(True)
        with pytest.raises(Unreachable, match="do not answer"):
            far.trace(TEXT)


def test_a_replica_that_hangs_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(far_model, "PATIENCE", (0.2, 0.2))

    def hang(request) -> bool:
        time.sleep(1.0)
        return die(request)

    with replicas(hang) as port:
        far = FarModel("writer", ReplicaClient("127.0.0.1", port), model("writer"))
        assert_reads_as_here(far)
        assert "no answer in" in far.far.trouble


@pytest.mark.parametrize("answer", [b"", b"<html>", pack({"x": 1})[:-1], b"\xff" * 40, b'{"a"'])
def test_what_is_no_answer_of_headlight_is_told_of(answer):
    def say(request) -> bool:
        send(request, 200, answer)
        return True

    with replicas(say) as port:
        far = FarModel("writer", ReplicaClient("127.0.0.1", port), model("writer"))
        assert_reads_as_here(far)
        assert "what answers there is no Headlight" in far.far.trouble


NO_REFUSALS = [
    b"[]",
    b"{}",
    b'"a"',
    b"3",
    b"null",
    b'{"kind": "ModelError"}',
    b'{"kind": [], "sentence": 1}',
    b'{"kind": "version',
]
HALF = [pack({}), pack({"trace": []}), pack({"tokens": [[1, "a"]]}), pack({"parts": {"last": {}}, "trace": {"tokens": []}})]


@pytest.mark.parametrize(("status", "answer"), [*((422, answer) for answer in NO_REFUSALS), *((200, answer) for answer in HALF)])
def test_half_an_answer_is_told_of_whatever_was_asked(status, answer):
    wrong = []

    def say(request) -> bool:
        if wrong:
            send(request, status, answer)
        return bool(wrong)

    with replicas(say) as port:
        far = FarModel("writer", ReplicaClient("127.0.0.1", port), model("writer"))
        alone = FarModel("GPT-2", ReplicaClient("127.0.0.1", port))
        trace = alone.trace(TEXT)
        wrong.append(True)
        assert_reads_as_here(far)
        assert "what answers there is no Headlight" in far.far.trouble
        asking = (
            lambda: alone.tokenize(TEXT),
            lambda: alone.spell([1]),
            lambda: alone.trace("another text"),
            lambda: trace.hidden["self"],
            lambda: trace.attention["self"][0],
            lambda: trace.attention["self"].q(0),
            lambda: trace.logits_at(0),
            lambda: FarModel("GPT-2", ReplicaClient("127.0.0.1", port)),
        )
        for ask in asking:
            alone.far._away_until = 0.0
            with pytest.raises(Unreachable, match="what answers there is no Headlight"):
                ask()


def test_half_a_body_is_told_of():
    def say(request) -> bool:
        request.send_response(200)
        request.send_header("Content-Length", "1000")
        request.end_headers()
        request.wfile.write(b"x" * 500)
        return die(request)

    with replicas(say) as port:
        far = FarModel("writer", ReplicaClient("127.0.0.1", port), model("writer"))
        assert_reads_as_here(far)
        assert "the connection broke" in far.far.trouble


@pytest.mark.parametrize("part", ["head", "body", "body without a length"])
def test_a_replica_that_drips_is_not_waited_for(part, monkeypatch):
    """A byte now and then, each of them in time."""
    monkeypatch.setattr(far_model, "PATIENCE", (0.3, 0.3))
    drops = []

    def drip(request) -> bool:
        if part != "head":
            length = b"Content-Length: 100\r\n" if part == "body" else b"Connection: close\r\n"
            request.wfile.write(b"HTTP/1.1 200 OK\r\n" + length + b"\r\n")
        with suppress(OSError):
            for letter in (b"HTTP/1.1 200 OK\r\n" + b"x" * 80)[:100]:
                request.wfile.write(bytes([letter]))
                drops.append(letter)
                time.sleep(0.1)
        return die(request)

    with replicas(drip) as port:
        far = FarModel("writer", ReplicaClient("127.0.0.1", port), model("writer"))
        assert_reads_as_here(far)
        assert len(drops) < 50 and "no answer in" in far.far.trouble


def test_another_version_is_told_of(monkeypatch):
    with replicas() as port:
        monkeypatch.setattr("models.remote.client.VERSION", "9.9")
        far = FarModel("writer", ReplicaClient("127.0.0.1", port), model("writer"))
        assert_reads_as_here(far)
        assert "this server runs 9.9" in far.far.trouble


@pytest.mark.parametrize("message", [b"", b"x" * 100, pack({}), pack({"version": models.version.VERSION, "asked": "__class__"})])
def test_a_message_that_is_none_is_refused(message):
    status, answer = Replica("./nothing").answer(message)
    assert status == 422 and b"sentence" in answer


def test_a_message_comes_out_as_it_went_in():
    import torch

    whole = torch.arange(12.0).reshape(3, 4)
    content = {"a": [1, None, "ü\ud800".encode("utf-8", "replace").decode()], "b": {"c": 0.5}}
    unpacked, tensors = unpack(pack(content, {"rows": whole[1:, ::2], "half": whole[:1].bfloat16(), "none": whole[:0]}))
    assert unpacked == content and torch.equal(tensors["rows"], whole[1:, ::2]) and tensors["half"].dtype == torch.bfloat16
    assert len(pack({}, {"a": torch.zeros(10**6)[:1]})) < 300, "of a view only what is seen"


def test_what_readers_who_left_have_read_is_forgotten():
    from models.remote.answers import FORGOTTEN, Answers

    now = [0.0]
    answers = Answers(model("filler"), clock=lambda: now[0])
    question = {"asked": "read", "text": "a [MASK]", "target": "", "remember": True, "parts": []}
    answers.answer({**question, "reader": "gone"}, {})
    now[0] += FORGOTTEN / 2
    answers.answer({**question, "reader": "here"}, {})
    now[0] += FORGOTTEN / 2 + 1
    answers.tidy()
    assert answers._traces.owners == ["here"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"HEADLIGHT_REPLICAS": "0"},
        {"HEADLIGHT_REPLICAS": "3-1"},
        {"HEADLIGHT_REPLICAS": "many"},
        {"HEADLIGHT_REPLICA_GPUS": "-1"},
        {"HEADLIGHT_REPLICA_CPUS": "x"},
        {"HEADLIGHT_REPLICA_MODELS": "nan"},
    ],
)
def test_a_setting_of_replicas_that_cannot_be_is_refused_in_a_sentence(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        serving.settings(wrong)


def test_the_settings_of_replicas_are_read():
    settings = serving.settings({"HEADLIGHT_REPLICAS": "1-8", "HEADLIGHT_REPLICA_CPUS": "2", "HEADLIGHT_REPLICA_GPUS": "0.5"})
    assert settings == serving.Settings(1, 8, 2.0, 0.5, 4)


def test_every_node_hears_questions_unless_they_come_from_this_machine_alone():
    assert serving.heard_here("127.0.0.1") and serving.heard_here("localhost") and serving.heard_here("::1")
    assert not serving.heard_here("0.0.0.0") and not serving.heard_here("10.0.0.5") and not serving.heard_here("::")
