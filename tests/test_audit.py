"""The scan for advisories, with a copy of the database that is made up."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from tests.serving import ROOT

spec = importlib.util.spec_from_file_location("audit", ROOT / "bin" / "audit.py")
assert spec and spec.loader
audit = importlib.util.module_from_spec(spec)
spec.loader.exec_module(audit)


def advisory(name: str, *events: dict[str, str], number: str = "PYSEC-1", **more) -> dict:
    ranges = [{"type": "ECOSYSTEM", "events": list(events)}, {"type": "GIT", "events": [{"introduced": "0"}]}]
    return {
        "id": number,
        "summary": "A hole.",
        "affected": [{"package": {"ecosystem": "PyPI", "name": name}, "ranges": ranges}],
        **more,
    }


@given(*[st.tuples(st.integers(0, 3), st.integers(0, 3)) for _ in range(3)])
def test_a_version_is_affected_from_where_a_hole_was_introduced_until_it_was_fixed(begins, ends, at):
    first, fixed, here = (Version(".".join(map(str, number))) for number in (begins, ends, at))
    events = [{"introduced": str(first)}, {"fixed": str(fixed)}]
    if begins < ends:
        assert audit.is_within(here, events) == audit.is_within(here, events[::-1]) == (first <= here < fixed)
        assert audit.is_within(here, [events[0], {"last_affected": str(fixed)}]) == (first <= here <= fixed)
    assert audit.is_within(here, [{"introduced": "0"}])


@pytest.mark.parametrize("packed", [False, True])
def test_an_installed_version_with_an_advisory_is_named_and_any_other_is_not(tmp_path, packed):
    here = version("numpy")
    written = [
        advisory("NumPy", {"introduced": "0"}, {"last_affected": here}, number="PYSEC-BAD", aliases=["CVE-1"]),
        advisory("numpy", {"introduced": "0"}, {"fixed": here}, number="PYSEC-FIXED"),
        advisory("numpy", {"introduced": "0"}, number="PYSEC-TAKEN-BACK", withdrawn="2020-01-01T00:00:00Z"),
        advisory("no-such-package", {"introduced": "0"}, number="PYSEC-OTHER"),
    ]
    for each in written:
        (tmp_path / f"{each['id']}.json").write_text(json.dumps(each))
    database = tmp_path
    if packed:
        database = tmp_path / "all.zip"
        with zipfile.ZipFile(database, "w") as archive:
            for path in tmp_path.glob("*.json"):
                archive.write(path, path.name)
    status, report = scan(database)
    assert status == 1 and f"numpy {here}: PYSEC-BAD, CVE-1. A hole." in report and "1 of 3 advisories" in report
    assert not any(word in report for word in ("FIXED", "TAKEN-BACK", "OTHER"))


def test_a_copy_without_advisories_is_no_clean_bill(tmp_path):
    assert scan(tmp_path)[0] == scan(tmp_path / "nowhere")[0] == 2


def scan(database: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, ROOT / "bin" / "audit.py", database], capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode, done.stdout
