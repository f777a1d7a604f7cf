"""What a person may type for a model: a name on the Hub or the path of a folder; and how strangers' words are shown."""

from __future__ import annotations

import re
from dataclasses import dataclass

from models.errors import ModelError

# huggingface.co: letters, digits, "-", "_" and "."; an owner and a name, or a name alone; 96 characters at most.
REPOSITORY = re.compile(r"(?:[A-Za-z0-9][\w.-]*/)?[A-Za-z0-9][\w.-]*", re.ASCII)
REVISION = re.compile(r"[A-Za-z0-9][\w./-]{0,99}", re.ASCII)
FOLDER = re.compile(r"/|\.{1,2}(?:[/\\]|$)|~|[A-Za-z]:[/\\]|\\\\")


@dataclass(frozen=True)
class HubName:
    """A repository of the Hub and a revision of it; None: its default branch."""

    repository: str
    revision: str | None = None

    @classmethod
    def parse(cls, name: str) -> HubName:
        """From "name", "owner/name" or "owner/name@revision". Errors: ModelError for anything else."""
        repository, at, revision = name.partition("@")
        if not REPOSITORY.fullmatch(repository) or len(repository) > 96 or ".." in repository or "--" in repository:
            raise ModelError(
                f"{quoted(name)} is not a model’s name. Type one like “gpt2” or “owner/name”, or a folder’s path like “./folder”."
            )
        if at and (not REVISION.fullmatch(revision) or ".." in revision):
            raise ModelError(f"{quoted(revision)} is not a revision: after the @ comes a branch, a tag or a commit.")
        return cls(repository, revision or None)


def is_folder_name(name: str) -> bool:
    """Whether a name is a path ("/x", "./x", "../x", "~/x", "C:\\x", "\\\\x"); everything else is a name on the Hub."""
    return bool(FOLDER.match(name))


def short(text: object, length: int = 60) -> str:
    """Words of a stranger, fit for a sentence: one line, nothing that cannot be printed, `length` characters at most."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in str(text)[: 20 * length]).split())
    return line if len(line) <= length else line[: length - 1] + "…"


def quoted(text: object) -> str:
    """`short` in quotation marks."""
    return f"“{short(text)}”"
