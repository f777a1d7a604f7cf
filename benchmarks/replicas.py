"""Headlight whose texts are read by replicas behind Ray Serve, on one node of Ray's or on several on this machine."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil

from tests.serving import ROOT, Server, free_port, serve

STORE = 100 * 2**20  # bytes that a node sets aside for what its processes share; no question goes through it
PATIENCE = 300  # seconds
NOT_THERE = "Ray has not started: pip install -r requirements-ray.txt"


@contextmanager
def serve_replicas(count: int, nodes: int = 1) -> Iterator[tuple[Server, list[psutil.Process]]]:
    """The app by one process for which so many replicas read, on a Ray of their own; and the processes that have begun that.

    nodes: of Ray, each with processes of its own and with room for an equal share of the replicas. Raises SystemExit where Ray
    does not start."""
    port, own = free_port(), {**os.environ, "HEADLIGHT_REPLICAS": str(count)}
    command = [sys.executable, "-m", "models.remote", "--port", str(port)]
    with ExitStack() as stack:
        if nodes == 1:
            begun = [stack.enter_context(running([*command, "--with-parent"], own, "ray://"))]
        else:
            own |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}  # who knows it belongs to this Ray
            head, each = f"127.0.0.1:{free_port()}", -(-count // nodes)
            node_commands = [node(head, each, first=number == 0) for number in range(nodes)]
            begun = [stack.enter_context(running(node_command, own, "Ray runtime started")) for node_command in node_commands]
            subprocess.run([*command, "--address", head], cwd=ROOT, env=own, stdout=sys.stderr, check=True, timeout=PATIENCE)
        os.environ["HEADLIGHT_BACKEND"] = f"ray://127.0.0.1:{port}"
        stack.callback(os.environ.pop, "HEADLIGHT_BACKEND")
        with serve(ROOT / "app.py") as server:
            yield server, begun


def node(head: str, replicas: int, first: bool) -> list[str]:
    """The command of a node of Ray that has room for so many replicas. head: where the first one is heard."""
    ray = Path(sysconfig.get_path("scripts")) / "ray"
    where = ["--head", f"--port={head.rpartition(':')[2]}", "--include-dashboard=false"] if first else [f"--address={head}"]
    size = [f"--num-cpus={replicas}", f"--object-store-memory={STORE}", "--node-ip-address=127.0.0.1"]
    return [str(ray), "start", "--block", "--disable-usage-stats", *where, *size]


@contextmanager
def running(command: list[str], own: dict[str, str], ready: str) -> Iterator[psutil.Process]:
    """A process, once it has said that it is ready, until the block ends."""
    process = subprocess.Popen(command, cwd=ROOT, env=own, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        if not any(ready in line for line in process.stdout):
            sys.exit(NOT_THERE)
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(120)  # a node takes up to half a minute to hand over what it has, and another half to end
