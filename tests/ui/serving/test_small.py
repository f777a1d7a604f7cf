"""A line on which small messages go as they are says to a browser just what it would say compressed."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st
from uvicorn.protocols.websockets import websockets_sansio_impl
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Frame, Opcode

from tests.ui.serving.replaced import needs
from ui.serving import small_messages

pytestmark = needs("small_messages")


def line() -> tuple[PerMessageDeflate, PerMessageDeflate]:
    """Both ends, as a server and a browser agree on them."""
    return PerMessageDeflate(False, False, 12, 12, {"memLevel": 5}), PerMessageDeflate(False, False, 12, 12)


MESSAGES = st.lists(
    st.integers(0, 3 * small_messages.SMALL).map(lambda size: b"headlight " * (size // 10 + 1)) | st.binary(max_size=500)
)


@given(MESSAGES)
def test_a_browser_reads_each_message_in_its_order(messages):
    server, browser = line()
    for message in messages:
        sent = small_messages.encode(server, Frame(Opcode.BINARY, message))
        assert sent.rsv1 == (len(message) >= small_messages.SMALL), "a compressed message says so"
        assert bytes(browser.decode(sent).data) == message


@pytest.mark.parametrize("opcode", [Opcode.PING, Opcode.CLOSE])
def test_what_controls_the_line_is_never_compressed(opcode):
    frame = Frame(opcode, b"x")
    assert small_messages.encode(line()[0], frame) is frame


def test_parts_of_a_message_stay_as_they_begin():
    server, browser = line()
    parts = [Frame(Opcode.BINARY, b"a" * 10, fin=False), Frame(Opcode.CONT, b"b" * 10, fin=True)]
    assert b"".join(bytes(browser.decode(small_messages.encode(server, part)).data) for part in parts) == b"a" * 10 + b"b" * 10


def test_a_server_has_its_lines_compressed_there(monkeypatch):
    monkeypatch.setattr(PerMessageDeflate, "encode", small_messages.compress)
    small_messages.leave_as_they_are()
    assert PerMessageDeflate.encode is small_messages.encode
    assert "ServerPerMessageDeflateFactory(" in inspect.getsource(websockets_sansio_impl)
