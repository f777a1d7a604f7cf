"""Sentences with gaps that are filled in: the words of a form, the articles they need, and where the answers are."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

WORDS = Path(__file__).parent / "fact_words.toml"
GAP = re.compile(r"\{[^{}]*\}")
SENTENCE_BEGINS = re.compile(r'(?:^|[.?!] "?|^"|\n)$')  # what stands before a capital letter
NO_VOWEL_SOUND = ("uni", "eu", "one", "use")  # words with "a" before them, though they begin with a vowel


@dataclass(frozen=True)
class Sentence:
    """A text with answers in it. answers: the first character of each, and the one after its last."""

    text: str
    answers: tuple[tuple[int, int], ...]

    @property
    def question(self) -> str:
        """The text up to the last answer, without the space before it."""
        return self.text[: self.answers[-1][0]].rstrip(" ")

    @property
    def answer(self) -> str:
        return self.text[slice(*self.answers[-1])]

    def after(self, earlier: Sentence) -> Sentence:
        """Return both sentences as one text, on two lines if the earlier one has no sign at its end."""
        shift = len(earlier.text) + 1
        space = " " if earlier.text.endswith((".", '"')) else "\n"
        answers = earlier.answers + tuple((begin + shift, end + shift) for begin, end in self.answers)
        return Sentence(earlier.text + space + self.text, answers)


def fill(form: str, words: Mapping[str, str]) -> Sentence:
    """Fill the gaps of a form: {name} with the word of that name, {a name} with an article before it. The last gap is the answer.

    The first word of a sentence gets a capital letter. The article of the answer is no part of it: it belongs to the question.
    Errors: KeyError for a gap without a word.
    """
    text, at, answer = "", 0, (0, 0)
    for gap in GAP.finditer(form):
        text += form[at : gap.start()]
        at = gap.end()
        article, _, name = gap[0][1:-1].rpartition(" ")
        word = words[name]
        phrase = with_article(word) if article else with_the(word)
        if SENTENCE_BEGINS.search(text):
            phrase = phrase[:1].upper() + phrase[1:]
        text += phrase
        answer = (len(text) - len(word), len(text))
    return Sentence(text + form[at:], (answer,))


def with_article(noun: str) -> str:
    """Return a noun with the article that it has where any one of its kind is meant: "a dog", "an owl", "the sun", "gold"."""
    names = word_lists()
    if noun in names["the"]:
        return f"the {noun}"
    if noun in names["no_article"]:
        return noun
    vowel = noun[:1].lower() in "aeiou" and not noun.lower().startswith(NO_VOWEL_SOUND)
    return f"{'an' if vowel else 'a'} {noun}"


def with_the(noun: str) -> str:
    """Return the name of a country with "the" if it has one: "the Netherlands"; any other word as it is."""
    return f"the {noun}" if noun[:1].isupper() and noun in word_lists()["the"] else noun


@cache
def word_lists() -> dict:
    """Read the words, names and forms of our own. They are in `fact_words.toml`."""
    return tomllib.loads(WORDS.read_text(encoding="utf-8"))
