"""What reads changed texts keeps nothing of a text when it is done."""

from __future__ import annotations

import subprocess
import sys

from tests.serving import ROOT

FIRST_USE = """
import gc, weakref
from analysis import sampling

class Text: pass

def ask():
    text = Text()
    sampling._shap()
    return weakref.ref(text)

text = ask()
gc.collect()
print(text() is None)
"""


def test_the_import_of_shap_keeps_nothing_of_who_waits_for_it():
    run = subprocess.run([sys.executable, "-c", FIRST_USE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True"]
