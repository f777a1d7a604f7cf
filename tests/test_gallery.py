"""The gallery's facts, as far as they can be checked without the Hub."""

from __future__ import annotations

import re

import pytest

from models.huggingface.gallery import Entry, gallery, table
from models.huggingface.names import HubName, is_folder_name
from tests.serving import ROOT

MODELS = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
MARKED = re.search(r"<!-- gallery -->\n+(.*?)\n+<!-- /gallery -->", MODELS, re.DOTALL)


def test_names_are_unique_and_each_kind_is_there():
    names = [entry.name.lower() for entry in gallery()]
    assert len(set(names)) == len(names) >= 12
    assert {entry.kind for entry in gallery()} == {"decoder", "encoder", "encoder-decoder"}


@pytest.mark.parametrize("entry", gallery(), ids=lambda entry: entry.name)
def test_an_entry_is_a_repository_and_its_figures_agree(entry: Entry):
    assert HubName.parse(entry.name).repository == entry.name and "/" in entry.name and not is_folder_name(entry.name)
    # 16 or 32 bits a weight; weights that are shared, and masks of old, may be in the file a second time
    assert 1.98 < entry.bytes / entry.parameters < 4.5
    assert entry.look.endswith(".") and "\n" not in entry.look and "|" not in entry.look


def test_the_documentation_shows_this_gallery():
    assert MARKED and MARKED[1] == table()
