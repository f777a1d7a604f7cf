"""Replicas that Ray cannot start: the command ends with a sentence on what happened and what to do."""

from __future__ import annotations

import pytest

from models.remote import serving

NODE = "The current node timed out during startup. This could happen because some of the raylet failed to startup."


@pytest.mark.parametrize(
    ("error", "said", "advice"),
    [
        (Exception(NODE), "timed out during startup", "HEADLIGHT_REPLICAS"),
        (RuntimeError("Timed out waiting for node info for node_id=1."), "waiting for node info", "HEADLIGHT_REPLICAS"),
        (TimeoutError("HTTP proxies not available after 60s."), "not available after 60s", "HEADLIGHT_REPLICAS"),
        (TimeoutError(), "TimeoutError", "HEADLIGHT_REPLICAS"),
        (RuntimeError("Deploying application headlight failed:\nTraceback\n  line"), "application headlight failed", "logs"),
    ],
)
def test_what_ray_cannot_start_is_told_in_one_sentence(monkeypatch, capsys, error, said, advice):
    def start(*given: object) -> None:
        raise error

    monkeypatch.setattr(serving, "serve_models", start)
    assert serving.main([]) == 1
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("\n") == 1
    assert said in told.err and advice in told.err and "Traceback" not in told.err


def test_a_cluster_that_does_not_let_in_is_told_of_like_one_that_is_not_there(monkeypatch, capsys):
    """Ray raises the same for both."""

    def start(*_):
        raise ConnectionError("ray client connection timeout")

    monkeypatch.setattr(serving, "serve_models", start)
    assert serving.main(["--address", "10.0.0.5:6379"]) == 1
    said = capsys.readouterr().err
    assert "10.0.0.5:6379" in said and "ray start --head" in said and "RAY_AUTH_TOKEN" in said and "Traceback" not in said
