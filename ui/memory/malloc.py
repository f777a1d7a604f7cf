"""Asks the allocator of the C library (glibc) to give freed memory back to the system.

Streamlit makes a thread for each run. glibc gives threads up to eight heaps a core, and memory that is freed in a heap mostly
stays there: the server of a class would take more and more unused memory.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache

MMAP_THRESHOLD, ARENA_MAX = -3, -8  # glibc's numbers for what is set
LARGE = 4 * 2**20  # bytes: what takes as many gets pages of its own, which go back as soon as it is freed


@cache
def _library() -> ctypes.CDLL | None:
    """Return glibc; None if the C library is another one."""
    try:
        library = ctypes.CDLL(None)
        return library if library.gnu_get_libc_version and library.malloc_trim and library.mallopt else None
    except (OSError, AttributeError, TypeError):
        return None


def set_up() -> None:
    """Limit the heaps to the number of cores, before there are many threads; a setting in the environment stays."""
    if library := _library():
        if "MALLOC_ARENA_MAX" not in os.environ:
            library.mallopt(ARENA_MAX, os.cpu_count() or 2)
        if "MALLOC_MMAP_THRESHOLD_" not in os.environ:
            library.mallopt(MMAP_THRESHOLD, LARGE)


def give_back() -> None:
    """Give freed memory back to the system, which takes some milliseconds."""
    if library := _library():
        library.malloc_trim(ctypes.c_size_t(0))
