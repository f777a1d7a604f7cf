"""The place where models run: this process (embedded), or replicas (HEADLIGHT_BACKEND=ray://host:port, or ray://local)."""

from __future__ import annotations

import atexit
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import models
from models.files.progress import Progress, Report, silent

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.remote.client import ReplicaClient

EMBEDDED, LOCAL = "embedded", "ray://local"
TICK = 0.5  # seconds between two reports of a model that is being opened elsewhere
MISSING = (
    "HEADLIGHT_BACKEND asks for Ray, which is not installed here (pip install 'headlight[ray]'). All models are read by the "
    "server itself."
)
WRONG = (
    "HEADLIGHT_BACKEND must be embedded, ray://local or ray://host:port. As it is none of these, all models are read by the "
    "server itself."
)


@dataclass(frozen=True)
class Backend:
    """The place where models run. far: the replicas, None for this process; wrong: a sentence about a wrong setting, or ""."""

    far: ReplicaClient | None = None
    wrong: str = ""


def asked_for(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether the setting asks for models that run elsewhere."""
    return environment.get("HEADLIGHT_BACKEND", "").strip() not in ("", EMBEDDED)


def backend(environment: Mapping[str, str] = os.environ) -> Backend:
    """Return the backend that HEADLIGHT_BACKEND names."""
    return _backend(environment.get("HEADLIGHT_BACKEND", "").strip() or EMBEDDED)


@cache
def _backend(setting: str) -> Backend:
    if setting == EMBEDDED:
        return Backend()
    from models.remote.client import ReplicaClient

    if setting == LOCAL:
        return Backend(ReplicaClient("127.0.0.1", start())) if find_spec("ray") else _refuse(MISSING)
    try:
        parts = urlsplit(setting)
        host, port = parts.hostname, parts.port
    except ValueError:
        return _refuse(WRONG)
    if parts.scheme != "ray" or not host or port is None or parts.path.strip("/"):
        return _refuse(WRONG)
    return Backend(ReplicaClient(host, port))


def _refuse(sentence: str) -> Backend:
    logging.getLogger(__name__).warning(sentence)
    return Backend(wrong=sentence)


def start_for_all(environment: MutableMapping[str, str] = os.environ) -> None:
    """Start the replicas once where several processes ask for their own, and write their address into the setting."""
    if environment.get("HEADLIGHT_BACKEND", "").strip() == LOCAL and find_spec("ray"):
        environment["HEADLIGHT_BACKEND"] = f"ray://127.0.0.1:{start()}"


def start() -> int:
    """Start replicas on this machine, which end with this process. Return their port; they answer in half a minute or later."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", f"{models.__name__}.remote", "--port", str(port), "--with-parent"]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    )
    atexit.register(process.terminate)
    return port


def trouble() -> str:
    """Return a sentence on why the machines that should run the models do not; "" where they do."""
    current = backend()
    return current.wrong or (current.far.trouble if current.far else "")


def opened(name: str, report: Report = silent) -> LanguageModel | None:
    """Return a model that runs on replicas; None where it runs here, by the setting or because it is a folder of this machine.

    report: as for `models.load`. Errors: ModelError where it cannot be loaded, or where no replica answers and it does not ship.
    """
    from models.huggingface.names import is_folder_name

    if (far := backend().far) is None or is_folder_name(name) or name in models.names("image"):
        return None
    from models.remote.far_model import FarModel

    if name in models.names():
        return FarModel(name, far, models.load(name, report=report))
    pool = ThreadPoolExecutor(1, thread_name_prefix=f"open {name}")
    try:
        opening = pool.submit(FarModel, name, far)
        while True:
            report(Progress("prepare"))
            try:
                return opening.result(TICK)
            except NotYet:
                if opening.done():
                    raise
    finally:
        pool.shutdown(wait=False)
