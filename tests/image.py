"""The Dockerfile as its commands, and the folder that a build sees: no builder is needed to try what they say."""

from __future__ import annotations

import json
import re
import shutil
from fnmatch import fnmatch
from pathlib import Path

from tests.serving import ROOT

DOCKERFILE = ROOT / "Dockerfile"


def commands() -> list[tuple[str, str]]:
    """Each instruction of the Dockerfile with what stands behind it, lines that go on put together."""
    lines = [line for line in DOCKERFILE.read_text("utf-8").splitlines() if not line.startswith("#")]
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [tuple(line.split(" ", 1)) for line in whole.splitlines() if line.strip()]  # type: ignore[misc]


def last(instruction: str) -> str:
    """What the last instruction of that name says: that of the image which runs."""
    return [arguments for name, arguments in commands() if name == instruction][-1]


def program(command: str) -> list[str]:
    """The program and its arguments, of CMD or HEALTHCHECK in their form without a shell."""
    return json.loads(command[command.index("[") :])


def settings() -> dict[str, str]:
    """What the image's ENV sets."""
    return dict(pair.split("=", 1) for pair in last("ENV").split())


def left_out(path: str) -> bool:
    """Whether .dockerignore keeps a path of the project out of the build."""
    rules = (ROOT / ".dockerignore").read_text("utf-8").split()
    parts = path.split("/")
    above = ["/".join(parts[:i]) for i in range(1, len(parts) + 1)]
    for rule in rules:
        name = rule.removeprefix("**/")
        if any(fnmatch(pattern.rpartition("/")[2] if name != rule else pattern, name) for pattern in above):
            return True
    return False


def lay(folder: Path, tracked: list[str]) -> Path:
    """The folder as `COPY . .` makes it of the files that git tracks."""
    for name in tracked:
        if not left_out(name) and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder
