"""Names that a person may type for a model (on the Hub, or the path of a folder), and strangers' words made fit to show."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from models.errors import ModelError

# huggingface.co: letters, digits, "-", "_" and "."; an owner and a name, or a name alone; 96 characters at most.
REPOSITORY = re.compile(r"(?:[A-Za-z0-9][\w.-]*/)?[A-Za-z0-9][\w.-]*", re.ASCII)
REVISION = re.compile(r"[A-Za-z0-9][\w./-]{0,99}", re.ASCII)
ADDRESS = re.compile(r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/(.*)", re.IGNORECASE)
KINDS = {"datasets": "a data set", "spaces": "a Space", "papers": "a paper", "collections": "a collection", "docs": "a text"}
PAGES = ("tree", "blob", "resolve", "raw", "commit")  # of a repository, that show a revision of it
FOLDER = re.compile(r"/|\.{1,2}(?:[/\\]|$)|~|[A-Za-z]:[/\\]|\\\\")


@dataclass(frozen=True)
class HubName:
    """A repository of the Hub and a revision of it; None: its default branch."""

    repository: str
    revision: str | None = None

    @classmethod
    def parse(cls, name: str) -> HubName:
        """Parse "name", "owner/name" or "owner/name@revision". Errors: ModelError for anything else."""
        repository, at, revision = name.partition("@")
        if not REPOSITORY.fullmatch(repository) or len(repository) > 96 or ".." in repository or "--" in repository:
            raise ModelError(
                f"{quoted(name)} is not a model’s name. Type one like “gpt2” or “owner/name”, or a folder’s path like “./folder”."
            )
        if at and (not REVISION.fullmatch(revision) or ".." in revision):
            raise ModelError(f"{quoted(revision)} is not a revision: after the @ comes a branch, a tag or a commit.")
        return cls(repository, revision or None)


def is_folder_name(name: str) -> bool:
    """Return whether a name is a path ("/x", "./x", "../x", "~/x", "C:\\x", "\\\\x"), or a folder with a model below this one.

    Everything else is a name on the Hub.
    """
    return bool(FOLDER.match(name)) or _is_there(name)


def _is_there(name: str) -> bool:
    try:
        return bool(name) and (Path(name) / "config.json").is_file()
    except (OSError, ValueError):  # too long, or with a null character
        return False


def tidied(name: str) -> str:
    """Return one name for what people write in several ways: the address of a model's page or file on the Hub becomes its name.

    A branch, a tag or a commit in the address stands after an "@". Errors: ModelError for the address of something else.
    """
    if is_folder_name(name):
        return name
    name = name.strip()
    if not (address := ADDRESS.fullmatch(name)):
        return name.rstrip("/")
    parts = [part for part in unquote(re.split(r"[?#]", address[1])[0]).split("/") if part]
    if parts and parts[0] in KINDS:
        raise ModelError(f"{quoted(name)} is the address of {KINDS[parts[0]]}, not of a model.")
    at = next((at for at in (1, 2) if parts[at : at + 1] and parts[at] in PAGES), None)
    end, after = (2, []) if at is None else (at, parts[at + 1 :])
    revision = "/".join(after[: 3 if after[0] == "refs" else 1]) if after else ""
    return "/".join(parts[:end]) + (f"@{revision}" if revision not in ("", "main") else "")


def short(text: object, length: int = 60) -> str:
    """Return a stranger's words fit for a sentence: one line, nothing that cannot be printed, `length` characters at most."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in str(text)[: 20 * length]).split())
    return line if len(line) <= length else line[: length - 1] + "…"


def quoted(text: object) -> str:
    """Return `short` in quotation marks."""
    return f"“{short(text)}”"
