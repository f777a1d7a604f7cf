"""The files that weights were read from: what they are known by, as long as they are still what was read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class WeightsFile:
    """A file as it was when it was about to be read. mark: its size, when it was last written, and its inode."""

    path: Path
    mark: tuple[int, int, int]

    def sha256(self) -> str:
        """Its digest, as `sha256sum` says it. Errors: Unknown where it has gone, or is not as it was."""
        try:
            before = mark(self.path)
            with self.path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            if before == mark(self.path) == self.mark:
                return digest
        except OSError as error:
            raise Unknown(f"unknown: the file {self.path.name} cannot be read any more") from error
        raise Unknown(f"unknown: the file {self.path.name} has changed since the model was loaded")


class Unknown(Exception):
    """What a file held when it was read cannot be said any more."""


def mark(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns, found.st_ino


def files_now(paths: Iterable[Path]) -> tuple[WeightsFile, ...]:
    """Files as they are now, to be asked for before they are read, in the order of their paths."""
    return tuple(WeightsFile(path, mark(path)) for path in sorted(set(paths)))


def known_by(files: Sequence[WeightsFile]) -> str:
    """ "SHA-256 <digest>" of a file, as `sha256sum` says it, and of several that of the lines of `sha256sum *.safetensors`; "" of
    none; "unknown: …", with the reason, where one is not any more what was read."""
    try:
        found = [(one.sha256(), one.path.name) for one in files]
    except Unknown as unknown:
        return str(unknown)
    if len(found) > 1:
        lines = "".join(f"{digest}  {name}\n" for digest, name in found)
        return f"SHA-256 {hashlib.sha256(lines.encode()).hexdigest()}"
    return f"SHA-256 {found[0][0]}" if found else ""
