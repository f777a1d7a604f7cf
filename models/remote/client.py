"""Questions to replicas over HTTP: repeated where a replica died, and held back for a while where none answers."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPException
from typing import Any, TypeVar

import urllib3
from torch import Tensor
from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError, NewConnectionError, ReadTimeoutError
from urllib3.response import HTTPResponse
from urllib3.util import Timeout

from models.errors import ModelError
from models.remote.wire import pack, unpack
from models.version import VERSION

MODEL = "serve_multiplexed_model_id"  # the header by which Ray Serve finds a replica that has the model in memory
REFUSED = 422  # the status of an answer that is a sentence
TRIES, PAUSE = 3, 0.05  # times that a question is asked, and seconds before it is asked again, doubled each time
CONNECT = 1.0  # seconds for a connection
AWAY = 3.0  # seconds without a question after one that no replica answered
MOST = 64  # connections that stay open


T = TypeVar("T")


class Unreachable(ModelError):
    """No replica answers."""


class TimedConnection(HTTPConnection):
    """A connection whose whole answer must arrive in the time that urllib3 allows for each part of it."""

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # as urllib3 has it
        late = threading.Event()

        def end(line: socket.socket) -> None:
            late.set()
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(self.timeout or 0.0, end, [self.sock])
        timer.daemon = True
        timer.start()
        try:
            answer = super().getresponse()
        except (HTTPError, HTTPException, OSError):
            if late.is_set():
                raise TimeoutError from None
            raise
        finally:
            timer.cancel()
        if late.is_set():
            raise TimeoutError
        return answer


class ReplicaClient:
    """A client of replicas. Safe to use from many threads. sent, received, asked: bytes and questions so far."""

    def __init__(self, host: str, port: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.address, self._clock, self._lock = f"ray://{host}:{port}", clock, threading.Lock()
        self._pool = urllib3.HTTPConnectionPool(host, port, maxsize=MOST, retries=False)
        self._pool.ConnectionCls = TimedConnection
        self._away_until = float("-inf")
        self.trouble = ""  # a sentence on why no replica is asked now; "" where they answer
        self.sent = self.received = self.asked = 0

    def ask(
        self,
        model: str,
        question: Mapping[str, Any],
        take: Callable[[dict[str, Any], dict[str, Tensor]], T],
        tensors: Mapping[str, Tensor] | None = None,
        patience: float = 20.0,
    ) -> T:
        """Ask a replica about a model and return `take` of its answer. patience: seconds that the whole answer may take.

        Errors: Unreachable where no replica answers or `take` rejects the answer, and without a new try for some seconds after
        that; ValueError, TypeError and ModelError, sentences, as the replica raises them.
        """
        message = pack({**question, "model": model, "version": VERSION}, tensors)
        self._check_there()
        status, body = self._ask(model, message, patience)
        refusal = kind = ""
        try:
            if status == REFUSED:
                kind, refusal = _refusal(body)
            else:
                answer = take(*unpack(body))
        except (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            raise self._mark_unreachable("what answers there is no Headlight") from error
        with self._lock:
            self.trouble, self._away_until = "", float("-inf")
            self.sent, self.received, self.asked = self.sent + len(message), self.received + len(body), self.asked + 1
        if not kind:
            return answer
        if kind == "version":
            raise self._mark_unreachable(refusal)
        raise {"TypeError": TypeError, "ModelError": ModelError}.get(kind, ValueError)(refusal)

    def _ask(self, model: str, message: bytes, patience: float) -> tuple[int, bytes]:
        why = ""
        for again in range(TRIES):
            if again:
                time.sleep(PAUSE * 2 ** (again - 1))
            try:
                answer = self._pool.request(
                    "POST", "/", body=message, headers={MODEL: model}, timeout=Timeout(connect=CONNECT, read=patience)
                )
                if answer.status in (200, REFUSED):
                    return answer.status, answer.data
                why = f"status {answer.status}"  # a replica died, or there are too many questions
            except (NewConnectionError, ReadTimeoutError) as error:  # asking again would only take longer
                why = "nothing listens there" if isinstance(error, NewConnectionError) else f"no answer in {patience:.0f} s"
                break
            except (HTTPError, OSError):
                why = "the connection broke"
        raise self._mark_unreachable(why)

    def _check_there(self) -> None:
        """Raise Unreachable while replicas are left alone. The first question after that tries them; others do not wait."""
        with self._lock:
            if self.trouble:
                if self._clock() < self._away_until:
                    raise Unreachable(self.trouble)
                self._away_until = self._clock() + AWAY

    def _mark_unreachable(self, why: str) -> Unreachable:
        """Leave replicas alone for a while, and return the exception that says why."""
        with self._lock:
            if not self.trouble:
                logging.getLogger(__name__).warning("Models are not read at %s: %s", self.address, why)
            self.trouble = (
                f"The machines that read for this server do not answer ({why}). The models that ship with Headlight are read by "
                "the server itself until they do; others have to wait."
            )
            self._away_until = self._clock() + AWAY
            return Unreachable(self.trouble)


def _refusal(body: bytes) -> tuple[str, str]:
    """Return the kind of a refusal and its sentence. Errors: ValueError, TypeError, LookupError for anything else."""
    refusal = json.loads(body)
    kind, sentence = refusal["kind"], refusal["sentence"]
    if not (isinstance(kind, str) and isinstance(sentence, str) and kind):
        raise TypeError("A refusal is a kind and a sentence.")
    return kind, sentence
