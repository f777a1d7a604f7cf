"""The Node that Playwright brings along, for what in our JavaScript needs no browser, and TypeScript, which checks its types."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import playwright
import pytest

from tests.serving import ROOT

NODE = Path(playwright.__file__).parent / "driver" / ("node.exe" if sys.platform == "win32" else "node")
TSC = ROOT / "node_modules" / "typescript" / "bin" / "tsc"
needs_typescript = pytest.mark.skipif(not TSC.exists(), reason="TypeScript is not installed: `make lint` installs it")


def printed(script: str) -> str:
    """What a module prints; it imports from "./shared/…" and "./views/…". Raises CalledProcessError where it fails."""
    run = [NODE, "--input-type=module", "--no-warnings"]
    return subprocess.run(run, input=script, cwd=ROOT / "viz", capture_output=True, encoding="utf-8", check=True).stdout


def type_errors(folder: Path, *files: str) -> str:
    """Return the messages of TypeScript on files in a folder, with the settings of `make lint`; "" without an error."""
    settings = {"extends": str(ROOT / "tsconfig.json"), "include": list(files)}
    (folder / "tsconfig.json").write_text(json.dumps(settings), "utf-8")
    return subprocess.run([NODE, TSC, "--project", folder], capture_output=True, encoding="utf-8").stdout
