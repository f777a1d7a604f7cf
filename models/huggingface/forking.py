"""The process that forks for confined work: it starts with the first request, and ends after a while without any."""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

CONFINED = f"{__name__.rpartition('.')[0]}.confined"  # the module that it runs
IDLE = 600.0  # seconds after the last trial in which the process stays ready for another
TICK = 0.2  # seconds between two looks at whether anybody still waits
ROOT = Path(__file__).parents[__name__.count(".")]  # where what is imported by the whole name of this module is found
ALONE = {
    "HF_HUB_OFFLINE": "1",  # nothing that is tried reaches the Hub
    "CUDA_VISIBLE_DEVICES": "",
    "TOKENIZERS_PARALLELISM": "false",
    "RUST_BACKTRACE": "0",  # a library that stops says so in one line
    "MALLOC_ARENA_MAX": "1",  # each thread would set an arena of addresses aside
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}

_lock = threading.Lock()
_process: subprocess.Popen[bytes] | None = None
_control: socket.socket | None = None  # the trials' sockets go through it
_rest: threading.Timer | None = None


def hand_over(line: socket.socket) -> subprocess.Popen[bytes]:
    """Send a socket to the process that forks, which serves it in a fork. Starts that process if there is none."""
    global _process, _control, _rest
    with _lock:
        if _process is None or _process.poll() is not None:
            _control, theirs = socket.socketpair()
            environment = {key: value for key, value in os.environ.items() if not key.startswith("HF_TOKEN")} | ALONE
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
            with theirs:
                _process = subprocess.Popen(
                    [sys.executable, "-m", CONFINED, str(theirs.fileno())],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                )
        assert _control is not None, "it was made with the process"
        socket.send_fds(_control, [b"."], [line.fileno()])
        if _rest:
            _rest.cancel()
        _rest = threading.Timer(IDLE, _end)
        _rest.daemon = True
        _rest.start()
        return _process


@atexit.register
def _end() -> None:
    global _process
    with _lock:
        if _process is not None and _control is not None:
            _control.close()  # which ends it, but not the trials that are running
            _process.wait()
            _process = None
