"""Errors of loading a model by its name, and of reading a file that a person has written."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager


class ModelError(ValueError):
    """A model that cannot be loaded. The message is one or two sentences for the user: what was wrong, what to do."""


class FileError(ValueError):
    """A file that cannot be read: which one, which line, what is wrong there and what to do."""

    def __init__(self, file: str, line: int, sentence: str) -> None:
        super().__init__(f"{file}, line {line}: {sentence}")
        self.file, self.line, self.sentence = file, line, sentence


class Cancelled(Exception):
    """The person who asked for a model no longer wants it."""


@contextmanager
def panics_caught() -> Iterator[None]:
    """Turn a panic of a Rust library, such as tokenizers, into a RuntimeError: as a BaseException it would end a thread
    silently."""
    try:
        yield
    except (Exception, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # pyo3_runtime.PanicException, which cannot be imported
        if type(error).__name__ != "PanicException":
            raise
        raise RuntimeError(f"A library stopped: {error}") from error


NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # on the disk, within a quota, for a file as large


def is_full(error: BaseException) -> bool:
    """Return whether an error, or its cause, means that the disk is full; libraries in Rust only say so in words."""
    no_room = getattr(error, "errno", None) in NO_ROOM or any(os.strerror(code).lower() in str(error).lower() for code in NO_ROOM)
    return no_room or (error.__cause__ is not None and is_full(error.__cause__))


def is_short_of_memory(error: BaseException) -> bool:
    """Return whether an error means that no memory was left. On a CPU, torch has no error type for it."""
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in ("can't allocate memory", "bad_alloc"))


HALF = re.compile("[\ud800-\udfff]")


def check_signs(text: str, file: str, line: int) -> None:
    """Check a YAML text. Errors: FileError for half of a surrogate pair ("\\ud83d"), which YAML accepts and no page can show.
    line: the number of the text's first line."""
    import yaml  # here, because a first page needs it only with a lesson

    for token in yaml.scan(text) if "\\" in text else ():
        if isinstance(token, yaml.ScalarToken) and HALF.search(token.value):
            raise FileError(file, line + token.start_mark.line, "Here stands half of a sign. Write the whole sign, as “🙂”.")
