"""Heads that beginners meet: each with a job of its own."""

from __future__ import annotations

import pandas as pd

import models
from analysis import head_labels
from pages.heads.labels import FEW, different_jobs
from tests.serving import ROOT
from ui.lexicon.marks import sections

MEETS = sections(ROOT / "pages" / "heads" / "beginner.md")


def test_no_job_and_no_head_comes_twice_and_the_clearest_comes_first():
    scores = {"label": ["a", "a, b", "b", "", "a, c"], "layer": [0, 0, 1, 1, 2], "head": [0, 1, 0, 1, 0]}
    lows = {"a_low": [0.9, 0.8, 0.0, 0.0, 0.1], "b_low": [0.0, 0.7, 0.6, 0.0, 0.0], "c_low": [0.0, 0.0, 0.0, 0.0, 0.5]}
    table = pd.DataFrame(scores | lows | {f"{name}_null": 0.1 for name in "abc"})
    assert different_jobs(table) == [(0, 0, "a"), (0, 1, "b"), (2, 0, "c")]


def test_the_writer_has_several_jobs_to_show_each_with_a_title():
    jobs = different_jobs(head_labels(models.load("writer"), seeds=1))
    names = [name for _, _, name in jobs]
    assert 3 <= len(names) == len(set(names)) <= FEW and all(f"meet {name}" in MEETS for name in names)
