"""The same behind Ray Serve itself, where Ray is installed (pip install -r requirements-ray.txt); it takes a minute to start."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress

import numpy as np
import psutil
import pytest
import torch

import models
from models.remote.client import ReplicaClient
from models.remote.far_model import FarModel
from tests.models.edited import OURS, TEXT, model, target
from tests.serving import ROOT

pytest.importorskip("ray", reason="Ray is not installed: pip install -r requirements-ray.txt")
START = 180.0  # seconds


@pytest.fixture(scope="module")
def served():
    """The process that has replicas read, and the port where they answer."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    command = [sys.executable, "-m", "models.remote", "--port", str(free), "--with-parent"]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env={**os.environ, "HEADLIGHT_REPLICAS": "2"})
    timer = threading.Timer(START, server.kill)
    timer.start()
    assert f"ray://127.0.0.1:{free}" in server.stdout.readline(), "replicas are there"
    timer.cancel()
    yield psutil.Process(server.pid), free
    children = psutil.Process(server.pid).children(recursive=True)
    server.terminate()
    server.wait(60)
    assert not psutil.wait_procs(children, 30)[1], "nothing is left behind"


@pytest.fixture(scope="module")
def port(served) -> int:
    return served[1]


@pytest.fixture(autouse=True)
def one_thread():
    """As replicas read: sums that several threads share are rounded in another order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def replicas(process: psutil.Process) -> dict[int, psutil.Process]:
    """The replicas that this process has, by their numbers: none of another Ray on this machine, and no worker that waits
    ("ray::IDLE") for work or has ended."""
    candidates: dict[int, tuple[psutil.Process, int]] = {}
    for child in process.children(recursive=True):
        with suppress(psutil.Error):
            if child.status() != psutil.STATUS_ZOMBIE and "".join(child.cmdline()[:1]).startswith("ray::ServeReplica:headlight"):
                candidates[child.pid] = child, child.ppid()
    # A process that a replica has started is no replica.
    return {pid: child for pid, (child, parent) in candidates.items() if parent not in candidates}


@pytest.mark.parametrize("name", [*OURS, "sorter"])
def test_behind_ray_a_text_is_read_as_it_is_here(port, name):
    here = models.load("sorter") if name == "sorter" else model(name)
    second = "" if name == "sorter" else target(name)
    far = FarModel(name, ReplicaClient("127.0.0.1", port), here)
    far_trace, here_trace = far.trace(TEXT, second), here.trace(TEXT, second)
    assert far_trace.tokens == here_trace.tokens and far_trace.target == here_trace.target
    for kind, attention in here_trace.attention.items():
        for layer in range(attention.layers):
            assert np.abs(far_trace.attention[kind][layer] - attention[layer]).max() <= 1e-6
            assert np.abs(far_trace.attention[kind].q(layer) - attention.q(layer)).max() <= 1e-6
    assert all(np.abs(far_trace.hidden[stack] - stream).max() <= 1e-6 for stack, stream in here_trace.hidden.items())
    if here_trace.predicts:
        place = here.places(here_trace)[-1] if here.places(here_trace) else 0
        assert np.abs(far_trace.scores_at(place) - here_trace.scores_at(place)).max() <= 1e-5
    assert far.far.asked and not far.far.trouble


def test_a_replica_that_is_killed_takes_no_key_press_along(served):
    process, port = served
    far, here = FarModel("writer", ReplicaClient("127.0.0.1", port), model("writer")), model("writer")
    text = "The little dog went to the park and found a big red ball"
    there = replicas(process)
    assert len(there) == 2
    for at in range(4, len(text)):
        if at == 10:
            next(iter(there.values())).kill()
        far_trace, here_trace = far.trace(text[:at]), here.trace(text[:at])
        assert (
            far_trace.tokens == here_trace.tokens
            and np.abs(far_trace.attention["self"][2] - here_trace.attention["self"][2]).max() <= 1e-5
        )
        assert np.abs(far_trace.logits_at(-1) - here_trace.logits_at(-1)).max() <= 1e-4
    until = time.monotonic() + START
    while not replicas(process).keys() - there.keys() and time.monotonic() < until:
        time.sleep(0.5)
    assert replicas(process).keys() - there.keys(), "another one is started in its place"


def test_a_model_that_cannot_be_had_is_told_of(port):
    from models.errors import ModelError

    with pytest.raises(ModelError):
        FarModel("nobody/no-such-model", ReplicaClient("127.0.0.1", port))
    with pytest.raises(ModelError, match="folders are not opened"):
        FarModel("/etc", ReplicaClient("127.0.0.1", port))


def test_nothing_is_told_to_who_makes_ray_and_there_is_no_dashboard(served):
    here = replicas(served[0])
    assert here and all(replica.environ().get("RAY_USAGE_STATS_ENABLED") == "0" for replica in here.values())
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", 8265)), "a dashboard answers"
