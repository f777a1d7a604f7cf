"""A temporary folder of this server's own, removed when the server ends, or by the next server if this one was killed."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

PREFIX, LOCK = "hl-own-", ".lock"


@cache
def folder() -> Path:
    """Return the folder, and create it at the first call. Errors: OSError."""
    for old in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if _is_left_behind(old):
            shutil.rmtree(old, ignore_errors=True)
    while True:
        own = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
        _lock(own, os.O_CREAT)
        if (own / LOCK).is_file():  # else a server that was tidying up has taken it for one that was left behind
            atexit.register(remove)
            return own


def remove() -> None:
    """Remove the folder, if there is one. Called when the server ends, for whatever reason."""
    if folder.cache_info().currsize:
        shutil.rmtree(folder(), ignore_errors=True)


def _is_left_behind(old: Path) -> bool:
    """Return whether no server uses a folder any more. Servers in several containers may share its parent and cannot see each
    other's processes, so a lock decides, which the system releases when its process ends."""
    try:
        if os.name == "nt" or old.lstat().st_uid != os.getuid():
            return False
        held = _lock(old, 0)
    except OSError:  # it is in use, or is being made or removed
        return False
    os.close(held)
    return True


def _lock(own: Path, more: int) -> int:
    """Open and return the lock of a folder. Errors: OSError if another process has it."""
    held = os.open(own / LOCK, os.O_RDWR | more, 0o600)
    if os.name != "nt":
        import fcntl

        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(held)
            raise
    return held
