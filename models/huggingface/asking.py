"""Asks a confined process questions; each has a limit of computing time, after which the process is ended.

What a stranger's file may slow down without end, its chat template and its tokenizer, is run there and not in the server.
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

Answer = Callable[[Any], Any]


class Exceeded(Exception):
    """The process ended before it could answer: the question took too much time or memory."""


class Asking:
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
        self._here: Answer | None = None

    def ask(self, question: Any, seconds: float) -> Any:
        """Return the answer, computed within `seconds`. Errors: Exceeded; ValueError with what went wrong in the process."""
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
                    raise self._ended() from None
        if not ready:
            raise self._ended()
        line.settimeout(WAIT)
        if self._opening:
            self._exchange(*self._opening())

    def _exchange(self, question: Any, seconds: float) -> Any:
        sent = self._send([seconds, question])
        answer = json.loads(self._received(sent + LARGEST))
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer["value"]

    def _send(self, said: Any) -> int:
        """How many bytes were sent."""
        assert self._line is not None, "it was started"
        written = json.dumps(said).encode() + b"\n"
        try:
            self._line.sendall(written)
        except OSError as error:
            raise self._ended() from error
        return len(written)

    def _received(self, most: int) -> bytes:
        """The line that comes back, of so many bytes at the most."""
        assert self._line is not None, "it was started"
        pieces, size = list[bytes](), 0
        try:
            while size <= most and (piece := self._line.recv(1 << 16)):
                pieces.append(piece)
                size += len(piece)
                if piece.endswith(b"\n"):
                    return b"".join(pieces)
        except OSError as error:
            raise self._ended() from error
        raise self._ended()

    def _ended(self) -> Exception:
        if self._line is not None:
            self._line.close()  # at which the process ends, if it has not ended
            self._line = None
        if self._process is not None and self._process.poll():  # the one that forks
            return RuntimeError(f"The process that tries models out ended with {self._process.returncode}.")
        return Exceeded()

    def _answer_here(self, question: Any) -> Any:
        if self._here is None:
            self._here = KINDS[self._kind]()
            if self._opening:
                self._here(self._opening()[0])
        return self._here(question)


def answer_each(line: socket.socket, questions: IO[bytes], kind: str) -> None:
    """Answer questions until nobody is there to ask any. Runs in the confined process."""
    answer = KINDS[kind]()
    line.sendall(b"\n")
    for raw in questions:
        seconds, question = json.loads(raw)
        signal.setitimer(signal.ITIMER_PROF, seconds)  # SIGPROF, which ends a process
        try:
            with panics_caught():
                written = json.dumps({"value": answer(question)}).encode()
        except MemoryError:
            return
        except Exception as error:  # whatever a stranger's file does
            written = json.dumps({"error": short(error, 160)}).encode()
        signal.setitimer(signal.ITIMER_PROF, 0)
        line.sendall(written + b"\n")


def _rendering() -> Answer:
    """Renders a chat template: of [template, special tokens, text] the text as a turn of a chat."""
    from transformers.utils.chat_template_utils import render_jinja_template

    def render(question: Any) -> str:
        template, signs, text = question
        said = [{"role": "user", "content": text}]
        rendered: Any = render_jinja_template([said], chat_template=template, add_generation_prompt=True, **signs)
        return str(rendered[0][0])  # of the texts, and where the assistant speaks, the texts

    return render


def _tokenizing() -> Answer:
    """Reads texts with the tokenizer that it is given first, as `tokenizers` writes it, and gives how many tokens there are."""
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


KINDS = {"render": _rendering, "tokenize": _tokenizing}
