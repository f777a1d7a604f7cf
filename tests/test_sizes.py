"""Rules of the house on the sizes of files, classes and folders. Each failure lists the offenders."""

from __future__ import annotations

import ast

from tests.serving import ROOT
from tests.test_house import FOLDERS, files, name_of, read, reject

LONGEST_FILE, LONGEST_CLASS = 450, 350  # lines, all of them
NOUNS = 10  # files at the top of models/


def test_files_and_classes_are_short():
    offenders = []
    for path in (*files(*FOLDERS, "benchmarks", "bin", "tests", suffix=".py"), ROOT / "app.py"):
        count = len(read(path).splitlines())
        offenders += [f"{name_of(path)} has {count} lines"] * (count > LONGEST_FILE)
        for node in ast.parse(read(path)).body:
            if isinstance(node, ast.ClassDef) and (lines := (node.end_lineno or 0) - node.lineno + 1) > LONGEST_CLASS:
                offenders.append(f"{name_of(path)}:{node.lineno}: {node.name} has {lines} lines")
    reject(offenders, f"Files of more than {LONGEST_FILE} lines, or classes of more than {LONGEST_CLASS}")


def test_only_the_nouns_stand_at_the_top_of_models():
    names = sorted(path.name for path in (ROOT / "models").iterdir() if path.is_file())
    reject(names if len(names) > NOUNS else (), f"More than {NOUNS} files at the top of models/")
