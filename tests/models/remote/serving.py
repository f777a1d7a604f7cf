"""Replicas behind a plain HTTP server of this process: what crosses is the same as behind Ray Serve, and faults can be made."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from models.remote.answers import Answers
from models.remote.client import MODEL
from models.remote.replica import Replica
from tests.models import classifiers, edited

LABELLED = "classifier/"  # stands before the name of a model that has labels
Fault = Callable[[BaseHTTPRequestHandler], bool]


@cache
def replica(name: str) -> Replica:
    """One of the models that ship, or of the small ones of the Hub's architectures, with words or with labels."""
    if name in (*edited.OURS, "sorter"):
        return Replica(name)
    other = Replica("./a folder is refused, and so this one reads nothing")
    labelled = name.startswith(LABELLED)
    other.answers = Answers(classifiers.model(name.removeprefix(LABELLED)) if labelled else edited.model(name))
    return other


@contextmanager
def replicas(fault: Fault = lambda request: False) -> Iterator[int]:
    """A port where models are read. fault: given each request first; True when it has dealt with it."""

    class Request(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            message = self.rfile.read(int(self.headers["Content-Length"]))
            if fault(self):
                return
            status, answer = replica(self.headers[MODEL]).answer(message)
            send(self, status, answer)

        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Request) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def send(request: BaseHTTPRequestHandler, status: int, answer: bytes) -> None:
    request.send_response(status)
    request.send_header("Content-Length", str(len(answer)))
    request.end_headers()
    request.wfile.write(answer)


def die(request: BaseHTTPRequestHandler) -> bool:
    """What one sees of a server that is killed while it reads."""
    request.close_connection = True
    request.connection.close()
    return True
