"""How the wheel comes from the folders as they stand here: each lies in it as `headlight.<name>`, and imports its neighbours so.

`models` and `viz` as names of their own would clash with others in somebody's environment. hatchling runs this file.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

HERE = Path(__file__).parent
FOLDERS = ("analysis", "models", "pages", "ui", "viz")
_FROM = re.compile(rf"^([ \t]*from )(?=(?:{'|'.join(FOLDERS)})\b)", re.MULTILINE)
_PICTURE = re.compile(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n+", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")
_IMPORT = re.compile(rf"^([ \t]*)(?=import (?:{'|'.join(FOLDERS)})$)", re.MULTILINE)
# Of these the app uses what may be another thing in their next major version, so that a later one is not promised.
NEAR = ("streamlit", "transformers")


def inside(text: str) -> str:
    """Python text with its imports as they are in the installed form; lines of a notebook within a string, too."""
    return _IMPORT.sub(r"\1from headlight ", _FROM.sub(r"\1headlight.", text))


def needed(requirements: str) -> list[str]:
    """What an installed Headlight needs, from the lines of requirements.txt.

    Those pin what it is tested with to the last digit, for who runs it from its folder. Somebody's own environment may have newer
    versions; older ones have not been tried. What stands behind a semicolon, such as a system, stays.
    """
    dependencies = []
    for line in requirements.splitlines():
        name, _, rest = line.partition("==")
        pin, mark, where = rest.partition(";")
        dependencies.append(f"{name}>={pin}" + (f",<{int(pin.split('.')[0]) + 1}" if name in NEAR else "") + mark + where)
    return dependencies


def description(readme: str) -> str:
    """README for a package index, which has neither the film nor the documents: relative links become their words."""
    return _LINK.sub(r"\1", _PICTURE.sub("", readme))


class Needs(MetadataHookInterface):
    """Reads what is needed from requirements.txt, its one home, and what each extra needs from a file of its own."""

    def update(self, metadata: dict) -> None:
        text = description((Path(self.root) / "README.md").read_text("utf-8"))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["dependencies"] = needed((Path(self.root) / "requirements.txt").read_text("utf-8"))
        metadata["optional-dependencies"] = {
            extra: needed((Path(self.root) / f"requirements-{extra}.txt").read_text("utf-8")) for extra in ("processes", "ray")
        }


class Lay(BuildHookInterface):
    """Puts rewritten files in the place of those whose imports must be others, and `package.py` on top as `headlight`."""

    def initialize(self, version: str, build_data: dict) -> None:
        if version == "editable":
            raise ValueError("From its folder Headlight runs as it is, with `make app`: there is nothing to install.")
        self.rewritten = Path(tempfile.mkdtemp())
        laid = {str(HERE / "package.py"): "__init__.py"}
        for file in self.build_config.builder.recurse_selected_project_files():
            if file.path.endswith(".py") and (new := inside(text := Path(file.path).read_text("utf-8"))) != text:
                copy = self.rewritten / file.relative_path
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(new, "utf-8")
                laid[str(copy)] = file.relative_path
        build_data["force_include"] |= laid

    def finalize(self, version: str, build_data: dict, artifact_path: str) -> None:
        shutil.rmtree(self.rewritten)
