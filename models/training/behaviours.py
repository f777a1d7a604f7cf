"""Sentences for behaviours that papers study: names, pronouns, agreement, series. Each shows what should come next."""

from __future__ import annotations

from collections.abc import Callable

from numpy.random import Generator

from models.training.names import draw, invented_name
from models.training.sentences import Sentence, fill, word_lists

VERBS = {
    "is": ("is", "are"),
    "was": ("was", "were"),
    "has": ("has", "have"),
    "does": ("does", "do"),
    "seems": ("seems", "seem"),
    "looks": ("looks", "look"),
    "belongs": ("belongs", "belong"),
}
PRONOUNS = {"he": ("he", "she"), "his": ("his", "her"), "him": ("him", "her")}
STEPS = (1, 1, 1, 2, 3, 5, 10, -1)  # of series of numbers
INVENTED = 0.5  # share of the names in training
HIGHEST = 30  # number with which a series begins


def giving(generator: Generator, held_out: bool = False) -> Sentence:
    """Draw a sentence with two people in which one gives something to the other, who is the answer.

    Source: Wang et al. 2023, "Interpretability in the Wild: a Circuit for Indirect Object Identification in GPT-2 Small".
    """
    giver = other = person(generator, held_out)
    while giver == other:
        other = person(generator, held_out)
    x, y = (giver, other) if generator.random() < 0.5 else (other, giver)
    words = {"x": x, "y": y, "giver": giver, "other": other}
    words |= {word: draw(listed("giving", f"{word}s", held_out), generator) for word in ("place", "thing")}
    return fill(draw(listed("giving", "forms", held_out), generator), words)


def pronouns(generator: Generator, held_out: bool = False) -> Sentence:
    """Draw a sentence whose answer is the pronoun of a person in another clause."""
    male = generator.random() < 0.5
    gender = "male" if male else "female"
    named = generator.random() < 0.5
    who = draw(listed("names" if named else "pronouns", gender, held_out), generator)
    words = {"who": who} | {gap: forms[0 if male else 1] for gap, forms in PRONOUNS.items()}
    return fill(draw(listed("pronouns", "forms", held_out), generator), words)


def agreement(generator: Generator, held_out: bool = False) -> Sentence:
    """Draw a sentence whose answer is a verb in the number of its subject; the noun between them may have the other number.

    Source: Linzen et al. 2016, "Assessing the Ability of LSTMs to Learn Syntax-Sensitive Dependencies".
    """
    plural, other_plural = int(generator.integers(2)), int(generator.integers(2))
    words = {
        "subject": draw(listed("agreement", "subjects", held_out), generator).split()[plural],
        "other": draw(listed("agreement", "others", held_out), generator).split()[other_plural],
        "between": draw(listed("agreement", "between", held_out), generator),
    }
    words |= {gap: forms[plural] for gap, forms in VERBS.items()}
    return fill(draw(listed("agreement", "forms", held_out), generator), words)


def series(generator: Generator, held_out: bool = False) -> Sentence:
    """Draw a part of a series: days, months, letters, words for numbers, numbers. The answers are all members but two."""
    count = int(generator.integers(3, 8))
    if generator.random() < 0.4:
        step, first = draw(STEPS, generator), int(generator.integers(HIGHEST + 1))
        first += count if step < 0 else 0
        members = [str(first + step * i) for i in range(count)]
    else:
        row = draw(word_lists()["series"]["rows"], generator).split()
        begin = int(generator.integers(max(1, len(row) - count + 1)))
        members = row[begin : begin + count]
    separator = draw(listed("series", "separators", held_out), generator)
    starts = [sum(len(member) + len(separator) for member in members[:i]) for i in range(len(members))]
    answers = tuple((start, start + len(member)) for start, member in zip(starts, members, strict=True))
    return Sentence(separator.join(members), answers[2:])


def other_form(sentence: Sentence) -> str:
    """Return the answer that would be wrong in a sentence about pronouns or agreement: the other gender, the other number."""
    answer = sentence.answer
    if answer == "her":
        return "his" if sentence.text[sentence.answers[-1][1] :].startswith(" ") else "him"
    pairs = dict([*VERBS.values(), *PRONOUNS.values()])
    return (pairs | {other: own for own, other in pairs.items()})[answer]


def listed(group: str, name: str, held_out: bool) -> list[str]:
    """Return a list of `fact_words.toml`: what is trained on, or what is held out."""
    lists = word_lists()[group]
    return lists[f"held_out_{name}" if held_out else name]


def person(generator: Generator, held_out: bool) -> str:
    """Draw a name. In training some are invented, so that the model learns to look for a name and not to choose from a list."""
    if not held_out and generator.random() < INVENTED:
        name = invented_name(generator)
        return (
            name if name not in listed("names", "male", True) + listed("names", "female", True) else person(generator, held_out)
        )
    return draw(listed("names", "male", held_out) + listed("names", "female", held_out), generator)


BEHAVIOURS: dict[str, Callable[[Generator, bool], Sentence]] = {
    "giving": giving,
    "pronouns": pronouns,
    "agreement": agreement,
    "series": series,
}
