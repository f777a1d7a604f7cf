"""Which requests are answered, and that a foreign one reaches nothing and makes the server ask nobody."""

from __future__ import annotations

import asyncio
import http.client
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.websockets import WebSocketDisconnected
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.serving import Server, serve
from ui.serving import guard


def scope(
    kind: str = "http", host: str = "localhost:8501", origin: str | None = None, method: str = "GET", path: str = "/"
) -> dict:
    headers = [(b"host", host.encode("latin-1")), *([(b"origin", origin.encode("latin-1"))] if origin is not None else [])]
    return {"type": kind, "headers": headers, "path": path, **({"method": method} if kind == "http" else {})}


@pytest.mark.parametrize("host", ["localhost:8501", "localhost", "127.0.0.1:80", "[::1]:8501", "192.168.1.5:8501", "LOCALHOST"])
def test_own_names_are_answered(host):
    assert not guard.refuse(scope(host=host))
    assert not guard.refuse(scope("websocket", host, f"http://{host}"))


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:8501", "", "[", "a@localhost.com", "1"],
)
def test_foreign_names_are_not(host):
    assert guard.refuse(scope(host=host))
    assert guard.refuse(scope("websocket", host, f"http://{host}"))


@pytest.mark.parametrize("origin", ["http://evil.example", "http://localhost:9999", "null", "", "http://["])
def test_pages_of_others_open_no_line_and_send_nothing(origin):
    assert guard.refuse(scope("websocket", origin=origin))
    assert guard.refuse(scope(origin=origin, method="POST"))


def test_the_name_of_a_public_host_is_told(monkeypatch):
    monkeypatch.setenv("HEADLIGHT_HOSTS", "Lens.example.org, other.example")
    assert not guard.refuse(scope("websocket", "lens.example.org", "https://lens.example.org"))
    assert not guard.refuse(scope("websocket", "127.0.0.1:8501", "https://lens.example.org"))  # a proxy put another Host there
    assert guard.refuse(scope("websocket", "evil.example", "https://lens.example.org"))


@given(
    st.text(alphabet=st.characters(max_codepoint=255), max_size=40),
    st.text(alphabet=st.characters(max_codepoint=255), max_size=40),
)
def test_no_header_raises(host, origin):
    assert isinstance(guard.refuse(scope("websocket", host, origin)), str)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve() as running:  # fails at its end if the server asked the outside world
        yield running


def ask(server: Server, method: str, path: str, body: bytes | None = None, **headers: str) -> int:
    line = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=20)
    line.request(method, path, body, headers)
    return line.getresponse().status


def test_a_foreign_name_gets_no_page(server):
    assert ask(server, "GET", "/") == 200
    assert ask(server, "GET", "/", Host="evil.example") == 403
    assert ask(server, "GET", "/_stcore/health", Host="evil.example") == 403


@pytest.mark.parametrize(("host", "origin"), [("localhost", "http://evil.example"), ("evil.example", None)])
def test_a_foreign_page_gets_no_line(server, host, origin):
    """Streamlit would look up its outside address here, which the fixture would report at its end."""
    port = urlsplit(server.url).port
    line = socket.create_connection(("localhost", port), timeout=20)
    address = f"ws://{host}:{port}/_stcore/stream"
    with pytest.raises(InvalidStatus) as refused, connect(address, sock=line, subprotocols=["streamlit"], origin=origin):
        pass
    assert refused.value.response.status_code == 403


def test_nothing_can_be_uploaded(server):
    """Not even with the id of an open session, which is all that Streamlit asks for."""
    with connect(server.url.replace("http", "ws") + "/_stcore/stream", subprotocols=["streamlit"], origin=server.url) as line:
        hello = BackMsg()
        hello.rerun_script.query_string = ""
        line.send(hello.SerializeToString())
        while True:
            message = ForwardMsg.FromString(line.recv(timeout=60))
            if message.WhichOneof("type") == "new_session":
                break
        session = message.new_session.initialize.session_id
        assert ask(server, "PUT", f"/_stcore/upload_file/{session}/one", b"x" * 1000) == 403


def test_who_leaves_in_the_middle_of_an_answer_leaves_no_error_behind():
    async def gone(scope, receive, send):
        raise WebSocketDisconnected("Cannot send any more.")

    with ThreadPoolExecutor(1) as other:
        asked = scope("websocket", origin="http://localhost:8501")
        assert other.submit(asyncio.run, guard.Guard(gone)(asked, None, None)).result() is None
