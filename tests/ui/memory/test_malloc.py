"""What is freed goes back to the system, so that a server does not grow by what is not in use."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from tests.serving import ROOT

# 64 MB in pieces of half a page, of which every 64th stays: the top of the heap is in use, and what is free lies below it.
FREES = """
import ctypes, psutil
from ui.memory.malloc import give_back, set_up
set_up()
malloc, free = ctypes.CDLL(None).malloc, ctypes.CDLL(None).free
malloc.restype, free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
pieces = [malloc(ctypes.c_size_t(2048)) for _ in range(2**15)]
for piece in pieces:
    ctypes.memset(piece, 1, 2048)
for i, piece in enumerate(pieces):
    if i % 64:
        free(piece)
memory = psutil.Process().memory_info
full = memory().rss
give_back()
once = memory().rss
print(full - once)
"""
LARGE = """
import numpy as np, psutil
from ui.memory.malloc import give_back, set_up
set_up()
memory = psutil.Process().memory_info
for _ in range(3):  # glibc by itself takes what is as large from the heap as soon as one such was freed
    arrays = [np.ones(2**20) for _ in range(8)]
    on_top = [np.ones(100) for _ in range(2**10)]
    full = memory().rss
    del arrays
    print(full - memory().rss)
"""
glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is asked")


def printed(script: str) -> list[int]:
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return [int(line) for line in run.stdout.split()]


@glibc
def test_what_lies_free_between_what_is_in_use_is_given_back():
    assert printed(FREES)[0] > 40 * 2**20


@glibc
def test_large_arrays_go_back_as_soon_as_they_are_freed():
    assert min(printed(LARGE)) > 60 * 2**20
