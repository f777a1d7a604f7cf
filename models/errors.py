"""What can go wrong between a name and a model, and in a file that a person has written."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager


class ModelError(ValueError):
    """A model cannot be had. The message is one or two sentences for the person who asked: what was wrong, what to do."""


class FileError(ValueError):
    """A file that cannot be read: which one, which line, what is wrong there and what to do."""

    def __init__(self, file: str, line: int, sentence: str) -> None:
        super().__init__(f"{file}, line {line}: {sentence}")
        self.file, self.line, self.sentence = file, line, sentence


class Cancelled(Exception):
    """The person who asked for a model no longer wants it."""


@contextmanager
def panics_caught() -> Iterator[None]:
    """A panic of a library in Rust, such as tokenizers, is a BaseException, which would end a thread without a word: here it
    becomes a RuntimeError."""
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
    """Whether it, or what it came from, says that there is no room on the disk; libraries in Rust only say it in words."""
    said = getattr(error, "errno", None) in NO_ROOM or any(os.strerror(one).lower() in str(error).lower() for one in NO_ROOM)
    return said or (error.__cause__ is not None and is_full(error.__cause__))


HALF = re.compile("[\ud800-\udfff]")


def check_signs(text: str, file: str, line: int) -> None:
    """Errors: FileError for half of a sign, which YAML takes by its number ("\\ud83d") and no page can show. line: of the first
    one."""
    import yaml  # here, because a first page needs it only with a lesson

    for token in yaml.scan(text) if "\\" in text else ():
        if isinstance(token, yaml.ScalarToken) and HALF.search(token.value):
            raise FileError(file, line + token.start_mark.line, "Here stands half of a sign. Write the whole sign, as “🙂”.")
