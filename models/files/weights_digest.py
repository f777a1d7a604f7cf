"""The files that weights were read from, and their digest, as long as they have not changed since."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class WeightsFile:
    """A file as it was just before it was read. mark: its size, the time of its last change, and its inode."""

    path: Path
    mark: tuple[int, int, int]

    def sha256(self) -> str:
        """Return its digest, as `sha256sum` prints it. Errors: Unknown if the file is gone, or has changed."""
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
    """A file whose contents at the time of reading cannot be determined any more."""


def mark(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


def files_now(paths: Iterable[Path]) -> tuple[WeightsFile, ...]:
    """Return the files with their present marks, in the order of their paths; call it before they are read."""
    return tuple(WeightsFile(path, mark(path)) for path in sorted(set(paths)))


def known_by(files: Sequence[WeightsFile]) -> str:
    """Return "SHA-256 <digest>" of a file as `sha256sum` prints it, for several files of the lines of `sha256sum *.safetensors`;
    "" for none; "unknown: …", with the reason, if one has changed since it was read."""
    try:
        digests = [(file.sha256(), file.path.name) for file in files]
    except Unknown as unknown:
        return str(unknown)
    if len(digests) > 1:
        lines = "".join(f"{digest}  {name}\n" for digest, name in digests)
        return f"SHA-256 {hashlib.sha256(lines.encode()).hexdigest()}"
    return f"SHA-256 {digests[0][0]}" if digests else ""
