"""Which requests are answered, and that a foreign one reaches nothing and makes the server ask nobody."""

from __future__ import annotations

import asyncio
import http.client
import shutil
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.websockets import WebSocketDisconnected
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from benchmarks.protocol import Visitor
from benchmarks.rounds import PARTS, nothing
from models.catalog import WEIGHTS
from tests.serving import ROOT, Server
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


def test_below_a_base_path_nothing_is_uploaded_either():
    assert guard.refuse(scope(method="PUT", path=f"/lens{guard.UPLOADS}session/one"))


def test_streamlit_s_metrics_are_given_only_where_metrics_are_asked_for(server, monkeypatch):
    assert ask(server, "GET", "/_stcore/metrics") == ask(server, "GET", "/_stcore/metrics?families=session_events") == 403
    for path in ("/_stcore/metrics", "/lens/_stcore/metrics"):
        assert "HEADLIGHT_METRICS" in guard.refuse(scope(path=path))
        monkeypatch.setenv("HEADLIGHT_METRICS", "1")
        assert not guard.refuse(scope(path=path))
        monkeypatch.delenv("HEADLIGHT_METRICS")


OUTSIDE = ("etc/passwd", "proc/self/environ", "app.py", "pyproject.toml", "models/weights/writer/config.json")
DOORS = ("", "assets/", "assets/0/", "lexicon/0/", "media/", "app/static/", "static/", "rooms/", "_stcore/", "component/")
SOME = ("/", "/nowhere", "/type", "/health", "/assets/0/board.js", "/media/none.png", "/rooms/NOBODY/lead", "/_stcore/health")


def raw(server: Server, path: str) -> tuple[str, str]:
    """The head and the body of the answer to a path as it stands, which a library would tidy up."""
    with socket.create_connection(("localhost", urlsplit(server.url).port), timeout=20) as line:
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: line.recv(65536), b"")).decode("utf-8", "replace")
    head, _, body = answer.partition("\r\n\r\n")
    return head, body


@pytest.mark.parametrize("up", ["../", "..%2f", "%2e%2e/", "..%5c", "....//", "%252e%252e%252f"])
def test_no_path_leads_out_of_what_is_served(server, up):
    private_files = [(ROOT / file).read_text() for file in ("app.py", "pyproject.toml", "models/weights/writer/config.json")]
    for door in DOORS:
        for file in OUTSIDE:
            for path in (f"/{door}{up * 9}{file}", f"/{door}{up * 9}{ROOT}/{file}", f"/{door}/{file}", f"/{door}{file}%00.js"):
                _, body = raw(server, path)
                assert not any(content in body for content in private_files) and "root:" not in body and "PATH=" not in body, path


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example/",
        "//evil.example/..",
        "/\\evil.example",
        "/type//evil.example",
        "/type?\\evil.example",
        "/?lesson=//evil.example",
        "/?lesson=tokens&step=//evil.example",
        "/?lesson=..%2f..%2fetc%2fpasswd",
        "/type?x=%0d%0aSet-Cookie:%20a=b",
        "/?lesson=tokens%0d%0aSet-Cookie:%20a=b&step=1",
        "/%0d%0aSet-Cookie:%20a=b",
    ],
)
def test_no_address_leads_elsewhere_or_writes_a_header(server, path):
    head, _ = raw(server, path)
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head.splitlines()[1:])}
    assert "a=b" not in headers.get("set-cookie", "")
    there = urlsplit(headers.get("location", ""))
    assert there.hostname in (None, "localhost") and not there.path.startswith(("//", "/\\")), headers["location"]


@pytest.mark.parametrize("path", SOME)
def test_every_answer_tells_the_browser_what_it_may_load(server, path):
    for head in (raw(server, path)[0].lower(), raw(server, f"{path}?text=<script>")[0].lower()):
        assert "content-security-policy: default-src 'self'" in head and "referrer-policy: no-referrer" in head
        assert "x-content-type-options: nosniff" in head
        assert "script-src-attr 'none'" in head and "form-action 'self'" in head and "connect-src 'self' data: blob:" in head
        assert "cross-origin-opener-policy: same-origin" in head and "cross-origin-resource-policy: same-origin" in head


class Overhears(Visitor):
    """Who keeps all that is drawn for them."""

    def __init__(self, *given, **named) -> None:
        super().__init__(*given, **named)
        self.heard = b""

    def read(self, delta, now: float) -> None:
        self.heard += delta.SerializeToString()
        super().read(delta, now)


def test_nothing_of_one_visitor_s_text_model_or_visit_reaches_another(server, tmp_path):
    folder = shutil.copytree(WEIGHTS / "writer", tmp_path / "OnlyMyFolder")

    async def story() -> list[Overhears]:
        mine = {"text": "Heliotrope marmalade", "model": str(folder), "level": "expert"}
        async with AsyncExitStack() as stack:
            guest = await stack.enter_async_context(Overhears(server.url, nothing, mine))
            others = [await stack.enter_async_context(Overhears(server.url, nothing, page=page)) for page in PARTS]
            for visitor in (guest, guest, *others):
                visitor.finished.clear()
                await visitor.send()
                await asyncio.wait_for(visitor.finished.wait(), 60)
            return [guest, *others]

    with ThreadPoolExecutor(1) as other:
        guest, *others = other.submit(asyncio.run, story()).result()
    secrets = (b"Heliotrope marmalade", b"OnlyMyFolder", guest.session.encode())
    assert all(word in guest.heard for word in secrets[:2]), "else this test could not fail"
    assert not [visitor.page for visitor in others for word in secrets if word in visitor.heard]


def test_who_leaves_in_the_middle_of_an_answer_leaves_no_error_behind():
    async def gone(scope, receive, send):
        raise WebSocketDisconnected("Cannot send any more.")

    with ThreadPoolExecutor(1) as other:
        asked = scope("websocket", origin="http://localhost:8501")
        assert other.submit(asyncio.run, guard.Guard(gone)(asked, None, None)).result() is None
