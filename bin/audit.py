"""Compare what is installed with a copy of the advisory database of the Open Source Vulnerabilities project (OSV).

    make audit DATABASE=all.zip

The copy is a file of the project, or a folder that it was unpacked into:
https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip. It is the only thing that needs a network, and may be fetched on
another machine. Every package of this environment is looked up, those too that others have brought along. Prints a line for each
advisory that holds for an installed version. The exit status is 0 where there is none, 1 where there are some, and 2 where the
copy holds no advisories.
"""

from __future__ import annotations

import argparse
import json
import sys
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version


def advisories(database: Path) -> Iterator[dict[str, Any]]:
    """The advisories of a copy that have not been withdrawn."""
    if database.is_dir():
        texts: Iterable[str | bytes] = (path.read_text("utf-8") for path in sorted(database.rglob("*.json")))
    else:
        archive = zipfile.ZipFile(database)
        texts = (archive.read(name) for name in archive.namelist() if name.endswith(".json"))
    for text in texts:
        advisory = json.loads(text)
        if "affected" in advisory and not advisory.get("withdrawn"):
            yield advisory


def is_affected(version: Version, affected: dict[str, Any]) -> bool:
    """Whether an advisory's entry for a package holds for a version: it lists it, or one of its ranges has it."""
    if any(parsed(listed) == version for listed in affected.get("versions", ())):
        return True
    return any(is_within(version, each["events"]) for each in affected.get("ranges", ()) if each.get("type") == "ECOSYSTEM")


def is_within(version: Version, events: list[dict[str, str]]) -> bool:
    """Whether a version lies in a range of OSV: after what introduced it, and before what fixed it or at most the last one that
    has it (https://ossf.github.io/osv-schema/#affectedrangesevents-fields)."""
    inside = False
    for kind, number in sorted(((kind, number) for event in events for kind, number in event.items()), key=position):
        at = parsed(number)
        if kind == "introduced" and (number == "0" or (at and at <= version)):
            inside = True
        elif (kind == "fixed" and at and at <= version) or (kind == "last_affected" and at and at < version):
            inside = False
    return inside


def position(event: tuple[str, str]) -> Version:
    return Version("0.dev0") if event[1] == "0" else parsed(event[1]) or Version("0.dev0")


def parsed(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def matches(database: Path, installed: dict[str, Version]) -> tuple[int, list[str]]:
    """How many advisories a copy has, and a sentence for each that holds for an installed version."""
    count, sentences = 0, []
    for advisory in advisories(database):
        count += 1
        for affected in advisory["affected"]:
            package = affected.get("package", {})
            name = canonicalize_name(package.get("name", ""))
            if package.get("ecosystem") == "PyPI" and name in installed and is_affected(installed[name], affected):
                names = ", ".join([advisory["id"], *advisory.get("aliases", ())])
                sentences.append(f"{name} {installed[name]}: {names}. {advisory.get('summary', '')}".rstrip())
    return count, sorted(set(sentences))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", type=Path)
    arguments = parser.parse_args()
    if not arguments.database.exists():
        print(f"There is no {arguments.database}. `make audit DATABASE=…` needs a copy of the database: see bin/audit.py.")
        return 2
    installed = {canonicalize_name(each.metadata["Name"]): Version(each.version) for each in distributions()}
    count, sentences = matches(arguments.database, installed)
    print("\n".join([*sentences, f"{len(sentences)} of {count:,} advisories hold for {len(installed)} installed packages."]))
    return 2 if not count else 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main())
