"""The command `headlight` says in a sentence what it cannot do."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest
from streamlit.web import cli

from models.version import VERSION
from tests.serving import ROOT, free_port
from ui import command


@pytest.mark.parametrize("port", ["0", "65536", "-1", "http", "8 501", "٨٥٠١"])
def test_what_is_no_port_is_refused(port, capsys):
    with pytest.raises(SystemExit) as end:
        command.parser().parse_args([f"--port={port}"])
    assert end.value.code == 2 and "choose a number from 1 to 65535" in capsys.readouterr().err


def test_a_busy_port_and_a_foreign_host_are_said_before_anything_starts():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        busy = taken.getsockname()[1]
        assert f"Port {busy} is busy" in command.complaint("127.0.0.1", busy)
        completed = subprocess.run(
            [sys.executable, "-m", "ui.command", "--host", "127.0.0.1", "--port", str(busy)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    assert completed.returncode == 1 and completed.stderr.startswith(f"Port {busy} is busy") and completed.stderr.count("\n") == 1
    assert "cannot listen" in command.complaint("203.0.113.7", 8501)
    assert not command.complaint("localhost", free_port())


def test_folders_and_flags_reach_the_app(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(cli, "main", lambda: started.append(list(sys.argv)))
    monkeypatch.setattr(sys, "argv", ["headlight"])
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", "before")
    (tmp_path / "a").mkdir()
    port = free_port()
    command.main(["--port", str(port), "--models", str(tmp_path), "--models", str(tmp_path / "a"), "--no-open"])
    assert os.environ["HEADLIGHT_MODEL_DIRS"] == f"{tmp_path}{os.pathsep}{tmp_path / 'a'}"
    assert started == [
        [
            "streamlit",
            "run",
            str(ROOT / "app.py"),
            f"--server.port={port}",
            "--server.address=localhost",
            "--server.headless=true",
        ]
    ]
    with pytest.raises(SystemExit):
        command.main(["--models", str(tmp_path / "not there")])


def test_it_says_its_version(capsys):
    with pytest.raises(SystemExit):
        command.main(["--version"])
    assert capsys.readouterr().out == f"headlight {VERSION}\n"
