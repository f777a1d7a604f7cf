"""Answers to questions of lessons: their type, the register of their names, and helpers that they share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.edit_numbers import fill
from models.edits import Edit
from models.huggingface.names import quoted
from models.language_model import LanguageModel
from models.tokens import Token
from models.trace import Trace

OFFERED = 4  # answers to choose among
MOST = 10**9  # the largest number that an argument may be


@dataclass(frozen=True)
class Answer:
    """The answer of a model. value: a text, a whole number, a share of one, or yes (True) and no. choices: the texts to choose
    from, the value among them, in an order that does not give it away; () if a number is typed. within: how far off a number may
    be and still count as right."""

    value: str | int | float | bool
    choices: tuple[str, ...] = ()
    within: float = 0.0

    def accepts(self, guess: str | float | bool) -> bool:
        """Return whether an answer is right."""
        if isinstance(self.value, str | bool):
            return guess == self.value
        return abs(float(guess) - self.value) <= self.within + 1e-9


def per_cent(share: float) -> Answer:
    """Return a share of one as a number in per cent. A guess is right within a tenth of the number, or of its distance from 100
    if that is less, and at most 3; the nearest whole number is right too."""
    value = round(100 * share, 1)
    rounding = 0.5 if value >= 10 else 0.05
    return Answer(value, within=min(3.0, max(rounding, 0.1 * min(value, 100 - value))))


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST


def is_whole(value: object) -> bool:
    return isinstance(value, int) and is_number(value)


Numbers = Sequence[float]
KINDS: dict[object, tuple[str, Callable[[object], bool]]] = {  # types of arguments: in words, and a test of a value
    str: ("a text; write a number as one in quotes", lambda value: isinstance(value, str)),
    int: ("a whole number", is_whole),
    int | None: ("a whole number", is_whole),
    float: ("a number", is_number),
    bool: ("true or false", lambda value: isinstance(value, bool)),
    Numbers: ("a list of numbers", lambda value: isinstance(value, list | tuple) and all(map(is_number, value))),
}
Ask = Callable[..., Answer]
ANSWERS: dict[str, Ask] = {}


def answer(model: LanguageModel, name: str, text: str, target: str = "", **arguments: Any) -> Answer:
    """Return the answer with this name for a text. arguments: those that it needs, such as layer and head.

    Errors: ValueError, a sentence, for an unknown name, and if this model or this text has no answer.
    """
    if name not in ANSWERS:
        raise ValueError(f"“{name}” cannot be computed. It is one of {', '.join(ANSWERS)}.")
    if complaint := check_given(name, arguments):
        raise ValueError(complaint)
    return ANSWERS[name](model, model.trace(text, target), **arguments)


def check_given(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a sentence on what is wrong with a question's arguments for an answer; "" if nothing is."""
    parameters = {
        parameter.name.rstrip("_"): parameter for parameter in list(inspect.signature(ANSWERS[name]).parameters.values())[2:]
    }
    if unknown := [argument for argument in arguments if argument not in parameters]:
        return f"The answer “{name}” takes no {quoted(unknown[0])}. It takes {', '.join(parameters) or 'nothing'}."
    if missing := [
        parameter_name
        for parameter_name, of in parameters.items()
        if of.default is inspect.Parameter.empty and parameter_name not in arguments
    ]:
        return f"The answer “{name}” needs “{missing[0]}” under “given:”."
    wrong = [argument for argument, value in arguments.items() if not KINDS[parameters[argument].annotation][1](value)]
    return f"“{wrong[0]}:” needs {KINDS[parameters[wrong[0]].annotation][0]}." if wrong else ""


def register(name: str) -> Callable[[Ask], Ask]:
    """Register an answer by its name in lessons. A parameter whose name is a word of Python ends in _ here, not in a lesson."""

    def keep(ask: Ask) -> Ask:
        def call_ask(model: LanguageModel, trace: Trace, **arguments: Any) -> Answer:
            own = inspect.signature(ask).parameters
            return ask(model, trace, **{f"{key}_" if f"{key}_" in own else key: value for key, value in arguments.items()})

        call_ask.__signature__ = inspect.signature(ask, eval_str=True)  # type: ignore[attr-defined]
        call_ask.__doc__ = ask.__doc__
        ANSWERS[name] = call_ask
        return ask

    return keep


