"""The faults of bin/mutants.toml can still be planted in the code as it is now."""

from __future__ import annotations

from pathlib import Path

import pytest

from bin.mutants import Fault, faults, stages, unplantable
from tests.serving import ROOT


def test_each_fault_can_be_planted_and_says_what_it_breaks():
    known = faults()
    assert len(known) >= 30 and all(fault.breaks.endswith(".") for fault in known)
    if sentences := unplantable(known):
        pytest.fail("\n  ".join(["Change bin/mutants.toml, or drop these faults:", *sentences]), pytrace=False)


def test_a_fault_whose_text_has_changed_is_reported_by_its_name(tmp_path: Path):
    (tmp_path / "some.py").write_text("twice, twice, once")
    lost, double, sound = (Fault(old, "some.py", old, "new", "It breaks.") for old in ("lost", "twice", "once"))
    assert unplantable([lost, double, sound], tmp_path) == [
        "lost: its old text occurs 0 times in some.py, not once.",
        "twice: its old text occurs 2 times in some.py, not once.",
    ]
    sound.plant(tmp_path)
    assert (tmp_path / "some.py").read_text() == "twice, twice, new"


def test_tests_named_like_the_file_come_first_and_every_test_file_comes_once():
    every = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py"))
    for name, first in (
        ("rollout-without-residual", "tests/analysis/test_attention_rollout.py"),
        ("room-move-not-applied", "tests/ui/rooms/test_seat.py"),
    ):
        near, folder, rest = stages(next(fault for fault in faults() if fault.name == name)).values()
        assert near[0] == first
        assert sorted([*near, *folder, *rest]) == [path for path in every if path != "tests/test_mutants.py"]
