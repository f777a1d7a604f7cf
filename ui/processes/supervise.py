"""Supervises several servers and their proxy: starts them, restarts those that end, and ends all of them."""

from __future__ import annotations

import multiprocessing
import os
import secrets
import signal
import socket
import sys
import tempfile
import time
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from multiprocessing import connection
from typing import Any

from models.remote import backend
from ui.processes import proxy, tasks

PATIENCE = 10.0  # seconds in which a process may end by itself, and those between a start and another of what ends at once
FIRST = 180.0  # seconds in which the first server must be ready
SHARED = f"{__package__}.preload"


@dataclass
class ManagedProcess:
    """A process to keep running. context: of multiprocessing; began: when it was last started."""

    name: str
    context: Any
    task: Callable[..., None]
    arguments: tuple[Any, ...]
    process: Any = None
    began: float = field(default=float("-inf"))

    def begin(self) -> None:
        self.process, self.began = self.context.Process(target=self.task, args=self.arguments), time.monotonic()
        self.process.start()


class Stopped(Exception):
    """Somebody has asked the program to stop."""


def stop(*_: object) -> None:
    raise Stopped


def run(host: str, port: int, processes: int, show: bool) -> None:
    """Serve the app with so many processes until this one is stopped. show: whether a browser opens."""
    if not (caddy := proxy.find()):
        sys.exit(proxy.MISSING)
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, stop)
    with tempfile.TemporaryDirectory(prefix=f"hl-{os.getpid()}-") as folder:
        allowed = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1")  # as the server behind the proxy has it by itself
        set_up(folder, processes)
        backend.start_for_all()
        ports = list(free_ports(port, processes))
        context: Any = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")
        if sys.platform == "linux":
            context.set_forkserver_preload([SHARED])
        secret = secrets.token_hex()
        caddy_settings = proxy.settings(host, port, ports, secret, allowed)
        servers = [
            ManagedProcess(f"The server on port {server_port}", context, tasks.server, (ports, number, secret))
            for number, server_port in enumerate(ports)
        ]
        front = ManagedProcess("The proxy", context, tasks.proxy, (caddy, caddy_settings))
        try:
            for server in servers:
                server.begin()
            wait_for(servers, ports)
            front.begin()
            say(host, port, processes, show)
            look_after([*servers, front])
        except Stopped:
            pass
        finally:
            end([*servers, front])


def set_up(folder: str, processes: int) -> None:
    """Set the environment of the processes: a temporary folder, shared secrets, and each one's share of memory."""
    from models.huggingface.memory import free_memory

    os.environ["TMPDIR"] = folder
    os.environ["FORWARDED_ALLOW_IPS"] = "127.0.0.1"  # the proxy
    os.environ.setdefault("HEADLIGHT_MODEL_BYTES", str(free_memory() // 2 // processes))
    if not os.environ.get("HEADLIGHT_ROOM_SECRET"):
        os.environ["HEADLIGHT_ROOM_SECRET"] = secrets.token_hex()


def free_ports(after: int, count: int) -> Iterator[int]:
    """Return the next free ports of this machine. Ports that the system assigns by itself are left out: it could assign one while
    that port's server restarts."""
    for port in range(after + 1, 65536):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        yield port
        count -= 1
        if not count:
            return
    sys.exit(f"There are not enough free ports above {after} for the servers. Choose a smaller port.")


def is_ready(port: int) -> bool:
    with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as line:
        try:
            line.request("GET", "/ready")
            return line.getresponse().status == 200
        except (OSError, HTTPException):
            return False


def wait_for(servers: Sequence[ManagedProcess], ports: Sequence[int]) -> None:
    """Wait until the first server is ready; the others get visitors as soon as they are ready."""
    until = time.monotonic() + FIRST
    while not any(map(is_ready, ports)):
        if time.monotonic() > until or not any(server.process.is_alive() for server in servers):
            sys.exit("None of the servers has started. What they say of it stands above.")
        time.sleep(0.1)


def say(host: str, port: int, processes: int, show: bool) -> None:
    """Print Headlight's address in one line."""
    displayed_host = "localhost" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    base_path = os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "").strip("/")
    address = f"http://{displayed_host}:{port}" + (f"/{base_path}" if base_path else "")
    print(f"  Headlight, {processes} processes: {address}", flush=True)
    if show:
        webbrowser.open(address)


def look_after(processes: Sequence[ManagedProcess]) -> None:
    """Restart processes that end, without delay if they ran for a while."""
    due: dict[str, float] = {}
    while True:
        alive = {managed.process.sentinel: managed for managed in processes if managed.name not in due}
        pause = max(0.0, min(due.values()) - time.monotonic()) if due else None
        for sentinel in connection.wait(list(alive), pause):
            managed = alive[sentinel]
            due[managed.name] = max(time.monotonic(), managed.began + PATIENCE)
            print(f"{managed.name} has ended ({managed.process.exitcode}); it begins again.", file=sys.stderr, flush=True)
        for managed in processes:
            if due.get(managed.name, float("inf")) <= time.monotonic():
                del due[managed.name]
                managed.begin()


def end(processes: Sequence[ManagedProcess]) -> None:
    """End all processes; kill those that take too long."""
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, signal.SIG_IGN)
    started = [managed.process for managed in processes if managed.process]
    for child in started:
        child.terminate()
    until = time.monotonic() + PATIENCE
    for child in started:
        child.join(max(0.0, until - time.monotonic()))
        child.kill()
        child.join()
