"""Questions to a class, and the counts of their answers."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

WRITTEN = 200  # characters of an answer
OFFERED = 12  # choices of a question at most
KINDS = ("choices", "a number", "a word")
GROUPS = re.compile(r"\d{1,3}(?P<apart>[ ,.'’])\d{3}(?:(?P=apart)\d{3})*")
NONE_OF_THEM = "“{right}” is marked as the right answer, but is none of the choices. Mark another one."
NO_NUMBER = "This question asks for a number."
EITHER = "“{number}” can be read in two ways. Write {whole}, or {part}."


class RoomError(ValueError):
    """A room, a seat or an answer was refused; the message is a sentence that says why."""


class Reply(NamedTuple):
    """An answer: the name that was written beside it, and when it came, in seconds since 1970."""

    name: str
    answer: str
    when: float


@dataclass
class Question:
    """A question. model: the answer of the model in use, "" for none; right: the right answer, "" if unknown; answers: by voter;
    counts_visible: whether everybody sees the counts; right_visible: the same of the right answer, after which no answer is
    taken."""

    words: str
    kind: str
    choices: tuple[str, ...] = ()
    model: str = ""
    right: str = ""
    answers: dict[str, Reply] = field(default_factory=dict)
    counts_visible: bool = False
    right_visible: bool = False
    open: bool = True
    changes: int = 0  # of the answers
    counted: tuple[int, list[tuple[str, int]]] = (-1, [])  # at which change, and the counts: a class of 300 asks for the same

    def read(self, raw_answer: object) -> str:
        """Return an answer in the form that is counted. Errors: RoomError for one that does not answer the question."""
        answer = line(str(raw_answer), WRITTEN)
        if self.kind == "choices":
            if answer not in self.choices:
                raise RoomError("Choose one of the answers.")
            return answer
        if self.kind == "a number":
            try:
                return f"{read_number(answer):.12g}"
            except ValueError as error:
                raise RoomError(str(error)) from None
        if not answer:
            raise RoomError("Write a word or two.")
        return answer

    def counted_right(self) -> str:
        """Return the right answer as `counts` writes it, or as it was marked where nobody has given it."""
        if self.kind == "a word":
            return next((answer for answer, _ in self.counts() if answer.casefold() == self.right.casefold()), self.right)
        try:
            return self.read(self.right)
        except RoomError:  # such as a number with its unit
            return self.right

    @property
    def model_visible(self) -> bool:
        """Whether the model's answer may be shown with the counts: not while it gives the right answer away."""
        return self.right_visible or not self.right or self.model.strip("“”") != self.right

    def counts(self) -> list[tuple[str, int]]:
        """Return how often each answer was given: choices in their order, numbers from the smallest, words (capitals ignored)
        from the most frequent."""
        changes, (counted_at, counts) = self.changes, self.counted
        if counted_at != changes:
            counts = self._count()
            self.counted = changes, counts
        return counts

    def _count(self) -> list[tuple[str, int]]:
        answers = [reply.answer for reply in list(self.answers.values())]
        if self.kind == "choices":
            return [(choice, answers.count(choice)) for choice in self.choices]
        if self.kind == "a number":
            return sorted(Counter(answers).items(), key=lambda pair: float(pair[0]))
        first: dict[str, str] = {}
        for answer in answers:
            first.setdefault(answer.casefold(), answer)
        return [(first[folded], count) for folded, count in Counter(map(str.casefold, answers)).most_common()]


def prepare(words: str, kind: str, choices: tuple[str, ...] = (), model: str = "", right: str = "") -> Question:
    """A question that can be asked. Errors: RoomError for one that cannot be answered."""
    words, model, right = line(words, 2 * WRITTEN), line(model, WRITTEN), line(right, WRITTEN)
    offered = tuple(dict.fromkeys(text for choice in choices if (text := line(choice, WRITTEN))))
    if not words:
        raise RoomError("Write the question.")
    if kind not in KINDS:
        raise RoomError(f"A question asks for {', '.join(KINDS)}.")
    if kind == "choices" and not 2 <= len(offered) <= OFFERED:
        raise RoomError(f"Write from 2 to {OFFERED} different choices, each on a line of its own.")
    if kind == "choices" and right and right not in offered:
        raise RoomError(NONE_OF_THEM.format(right=right))
    return Question(words, kind, offered if kind == "choices" else (), model, right)


def line(text: str, most: int) -> str:
    """Return a visitor's text on one line, shortened, and valid in UTF-8: half a character would end the connection of everybody
    who receives it.
    """
    return " ".join(text[: 4 * most].encode("utf-8", "replace").decode().split())[:most]


def read_number(answer: str) -> float:
    """Parse a number with a decimal point or comma, and perhaps with separated thousands: "3,5", "1 000", "1,000.5", "1.000.000".
    A single point is a decimal point, as on every page. Errors: ValueError, a sentence, for anything else, and for "1,000", which
    is a thousand to some readers and one to others."""
    text = answer.strip().replace("−", "-")
    sign, digits = (text[:1], text[1:]) if text[:1] in ("+", "-") else ("", text)
    whole, part = split_decimals(digits)
    if re.fullmatch(r"[1-9]\d{0,2},\d{3}", digits):
        raise ValueError(EITHER.format(number=answer, whole=sign + digits.replace(",", ""), part=sign + digits.replace(",", ".")))
    if grouped := GROUPS.fullmatch(whole):
        text = f"{sign}{whole.replace(grouped['apart'], '')}{'.' if part else ''}{part}"
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(NO_NUMBER)
    return number + 0.0  # never -0


def split_decimals(digits: str) -> tuple[str, str]:
    """Split a number at its decimal sign, which occurs only once."""
    for mark in ".,":
        before, separator, after = digits.rpartition(mark)
        if separator and mark not in before and after.isdigit():
            return before, after
    return digits, ""
