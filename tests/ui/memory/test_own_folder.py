"""The folder of trained models goes with its server, however that ends, and only with its own."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from tests.serving import ROOT
from ui.memory import own_folder
from ui.serving import sending

SERVER = """
import sys, time
from ui.memory import own_folder
print(own_folder.folder(), flush=True)
time.sleep(600)
"""


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """A temporary folder of this test's own, in which this process has no folder yet."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = own_folder.folder.__wrapped__
    from functools import cache

    monkeypatch.setattr(own_folder, "folder", cache(before))
    return tmp_path


@pytest.fixture
def other(alone):
    """Another server, and its folder."""
    process = subprocess.Popen([sys.executable, "-c", SERVER], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    yield process, process.stdout.readline().strip()
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_server_that_is_told_to_end_leaves_nothing(alone, monkeypatch):
    for module, function in ((sending.replacements, "install"), (sending.packets, "send_at_once"), (sending.logs, "set_up")):
        monkeypatch.setattr(module, function, lambda *_: None)

    async def serve() -> None:
        async with sending.lifespan(None):
            made = own_folder.folder()
            (made / "a model").mkdir()
            assert os.listdir(alone) == [made.name]

    with ThreadPoolExecutor(1) as thread:  # a browser of other tests may have a loop on this one
        thread.submit(lambda: asyncio.run(serve())).result()
    assert not os.listdir(alone)


@pytest.mark.skipif(sys.platform == "win32", reason="no other server's folder is touched there")
def test_a_server_touches_the_folder_of_another_only_when_that_has_ended(alone, other, monkeypatch):
    process, theirs = other
    monkeypatch.setattr(psutil, "pid_exists", lambda pid: False)  # as in a container that shares the temporary folder
    first = own_folder.folder()
    assert os.path.isdir(theirs) and first.is_dir()
    process.kill()
    process.wait()
    own_folder.folder.cache_clear()
    second = own_folder.folder()
    assert not os.path.isdir(theirs), "nobody has it any more"
    assert first.is_dir() and second.is_dir(), "this process has both"
