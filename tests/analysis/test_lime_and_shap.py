"""What reads changed texts keeps nothing of a text when it is done, and compiles nothing first."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.serving import ROOT

FIRST_USE = """
import gc, weakref
from analysis import lime_and_shap

class Text: pass

def ask():
    text = Text()
    lime_and_shap._shap()
    return weakref.ref(text)

text = ask()
gc.collect()
print(text() is None)
"""


@pytest.mark.thorough
def test_the_import_of_shap_keeps_nothing_of_who_waits_for_it():
    run = subprocess.run([sys.executable, "-c", FIRST_USE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True"]


COMPILED = """
from numba import njit
from numba.core.dispatcher import Dispatcher
from analysis import lime_and_shap

lime_and_shap.ready()
from shap.utils import _masked_model
print(isinstance(_masked_model._init_masks, Dispatcher), isinstance(njit(lambda x: x), Dispatcher))
"""


@pytest.mark.thorough
def test_shap_is_not_compiled_and_what_others_compile_is():
    run = subprocess.run([sys.executable, "-c", COMPILED], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.split() == [str(find_spec("umap") is not None), "True"]
