"""What the README shows for a notebook runs as it stands, statement by statement."""

from __future__ import annotations

import ast
import re

import pytest

from tests.models.classifiers import saved
from tests.models.huggingface.test_open import save
from tests.models.networks import network
from tests.serving import ROOT

BLOCKS = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_every_line_for_a_notebook_runs(tmp_path, monkeypatch):
    folders = {"gpt2": save(network("GPT-2"), tmp_path / "hub"), "owner/classifier": saved("BERT", tmp_path / "classifier")}
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in BLOCKS:
        for name, folder in folders.items():  # these stand in for what is on the Hub
            block = block.replace(f'"{name}"', repr(str(folder)))
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            said = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
            try:
                exec(compile(ast.Module([statement], []), "README.md", "exec"), names)
            except Exception as error:
                pytest.fail(f"README: {said}\n{type(error).__name__}: {error}")
    assert len(names) > 60 and (tmp_path / "cat.safetensors").is_file()


def test_results_that_are_shown_as_comments_are_those():
    """`names()` and such: what stands behind a line as its value."""
    shown = re.findall(r"^models\.names\(\)  # (.*)$", "\n".join(BLOCKS), re.MULTILINE)
    import models

    assert [ast.literal_eval(one) for one in shown] == [models.names()]
