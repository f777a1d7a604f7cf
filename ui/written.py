"""Reads files that people write beside the program, lessons and the lexicon, and refuses wrong ones with the line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, NoReturn

import yaml

from models.errors import FileError, check_signs
from models.huggingface.names import quoted, short

HEADER = re.compile(r"\A---\n(.*?\n)---\n", re.S)
DEEPEST = 200  # brackets in each other: PyYAML takes minutes for thousands
MOST = 200_000  # values and characters of what a file says, with what its signs of YAML (* and &) repeat: each may double it
NAMES, DIGITS = 2000, 300  # of one part of a file, and of a whole number, at most
KINDS = {str: "a text", int: "a whole number", dict: "names and values", list: "a list", object: "a value"}


class Reader(yaml.SafeLoader):
    """A YAML reader like `yaml.safe_load` that refuses files in which << turns a few lines into thousands of names."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        super().flatten_mapping(node)
        if len(node.value) > NAMES:
            raise yaml.constructor.ConstructorError(None, None, f"a part has more than {NAMES:,} names", node.start_mark)


def text_of(file: Path, largest: int) -> str:
    """Return the text of a file of at most so many bytes. Errors: FileError for a longer one, and if it cannot be read or is not
    UTF-8.
    """
    try:
        if file.stat().st_size > largest:
            raise FileError(file.name, 1, f"The file has more than {largest:,} bytes. Make it shorter, or two of it.")
        return file.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except OSError:
        raise FileError(file.name, 1, "The file cannot be read. See whether it is still there, and who may read it.") from None
    except UnicodeDecodeError:
        raise FileError(file.name, 1, "The file is not UTF-8 text. Save it as UTF-8.") from None


@dataclass(frozen=True)
class Block:
    """A block of lines “name: value” in a file. line: of the first one; end: the line after the block."""

    values: dict[str, Any]
    text: str
    file: str
    line: int
    end: int = 0

    def refuse(self, name: str, sentence: str) -> NoReturn:
        """Raise FileError with the line of a name; without a name, with the first line."""
        begins = re.compile(rf"[\s{{,-]*{re.escape(name)}\s*:")
        places = [at for at, line in enumerate(self.text.split("\n")) if name and begins.match(line)]
        raise FileError(self.file, self.line + (places[0] if places else 0), sentence)

    def part(self, values: dict[str, Any], *path: str | int) -> Block:
        """Return the block of nested values. path: the names and list indices that lead there."""
        node = yaml.compose(self.text)
        for step in path:
            nodes = [node.value[step]] if isinstance(step, int) else [value for name, value in node.value if name.value == step]
            if not nodes:  # it comes from elsewhere, by a sign of YAML
                return Block(values, self.text, self.file, self.line)
            node = nodes[-1]
        first, last = node.start_mark.line, node.end_mark.line + 1
        return Block(values, "\n".join(self.text.split("\n")[first:last]), self.file, self.line + first)

    def allow(self, kinds: Mapping[str, type], needed: Iterable[str], where: str) -> None:
        """Check the names and values. Errors: FileError for an unknown name, which would otherwise be silently ignored, for a
        missing one, and for a value of a wrong type."""
        for name, value in self.values.items():
            if name not in kinds:
                self.refuse(str(name), f"A {where} has no {quoted(name)}. It has {', '.join(kinds)}.")
            if not isinstance(value, kinds[name]) or (kinds[name] is int and isinstance(value, bool)):
                self.refuse(name, f"“{name}:” needs {KINDS[kinds[name]]}.")
        if missing := [name for name in needed if name not in self.values]:
            self.refuse("", f"A {where} needs “{missing[0]}: …” with {KINDS[kinds[missing[0]]]}.")


def header_of(text: str, file: str, what: str) -> Block:
    """Return the lines between the two lines of dashes at the beginning of a file."""
    if not (match := HEADER.match(text)):
        raise FileError(file, 1, f"A {what} begins with a header between two lines of three dashes (---).")
    return Block(mapping(match[1], file, 2), match[1], file, 2, match.end())


def mapping(text: str, file: str, line: int) -> dict[str, Any]:
    """Parse YAML to names and values. line: the number of its first line."""
    if depth_of(text) > DEEPEST:
        raise FileError(file, line, f"Brackets stand in each other more than {DEEPEST} deep. Leave most of them out.")
    try:
        values = yaml.load(text, Reader) or {}
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or "this is not YAML"
        hint = "Put a value that holds a colon, a # or quotes into quotes."
        raise FileError(file, line + (mark.line if mark else 0), f"It cannot be read: {short(problem, 120)}. {hint}") from None
    except Exception:  # too deep, or a value that is not of the kind that it names: each kind raises its own
        raise FileError(file, line, "It cannot be read. Here stand lines of the form “name: value”.") from None
    if not isinstance(values, dict):
        raise FileError(file, line, "Here stand lines of the form “name: value”.")
    if any(isinstance(value, int) and abs(value) >= 10**DIGITS for value in parts_of(values)):
        raise FileError(file, line, f"A number has more than {DIGITS} digits. Write a shorter one, or put it into quotes.")
    if sum(len(value) if isinstance(value, str | bytes) else 1 for value in parts_of(values)) > MOST:
        raise FileError(file, line, "It repeats itself too often by “*”. Write out what you mean.")
    check_signs(text, file, line)
    return values


def depth_of(text: str) -> int:
    """Return how deep brackets are nested, or more if texts contain some."""
    steps = (1 if sign in "[{" else -1 for sign in re.findall(r"[\[\]{}]", text))
    return max(accumulate(steps), default=0)


def parts_of(values: object) -> Iterator[object]:
    """Yield everything inside nested values, repeated parts repeatedly; no more than allowed."""
    waiting = [values]
    for _ in range(MOST + 1):
        if not waiting:
            return
        yield (value := waiting.pop())
        if isinstance(value, Mapping):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set):
            waiting += value