# ---------------------------------------------------------------- shared helpers


def choice_among(names: Sequence[str]) -> Answer:
    """Return a choice among the first few names, of which the first is right; sorted, so that the order does not give it away."""
    return Answer(names[0], tuple(sorted(names[:OFFERED], key=str.casefold)))


def yes_or_no(value: bool) -> Answer:
    return Answer(bool(value), ("Yes", "No"))


def predicts_at(model: LanguageModel, trace: Trace) -> int:
    if trace.unembed is None or not (places := model.places(trace)):
        raise ValueError(f"“{model.info.name}” predicts nothing here.")
    return places[0]


def logits_of(model: LanguageModel, trace: Trace, edits: Sequence[Edit] = ()) -> np.ndarray:
    """Return the logits at the end or at the first mask: float32 [vocabulary]."""
    at = predicts_at(model, trace)
    edited = model.traces([trace.text], [list(edits)], target_text(trace))[0] if edits else trace
    logits = edited.logits_at(at)
    assert logits is not None, "it has an unembedding"
    return logits


def target_text(trace: Trace) -> str:
    """Return the text of an encoder-decoder's target."""
    return "".join(token.text for token in trace.target if token.start < token.end)


def edits_of(changes: str, model: LanguageModel) -> list[Edit]:
    """Return the edits of changes as an address writes them, with commas between: see `models.edits.FORMS`.

    model: the model over whose sample means are taken. Errors: ValueError, a sentence, for other texts, for a place that the
    model does not have, and for a change whose numbers are those of a text.
    """
    return [fill(edit_of(change), model) for change in changes.split(",") if change]


def edit_of(change: str) -> Edit:
    try:
        return Edit.parse(change)
    except ValueError as error:
        raise ValueError(
            f"{quoted(change)} is no change that a lesson can ask about. Write h2.3, m2.3, c2.3.5.1, f4 or b3."
        ) from error


def kind_of(trace: Trace, kind: str) -> str:
    if kind and kind not in trace.attention:
        raise ValueError(f"This model has no {quoted(kind)} attention. It has {', '.join(trace.attention)}.")
    return kind or next(iter(trace.attention))


def weights_of(trace: Trace, layer: int, head: int, kind: str = "") -> np.ndarray:
    """Return the weights of one head: [query, key]. Errors: ValueError for a head that does not exist."""
    attention = trace.attention[kind_of(trace, kind)]
    if not (0 <= layer < attention.layers and 0 <= head < attention.counts[layer]):
        raise ValueError(
            f"There is no L{layer} H{head} in this model. It has {attention.layers} layers of {attention.heads} heads."
        )
    return attention[layer][head]


def place_of(tokens: Sequence[Token], text: str) -> int:
    """Return the last position of a token; for no text, that of the last typed token."""
    places = [at for at, token in enumerate(tokens) if (token.text.strip() == text.strip() if text else token.start < token.end)]
    if not places:
        raise ValueError(f"The text has no token {quoted(text.strip())}.")
    return places[-1]


def label_at(tokens: Sequence[Token], at: int) -> str:
    """Return a token's text; if it occurs more than once, also which occurrence it is, counted from 1."""
    text = tokens[at].text.strip() or tokens[at].text
    places = [place for place, token in enumerate(tokens) if (token.text.strip() or token.text) == text]
    return f"{text} ({ordinal(places.index(at) + 1)})" if len(places) > 1 else text


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd, 4th, 11th, 21st …"""
    endings = {} if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{endings.get(number % 10, 'th')}"


def token_label(model: LanguageModel, id: int) -> str:
    text = model.token_text(id)
    return text.strip() or text


def id_of(model: LanguageModel, token: str, likeliest: int) -> int:
    """Return the id of a token by its text; with a leading space if the vocabulary has both."""
    if not token:
        return likeliest
    texts = {model.token_text(id): id for id in range(model.info.vocabulary)}
    for text in (f" {token.strip()}", token.strip()):
        if text in texts:
            return texts[text]
    raise ValueError(f"The vocabulary has no token {quoted(token.strip())}.")
