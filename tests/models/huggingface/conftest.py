"""Folders that tests of the Hub's models share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.models.huggingface.folders import save
from tests.models.networks import network


@pytest.fixture(scope="session")
def saved(tmp_path_factory) -> Path:
    """A sound Llama, to be copied."""
    return save(network("Llama, grouped-query"), tmp_path_factory.mktemp("sound") / "llama")


@pytest.fixture
def folder(saved, tmp_path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "llama"))
