"""The Node that Playwright brings along, for what in our JavaScript needs no browser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import playwright

from tests.serving import ROOT

NODE = Path(playwright.__file__).parent / "driver" / ("node.exe" if sys.platform == "win32" else "node")


def printed(script: str) -> str:
    """What a module prints; it imports from "./shared/…" and "./views/…". Raises CalledProcessError where it fails."""
    run = [NODE, "--input-type=module", "--no-warnings"]
    return subprocess.run(run, input=script, cwd=ROOT / "viz", capture_output=True, encoding="utf-8", check=True).stdout
