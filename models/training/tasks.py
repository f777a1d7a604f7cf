"""Toy tasks that a small transformer learns in a minute: each makes examples of one length, with a mask of the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LETTERS = "abcdefghijklmnopqrstuvwxyz"
PAIRS = ("()", "[]", "{}")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Task:
    """A task. make(generator): an example as (question, answer), together always `length` characters; the answer follows from the
    question, so that a model can know every character of it. A character is a byte (its code is below 256) and a token."""

    name: str
    says: str  # the goal, in a sentence
    length: int
    make: Callable[[np.random.Generator], tuple[str, str]]
    fresh: bool = True  # whether there are enough examples for others than those learned from
    text: str = ""  # that is learned, where one was typed

    def example(self, generator: np.random.Generator) -> tuple[str, str]:
        question, answer = self.make(generator)
        assert len(question) + len(answer) == self.length
        return question, answer

    def batch(self, generator: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
        """Return characters as codes, int64 [rows, length], and a mask of the answer, bool [rows, length]."""
        texts = [self.example(generator) for _ in range(rows)]
        codes = np.array([list((question + answer).encode("latin-1")) for question, answer in texts], dtype=np.int64)
        known = np.array([[False] * len(question) + [True] * len(answer) for question, answer in texts])
        return codes, known


def copy(length: int = 10) -> Task:
    """Write the same letters again after a bar."""
    return _letters_task("copy", "Say the letters again.", length, lambda letters: letters)


def reverse(length: int = 10) -> Task:
    """Write the letters backwards after a bar."""
    return _letters_task("reverse", "Say the letters backwards.", length, lambda letters: letters[::-1])


def sort(length: int = 8) -> Task:
    """Write the letters in alphabetical order after a bar."""
    return _letters_task("sort", "Say the letters in the order of the alphabet.", length, sorted)


def repeat(length: int = 40, alphabet: str = LETTERS, rounds_of: int | None = None) -> Task:
    """Predict random letters that repeat: from the second round on each is known by looking back to what followed last time.

    The rounds have another length in every example, so counting does not help: the task needs induction heads (Olsson et al.
    2022, "In-context Learning and Induction Heads"). rounds_of: the length of examples whose rounds these have, to ask what was
    learned from them in longer ones; None for rounds of a quarter to a half of `length`.
    """
    usual = length if rounds_of is None else rounds_of

    def make(generator: np.random.Generator) -> tuple[str, str]:
        period = int(generator.integers(usual // 4, usual // 2 + 1))
        # No letter twice in a round, so that its successor is certain.
        piece = "".join(generator.permutation(list(alphabet))[:period])
        text = (piece * (length // period + 1))[:length]
        return text[: period + 1], text[period + 1 :]

    if not 8 <= usual <= min(2 * len(alphabet), length):
        raise ValueError(f"Repeated letters take from 8 to {2 * len(alphabet)} characters; {usual} were asked for.")
    return Task("repeat", "The letters come again. Find what followed last time.", length, make)


def dates() -> Task:
    """Write a date as numbers: “ 7 Mar 2019|2019-03-07”."""

    def make(generator: np.random.Generator) -> tuple[str, str]:
        day, month, year = int(generator.integers(1, 29)), int(generator.integers(12)), int(generator.integers(1900, 2100))
        return f"{day:2d} {MONTHS[month]} {year}|", f"{year}-{month + 1:02d}-{day:02d}"

    return Task("dates", "Write the date as numbers.", 22, make)


def add(digits: int = 3) -> Task:
    """Add two numbers of equal length: “347+085|0432”.

    The answer begins with the digit that depends on all carries, as people write it.
    """
    if not 1 <= digits <= 8:
        raise ValueError(f"Numbers here have from 1 to 8 digits; {digits} were asked for.")

    def make(generator: np.random.Generator) -> tuple[str, str]:
        first, second = (int(number) for number in generator.integers(10**digits, size=2))
        return f"{first:0{digits}d}+{second:0{digits}d}|", f"{first + second:0{digits + 1}d}"

    return Task("add", "Write the sum of the two numbers.", 3 * digits + 3, make)


def brackets(length: int = 16) -> Task:
    """Close the brackets that are open, the last one first, and write a dot for each place that is left: “([]{|})..”.

    A stack does it. Source: the Dyck languages, with which networks are compared (Ebrahimi, Gelda and Zhang 2020, "How Can
    Self-Attention Networks Recognize Dyck-n Languages?").
    """
    if length % 2 or not 2 <= length <= 24:
        raise ValueError(f"This task takes an even number of brackets, from 2 to 24; {length} were asked for.")

    def make(generator: np.random.Generator) -> tuple[str, str]:
        written, closing = "", ""  # what closes the open ones, the last one first
        for _ in range(length):
            if closing and (len(closing) == length // 2 or generator.random() < 0.5):
                written, closing = written + closing[0], closing[1:]
            else:
                kind = int(generator.integers(len(PAIRS)))
                written, closing = written + PAIRS[kind][0], PAIRS[kind][1] + closing
        return written + "|", closing.ljust(length // 2, ".")

    return Task("brackets", "Close the open brackets, the last one first.", length + 1 + length // 2, make)


def text(typed: str, length: int = 48) -> Task:
    """Predict every byte of stretches of a typed text, in UTF-8.

    Errors: ValueError when the text is shorter than a stretch.
    """
    codes = typed.encode("utf-8", "replace").decode("latin-1")
    if len(codes) < length:
        raise ValueError(
            f"Learning from your text takes at least {length} characters; it has {len(typed)}. Type more, or choose another task."
        )

    def make(generator: np.random.Generator) -> tuple[str, str]:
        start = int(generator.integers(len(codes) - length + 1))
        return codes[start], codes[start + 1 : start + length]

    return Task("text", "Predict the next character of your text.", length, make, fresh=False, text=typed)


def _letters_task(name: str, says: str, length: int, turn: Callable) -> Task:
    if not 1 <= length <= 40:
        raise ValueError(f"This task takes from 1 to 40 letters; {length} were asked for.")

    def make(generator: np.random.Generator) -> tuple[str, str]:
        letters = "".join(generator.choice(list(LETTERS), length))
        return letters + "|", "".join(turn(letters))

    return Task(name, says, 2 * length + 1, make)


TASKS: dict[str, Callable[..., Task]] = {
    "repeat": repeat,
    "copy": copy,
    "reverse": reverse,
    "sort": sort,
    "dates": dates,
    "add": add,
    "brackets": brackets,
    "text": text,
}
