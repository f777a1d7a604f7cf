"""The documentation site has every guide and every public module, its links resolve, and it loads nothing from elsewhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def site() -> ModuleType:
    """The script that builds the site."""
    spec = importlib.util.spec_from_file_location("build_site", ROOT / "bin" / "docs" / "build.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_guide_has_its_place(site):
    listed = {name for names in site.SUBJECTS.values() for name in names}
    assert listed == {path.stem for path in (ROOT / "docs").glob("*.md")} | {"changes"} | {
        f"api/{name}" for name in site.PACKAGES
    }


def test_modules_are_named_as_they_are_imported(site):
    names = site.module_names("models")
    assert {"models", "models.tokens", "models.scratch.transformer"} <= set(names)
    assert not [name for name in names if any(part.startswith("_") for part in name.split("."))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see [the code](../models/tokens.py)", "see [the code](api/models.tokens.rst)"),
        ("see [the card](../models/weights/writer/README.md)", "see the card (`models/weights/writer/README.md`)"),
        ("see [`bin/film.py`](../bin/film.py)", "see `bin/film.py`"),
        ("see [changes](../CHANGELOG.md)", "see [changes](changes.md)"),
        ("see [pages](pages.md#flow)", "see [pages](pages.md#flow)"),
    ],
)
def test_links_out_of_the_guides_lead_into_the_site_or_become_names(site, text, expected):
    assert site.guide(text) == expected


@pytest.mark.thorough
def test_the_whole_site_builds_without_a_warning_and_asks_no_other_host(site, tmp_path):
    """Sphinx imports each module and writes some 300 pages, which takes half a minute."""
    assert site.build(tmp_path) == 0
    pages = list(tmp_path.rglob("*.html"))
    assert (tmp_path / "index.html") in pages and (tmp_path / "searchindex.js").stat().st_size > 100_000
    tag = r'<(?:script|img|iframe|link\b[^>]*rel="(?:stylesheet|preload|icon)")[^>]*'
    loaded = re.compile(tag + r'(?:src|href)="((?:https?:)?//[^"]+)')
    assert not [(page.name, address) for page in pages for address in loaded.findall(page.read_text(encoding="utf-8"))]
    attend = (tmp_path / "api" / "models.scratch.scores.html").read_text(encoding="utf-8")
    assert "models.scratch.scores" in attend and "docstring" not in attend
