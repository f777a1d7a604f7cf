"""The peers' own Python environment, made when it is first needed, and what they print from there."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.peers.gpt2 import BUILD
from benchmarks.peers.measure import Settings

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ROOT / "benchmarks" / "requirements-peers.txt"
FOLDER = BUILD / "environment"
PATIENCE = 1200  # seconds that a peer, or its installation, may take
PEERS = {"transformer_lens": "TransformerLens", "nnsight": "nnsight"}  # module here: name


class PeerError(RuntimeError):
    """A peer that could not be installed or that failed, in a line."""


def make() -> Path:
    """The environment's Python. It is brought up to date when the peers' pins or our Python have changed. Errors: PeerError."""
    python = FOLDER / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pins, made_of = f"# Python {platform.python_version()}\n{REQUIREMENTS.read_text()}", FOLDER / "made-of.txt"
    if made_of.exists() and made_of.read_text() == pins and python.exists():
        return python
    print("Installing the peers in an environment of their own (some minutes).", file=sys.stderr, flush=True)
    if not python.exists():
        shutil.rmtree(FOLDER, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(FOLDER)])
    _run([str(python), "-m", "pip", "install", "--disable-pip-version-check", "-q", "-r", str(REQUIREMENTS)])
    made_of.write_text(pins)
    return python


def measured(peer: str, settings: Settings) -> list[dict]:
    """What a peer measured of itself (`measure.Result`), in a process of its own. Errors: PeerError."""
    return printed(f"through_{peer}", json.dumps(asdict(settings)))


def printed(script: str, argument: str) -> Any:
    """What a script of this folder prints last, in JSON, when it is run in the peers' environment. Errors: PeerError."""
    return json.loads(_run([str(make()), "-m", f"benchmarks.peers.{script}", argument]).splitlines()[-1])


def _run(command: list[str]) -> str:
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    try:
        result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise PeerError(f"{command[2]} was not done within {PATIENCE // 60} minutes.") from None
    if result.returncode:
        lines = [line for line in result.stderr.splitlines() if line.strip() and not line.startswith("WARNING")]
        raise PeerError(lines[-1] if lines else f"{Path(command[0]).name} ended with {result.returncode}.")
    return result.stdout
