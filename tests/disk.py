"""A disk without room, and a folder that goes away, without special rights."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def full(room: int = 100) -> Iterator[None]:
    """No file of this process grows beyond so many bytes meanwhile: who writes more has the error that a full disk gives."""
    least, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (least, most))
