"""The tasks of the processes: a server of the app, or the proxy. Each ends with the process that started it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from multiprocessing import connection, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from ui.processes.proxy import COOKIE, value
from ui.rooms.home import home

APP = Path(__file__).parents[2] / "app.py"


def server(ports: Sequence[int], number: int, secret: str) -> None:
    """Serve the app on this machine alone, on one of the ports; the proxy serves it to others. secret: shared with the proxy."""
    end_with_parent()
    home.settle(COOKIE, [value(port, secret) for port in ports], number)
    from streamlit.web import cli

    from ui.processes import preload  # noqa: F401  # on Linux it is here already: this process is forked from one that has it

    flags = [
        f"--server.port={ports[number]}",
        "--server.address=127.0.0.1",
        "--server.headless=true",
        "--logger.hideWelcomeMessage=true",
    ]
    sys.argv[:] = ["streamlit", "run", str(APP), *flags]
    cli.main()


def proxy(path: str, settings: dict[str, Any]) -> None:
    """Run Caddy. Its own files (its identity, the time of its last clean-up) go into the temporary folder."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it gets its own
    environment = os.environ | dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), os.environ["TMPDIR"])
    with subprocess.Popen([path, "run", "--config", "-"], stdin=subprocess.PIPE, env=environment) as caddy:
        signal.signal(signal.SIGTERM, lambda *_: caddy.terminate())
        assert caddy.stdin
        caddy.stdin.write(json.dumps(settings).encode())
        caddy.stdin.close()
        sys.exit(caddy.wait())


def end_with_parent() -> None:
    """End this process when the one that started it is gone."""
    parent = parent_process()
    assert parent

    def wait() -> None:
        connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=wait, daemon=True).start()
