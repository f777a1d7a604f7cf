"""Messages on the line: what a browser asks, with every value checked against those that are allowed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from ui import state
from ui.escaping import BREAK
from ui.look import Choices
from ui.memory import limits

LARGEST_NUMBER = 10**15
ENTRIES, NAMED = 1000, 200  # explained words of a page, and characters of the name of one


class RequestError(ValueError):
    """A message that cannot be answered, as a sentence. number: that of the message, 0 where it has none."""

    def __init__(self, sentence: str, number: int = 0):
        super().__init__(sentence)
        self.number = number


@dataclass(frozen=True)
class Request:
    """The question of a page. number: grows with each; run: the run of the page that it stands on. second: the text beside the
    text; values: the page's own choices, and click: on its board, None for none; the page checks both."""

    number: int
    run: int
    page: str
    model: str
    text: str
    second: str
    choices: Choices
    values: Mapping[str, Any]
    click: object = None


def read(message: str) -> Request:
    """Return the request in a message. Errors: RequestError."""
    try:
        values = json.loads(message)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise RequestError("A message is a JSON object.")
    number = values.get("number")
    if not is_count(number):
        raise RequestError("“number” is a whole number from 0, which grows with each message.")
    try:
        own = values.get("values", {})
        check(isinstance(own, dict), "“values” has the page’s own choices by their names.")
        return Request(
            number,
            count_of(values, "run"),
            text_of(values, "page", NAMED),
            text_of(values, "model"),
            typed(values, "text"),
            typed(values, "target"),
            choices_of(values.get("choices")),
            own,
            values.get("click"),
        )
    except ValueError as error:
        raise RequestError(str(error), number) from None


def choices_of(values: object) -> Choices:
    """Return choices from plain values, as `dataclasses.asdict` writes them. Errors: ValueError, a sentence."""
    if not isinstance(values, dict):
        raise ValueError("“choices” has what is chosen, by its names.")
    names = Choices.__dataclass_fields__.keys()
    check(values.keys() <= names, f"“choices” has other names than {', '.join(names)}.")
    attentions = [name.lower() for name in state.ATTENTION.values]
    return Choices(
        level=option_of(values, "level", state.LEVELS, Choices.level),
        attention=option_of(values, "attention", attentions, Choices.attention),
        layer=place_of(values, "layer"),
        head=place_of(values, "head"),
        token=place_of(values, "token"),
        special=switch_of(values, "special"),
        renormalised=switch_of(values, "renormalised"),
        whole_words=switch_of(values, "whole_words"),
        touched=switch_of(values, "touched"),
        narrow=switch_of(values, "narrow"),
        explained=explained_of(values.get("explained")),
    )


def explained_of(words: object) -> dict[str, str] | None:
    """Return the technical terms that are marked elsewhere on the page. Errors: ValueError, a sentence."""
    if words is None:
        return None
    if not isinstance(words, dict) or len(words) > ENTRIES or not all(map(is_place, words.items())):
        raise ValueError("“explained” has the places of explained words, by their entries.")
    return words


def is_place(entry: tuple[object, object]) -> bool:
    return all(isinstance(text, str) for text in entry) and len("".join(map(str, entry))) <= NAMED


def check(fits: bool, sentence: str) -> None:
    if not fits:
        raise ValueError(sentence)


def is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < LARGEST_NUMBER


def count_of(values: Mapping[str, Any], name: str) -> int:
    value = values.get(name)
    if not is_count(value):
        raise ValueError(f"“{name}” is a whole number from 0.")
    return value


def place_of(values: Mapping[str, Any], name: str) -> int | None:
    return None if values.get(name) is None else count_of(values, name)


def switch_of(values: Mapping[str, Any], name: str) -> bool:
    value = values.get(name, getattr(Choices, name))
    check(isinstance(value, bool), f"“{name}” is true or false.")
    return bool(value)


def option_of(values: Mapping[str, Any], name: str, options: tuple[str, ...] | list[str], default: str) -> str:
    value = values.get(name, default)
    check(value in options, f"“{name}” is one of {', '.join(options)}.")
    return str(value)


def text_of(values: Mapping[str, Any], name: str, longest: int = state.LINKED) -> str:
    value = values.get(name, "")
    check(isinstance(value, str), f"“{name}” is a text.")
    check(len(value) <= longest, f"“{name}” has at most {longest:,} characters.")
    return str(value)


def typed(values: Mapping[str, Any], name: str) -> str:
    """Return what a text box holds, with its line breaks. Errors: ValueError, a sentence."""
    return text_of(values, name, min(state.LINKED, limits.characters() or state.LINKED)).replace(BREAK, "\n")
