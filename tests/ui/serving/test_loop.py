"""The event loop on which a server sends."""

import asyncio
import sys

import pytest
import uvicorn

from ui.serving import sending


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop is not made for Windows")
def test_a_server_runs_on_the_loop_that_is_installed_for_it():
    import uvloop

    made = uvicorn.Config(sending.lifespan).get_loop_factory()
    assert made is not None
    loop: asyncio.AbstractEventLoop = made()
    loop.close()
    assert isinstance(loop, uvloop.Loop)
