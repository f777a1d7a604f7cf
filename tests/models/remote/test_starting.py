"""Replicas that Ray cannot start: the command ends with a sentence on what happened and what to do."""

from __future__ import annotations

import pytest

from models.remote import serving

NODE = "The current node timed out during startup. This could happen because some of the raylet failed to startup."


@pytest.mark.parametrize(
    ("error", "sentence", "advice"),
    [
        (Exception(NODE), "timed out during startup", "HEADLIGHT_REPLICAS"),
        (RuntimeError("Timed out waiting for node info for node_id=1."), "waiting for node info", "HEADLIGHT_REPLICAS"),
        (TimeoutError("HTTP proxies not available after 60s."), "not available after 60s", "HEADLIGHT_REPLICAS"),
        (TimeoutError(), "TimeoutError", "HEADLIGHT_REPLICAS"),
        (RuntimeError("Deploying application headlight failed:\nTraceback\n  line"), "application headlight failed", "logs"),
    ],
)
def test_what_ray_cannot_start_is_told_in_one_sentence(monkeypatch, capsys, error, sentence, advice):
    def start(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(serving, "serve_models", start)
    assert serving.main([]) == 1
    output = capsys.readouterr()
    assert output.out == "" and output.err.count("\n") == 1
    assert sentence in output.err and advice in output.err and "Traceback" not in output.err


def test_a_cluster_that_does_not_let_in_is_told_of_like_one_that_is_not_there(monkeypatch, capsys):
    """Ray raises the same for both."""

    def start(*_):
        raise ConnectionError("ray client connection timeout")

    monkeypatch.setattr(serving, "serve_models", start)
    assert serving.main(["--address", "10.0.0.5:6379"]) == 1
    message = capsys.readouterr().err
    assert (
        "10.0.0.5:6379" in message
        and "ray start --head" in message
        and "RAY_AUTH_TOKEN" in message
        and "Traceback" not in message
    )


@pytest.mark.parametrize("step", ["serve_models", "_wait"])
def test_who_ends_it_at_any_moment_gets_no_traceback(monkeypatch, capsys, step):
    def stop(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(serving, "serve_models", lambda *arguments: None)
    monkeypatch.setattr(serving, "_wait", lambda parent: None)
    monkeypatch.setattr(serving, step, stop)
    assert serving.main([]) == 130
    assert capsys.readouterr().err == f"{serving.STOPPED}\n"


def test_replicas_that_do_not_end_well_are_told_of_in_one_sentence(monkeypatch, capsys):
    def fail(parent: object) -> None:
        raise RuntimeError("The raylet has died.")

    monkeypatch.setattr(serving, "serve_models", lambda *arguments: None)
    monkeypatch.setattr(serving, "_wait", fail)
    assert serving.main([]) == 1
    assert "The raylet has died" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["0", "70000", "-1", "x"])
def test_a_port_that_is_none_is_refused(port, capsys):
    with pytest.raises(SystemExit):
        serving.main(["--port", port])
    assert "--port" in capsys.readouterr().err
