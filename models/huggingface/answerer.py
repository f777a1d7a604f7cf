"""A confined process that answers one question after another, each within a limit of computing time, or it ends.

It runs what a stranger's file may slow down without end, its chat template and its tokenizer, so that the server does not.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import weakref
from collections.abc import Callable
from threading import Lock
from typing import IO, Any

from models.errors import panics_caught
from models.huggingface import forking
from models.huggingface.names import short

WAIT = 120.0  # seconds of the clock that an answer may take on a busy machine, whatever it computes
LARGEST = 2**20  # bytes by which an answer may be longer than its question
confined_already = False  # whether this is a confined process itself

AnswerFunction = Callable[[Any], Any]


class LimitExceeded(Exception):
    """A question took too much time or memory, so the process ended before it could answer."""


class Answerer:
    """A confined process that answers questions of one kind, one at a time. Safe to use from many threads.

    kind: a name in `KINDS`; memory: bytes of addresses that it may take besides what the libraries have; opening: what is asked
    first of each process, with its seconds, because later answers depend on it. A process starts with the first question and
    ends with this object.
    """

    def __init__(self, kind: str, memory: int, opening: Callable[[], tuple[Any, float]] | None = None):
        self._kind, self._memory, self._opening = kind, memory, opening
        self._lock = Lock()
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._here: AnswerFunction | None = None

    def ask(self, question: Any, seconds: float) -> Any:
        """Return the answer, which may take `seconds` of computing. Errors: LimitExceeded; ValueError, what went wrong in it."""
        with self._lock:
            if confined_already or not hasattr(os, "fork"):  # Windows, which has none of these limits
                return self._answer_here(question)
            if self._line is None:
                self._start()
            return self._exchange(question, seconds)

    def _start(self) -> None:
        line, theirs = socket.socketpair()
        weakref.finalize(self, line.close)
        with theirs:
            self._process = forking.hand_over(theirs)
        self._line = line
        self._send({"kind": self._kind, "memory": self._memory})
        line.settimeout(forking.TICK)
        while True:  # while libraries are imported, however long that takes
            try:
                ready = line.recv(1)
                break
            except TimeoutError:
                if self._process.poll() is not None:
                    raise self._failure() from None
        if not ready:
            raise self._failure()
        line.settimeout(WAIT)
        if self._opening:
            self._exchange(*self._opening())

    def _exchange(self, question: Any, seconds: float) -> Any:
        sent_bytes = self._send([seconds, question])
        answer = json.loads(self._receive(sent_bytes + LARGEST))
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer["value"]

    def _send(self, content: Any) -> int:
        """Send content as a line of JSON and return its length in bytes."""
        assert self._line is not None, "it was started"
        message = json.dumps(content).encode() + b"\n"
        try:
            self._line.sendall(message)
        except OSError as error:
            raise self._failure() from error
        return len(message)

    def _receive(self, most: int) -> bytes:
        """Receive a line of at most `most` bytes."""
        assert self._line is not None, "it was started"
        pieces, size = list[bytes](), 0
        try:
            while size <= most and (piece := self._line.recv(1 << 16)):
                pieces.append(piece)
                size += len(piece)
                if piece.endswith(b"\n"):
                    return b"".join(pieces)
        except OSError as error:
            raise self._failure() from error
        raise self._failure()

    def _failure(self) -> Exception:
        """Close the line and return the exception that says why no answer comes."""
        if self._line is not None:
            self._line.close()  # at which the process ends, if it has not ended
            self._line = None
        if self._process is not None and self._process.poll():  # the one that forks
            return RuntimeError(f"The process that tries models out ended with {self._process.returncode}.")
        return LimitExceeded()

    def _answer_here(self, question: Any) -> Any:
        if self._here is None:
            self._here = KINDS[self._kind]()
            if self._opening:
                self._here(self._opening()[0])
        return self._here(question)


def answer_each(line: socket.socket, questions: IO[bytes], kind: str) -> None:
    """Answer questions until the other end is closed. Runs in the confined process."""
    answer = KINDS[kind]()
    line.sendall(b"\n")
    for raw in questions:
        seconds, question = json.loads(raw)
        signal.setitimer(signal.ITIMER_PROF, seconds)  # SIGPROF, which ends a process
        try:
            with panics_caught():
                reply = json.dumps({"value": answer(question)}).encode()
        except MemoryError:
            return
        except Exception as error:  # whatever a stranger's file does
            reply = json.dumps({"error": short(error, 160)}).encode()
        signal.setitimer(signal.ITIMER_PROF, 0)
        line.sendall(reply + b"\n")


def _renderer() -> AnswerFunction:
    """Return a function that renders [template, special tokens, text]: the text as a turn of a chat."""
    from transformers.utils.chat_template_utils import render_jinja_template

    def render(question: Any) -> str:
        template, special_tokens, text = question
        conversation = [{"role": "user", "content": text}]
        rendered: Any = render_jinja_template(
            [conversation], chat_template=template, add_generation_prompt=True, **special_tokens
        )
        return str(rendered[0][0])  # of the texts, and where the assistant speaks, the texts

    return render


def _token_counter() -> AnswerFunction:
    """Return a function that counts tokens. Its first question is the tokenizer, as `tokenizers` writes it; then come texts."""
    from tokenizers import Tokenizer

    tokenizer: Tokenizer | None = None

    def read(question: Any) -> int:
        nonlocal tokenizer
        if tokenizer is None:
            tokenizer = Tokenizer.from_str(question)
            return tokenizer.get_vocab_size()
        if isinstance(question, list):
            return len(tokenizer.decode(question, skip_special_tokens=True))
        tokenizer.encode_special_tokens = bool(question["split"])
        return len(tokenizer.encode(question["text"]).ids)

    return read


KINDS = {"render": _renderer, "tokenize": _token_counter}
