"""Trials of strangers' files, each in a process with limits of memory and time, which can be given up at any moment.

A process that imports torch and transformers once waits, and forks itself for each trial: that takes a few milliseconds, where a
new interpreter would take seconds. Each trial has its end of a socket, over which its request and its answer go as JSON; when
the other end is closed, the kernel ends it. `answerer` has the forks that stay and answer questions.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Any

from models.errors import ModelError
from models.files.progress import Progress, Report
from models.huggingface import forking
from models.huggingface.names import quoted
from models.numbers.sizes import size

MEMORY = 2_000_000_000  # bytes of addresses that a trial may take besides what the libraries have
SECONDS = 60  # of computing
AT_ONCE = 3  # trials; the others wait for their turn
NICE = 10  # by how much a trial leaves the cores to those who type meanwhile

_turns = threading.BoundedSemaphore(AT_ONCE)


def confined(task: str, path: Path, name: str, report: Report) -> Any:
    """Return the result of a function of `trial` for a path and the name that a person typed.

    Errors: ModelError, what the function says, or that it took more than a trial may; Cancelled, when `report` raises it.
    """
    if not hasattr(os, "fork"):  # Windows, which has none of these limits either
        from models.huggingface import trial

        return getattr(trial, task)(str(path), name)
    while not _turns.acquire(timeout=forking.TICK):
        report(Progress("prepare"))
    try:
        request = {"task": task, "path": str(path), "name": name, "memory": MEMORY, "seconds": SECONDS}
        answer = _request_answer(json.dumps(request).encode() + b"\n", report)
    finally:
        _turns.release()
    if not answer:
        raise ModelError(
            f"The config.json or the tokenizer of {quoted(name)} asks for more than {size(MEMORY)} of memory or "
            f"{SECONDS} seconds before a weight is read. Choose another model."
        )
    reply = json.loads(answer)
    if "error" in reply:
        raise ModelError(reply["error"])
    return reply["value"]


def _request_answer(request: bytes, report: Report) -> bytes:
    """Return the answer to a request; b"" where its process ended before it could answer."""
    line, theirs = socket.socketpair()
    with line:
        with theirs:
            process = forking.hand_over(theirs)
        line.settimeout(forking.TICK)
        answer = b""
        try:
            line.sendall(request)
            import transformers.modeling_utils  # noqa: F401  (on another core, meanwhile: this process needs it next)

            while True:
                try:
                    piece = line.recv(1 << 16)
                except TimeoutError:
                    report(Progress("prepare"))
                    continue
                if not piece:
                    break
                answer += piece
        except ConnectionError:
            answer = b""
    if not answer and process.poll() is not None:
        raise RuntimeError(f"The process that tries models out ended with {process.returncode}.")
    return answer


def _fork_for_each(control: socket.socket) -> None:
    """Fork for every socket that arrives, until their sender is gone."""
    import gc

    from transformers import AutoTokenizer, BertForMaskedLM, GPT2LMHeadModel, LlamaForCausalLM  # noqa: F401

    from models.huggingface import answerer, trial  # noqa: F401

    answerer.confined_already = True
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()  # so that a collection in a trial writes to no page that both have
    while True:
        word, lines, *_ = socket.recv_fds(control, 1, 1)
        if not word:
            return
        if not os.fork():
            try:
                control.close()
                with socket.socket(fileno=lines[0]) as line:
                    _serve(line)
            finally:
                os._exit(0)
        os.close(lines[0])


def _serve(line: socket.socket) -> None:
    """Run one trial, or answer questions until the other end is closed."""
    from models.huggingface import answerer

    lines = line.makefile("rb")
    request = json.loads(lines.readline())
    if "kind" in request:
        _limit(request["memory"])
        answerer.answer_each(line, lines, request["kind"])
    else:
        _try_out(line, **request)


def _try_out(line: socket.socket, task: str, path: str, name: str, memory: int, seconds: int) -> None:
    import fcntl

    from models.huggingface import trial

    _limit(memory, seconds)
    os.nice(NICE)
    fcntl.fcntl(line, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(line, fcntl.F_SETFL, os.O_ASYNC)  # SIGIO, which ends a process, when the other end is closed
    if select.select([line], [], [], 0)[0]:  # it was, before
        return
    try:
        answer = {"value": getattr(trial, task)(path, name)}
    except ModelError as error:
        cause = error.__cause__
        if isinstance(cause, MemoryError | SystemError) or "alloc" in str(cause):  # each library says it in its own way
            return
        answer = {"error": str(error)}
    fcntl.fcntl(line, fcntl.F_SETFL, 0)
    line.sendall(json.dumps(answer).encode())


def _limit(memory: int, seconds: int | None = None) -> None:
    import resource

    import psutil

    limits = {resource.RLIMIT_AS: psutil.Process().memory_info().vms + memory, resource.RLIMIT_CORE: 0}
    if seconds is not None:
        limits[resource.RLIMIT_CPU] = seconds
    for what, most in limits.items():
        resource.setrlimit(what, (most, most))


if __name__ == "__main__":
    _fork_for_each(socket.socket(fileno=int(sys.argv[1])))
