"""Where models read: in this process (embedded), or on replicas (HEADLIGHT_BACKEND=ray://host:port, or ray://local)."""

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
from models.progress import Progress, Report, silent

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.remote.far import Far

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
    """far: the replicas; None where models are read here. wrong: what is wrong with the setting, in a sentence."""

    far: Far | None = None
    wrong: str = ""


def asked_for(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether models are to be read elsewhere."""
    return environment.get("HEADLIGHT_BACKEND", "").strip() not in ("", EMBEDDED)


def backend(environment: Mapping[str, str] = os.environ) -> Backend:
    """The one that HEADLIGHT_BACKEND names."""
    return _backend(environment.get("HEADLIGHT_BACKEND", "").strip() or EMBEDDED)


@cache
def _backend(given: str) -> Backend:
    if given == EMBEDDED:
        return Backend()
    from models.remote.far import Far

    if given == LOCAL:
        return Backend(Far("127.0.0.1", start())) if find_spec("ray") else _refused(MISSING)
    try:
        parts = urlsplit(given)
        host, port = parts.hostname, parts.port
    except ValueError:
        return _refused(WRONG)
    if parts.scheme != "ray" or not host or port is None or parts.path.strip("/"):
        return _refused(WRONG)
    return Backend(Far(host, port))


def _refused(sentence: str) -> Backend:
    logging.getLogger(__name__).warning(sentence)
    return Backend(wrong=sentence)


def start_for_all(environment: MutableMapping[str, str] = os.environ) -> None:
    """Where several processes ask for replicas beside themselves, start these once, and tell the processes where they are."""
    if environment.get("HEADLIGHT_BACKEND", "").strip() == LOCAL and find_spec("ray"):
        environment["HEADLIGHT_BACKEND"] = f"ray://127.0.0.1:{start()}"


def start() -> int:
    """Start replicas on this machine, which end with this process; the port where they will answer, in half a minute or later."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", f"{models.__name__}.remote", "--port", str(port), "--with-parent"]
    begun = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    )
    atexit.register(begun.terminate)
    return port


def trouble() -> str:
    """Why models are not read by the machines that should, in a sentence; "" where all is as it should be."""
    found = backend()
    return found.wrong or (found.far.trouble if found.far else "")


def opened(name: str, report: Report = silent) -> LanguageModel | None:
    """A model that replicas read with; None where it is read here: by the setting, or because it is a folder of this machine.

    report: as for `models.load`. Errors: ModelError where it cannot be had, or no replica answers and it does not ship.
    """
    from models.huggingface.names import is_folder_name

    if (far := backend().far) is None or is_folder_name(name):
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
