"""Runs of the script leave `sys.path` alone, so that imports on other threads find what is there."""

from __future__ import annotations

import subprocess
import sys

from tests.serving import ROOT

IMPORT_BESIDE_RUNS = """
import importlib, importlib.machinery, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from streamlit.runtime.scriptrunner.exec_code import modified_sys_path
import app

DISK, THREADS, EACH = "a slow disk", 8, 10
folder, names = Path(sys.argv[1]), [f"fresh_{number}" for number in range(THREADS * EACH)]
for name in names:
    (folder / f"{name}.py").write_text("")

class SlowDisk:
    def find_spec(self, name, target=None):
        time.sleep(0.002)  # in which runs begin and end

def hook(entry):
    if entry != DISK:
        raise ImportError
    return SlowDisk()

sys.path_hooks.insert(0, hook)
sys.path += [DISK, str(folder)]
before, script, over = list(sys.path), str(app.app._resolve_script_path()), threading.Event()

def run():
    changes = 0
    while not over.wait(0.001):
        with modified_sys_path(script):
            time.sleep(0.001)
            changes += sys.path != before
    return changes

def is_missing(name):
    try:
        importlib.import_module(name)
    except ImportError:
        return True
    return False

with ThreadPoolExecutor(2 * THREADS) as pool:
    runs = [pool.submit(run) for _ in range(THREADS)]
    missing = sum(pool.map(is_missing, names))
    over.set()
print(f"{missing} of {len(names)} modules were missing, {sum(one.result() for one in runs)} runs changed sys.path")
"""


def test_runs_on_other_threads_break_no_import(tmp_path):
    command = [sys.executable, "-c", IMPORT_BESIDE_RUNS, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "0 of 80 modules were missing, 0 runs changed sys.path\n", done.stderr[-1000:]
