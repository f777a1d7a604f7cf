"""The sentences that a model is taught, what it should answer in each, and the texts that show what else changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from models.language_model import LanguageModel

MOST_SENTENCES, LONGEST = 40, 80  # sentences, and tokens of each
OTHER_TEXTS, OTHER_LENGTH = 6, 48  # passages of text that is not taught, and tokens of each
SAMPLE = Path(__file__).parent.parent / "lens" / "sample.txt"
END = r"[\s.,;:!?…\"'”’»)\]]"  # what may follow the last word
ENDS = re.compile(r"\S.*[.!?…][\"'”’»)\]]*$|\S.*\n", re.DOTALL)  # a text in which a sentence has ended
LAST_WORD = re.compile(rf"(?<=\s)(\S*(?!{END})\S){END}*$")


@dataclass(frozen=True)
class Sentence:
    """One sentence as tokens. ids: of the whole, its start token included; begins: the position of its answer's first token, and
    ends: the position after its last. The answer is the sentence's last word, without what follows it."""

    text: str
    answer: str
    ids: tuple[int, ...]
    begins: int
    ends: int

    @property
    def question(self) -> str:
        return self.text[: self.text.rindex(self.answer)].rstrip()


def read_sentences(model: LanguageModel, text: str) -> list[Sentence]:
    """Return the sentences of a text, one a line. Errors: ValueError, a sentence, for a text that cannot be learned."""
    lines = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    if not lines:
        raise ValueError("There is nothing to learn. Write at least one sentence, each in a line of its own.")
    if len(lines) > MOST_SENTENCES:
        raise ValueError(f"These are {len(lines)} sentences; at most {MOST_SENTENCES} are taught at a time. Leave some out.")
    return [read_sentence(model, line) for line in lines]


def read_sentence(model: LanguageModel, line: str) -> Sentence:
    """Return one sentence as tokens, with its last word as the answer. Errors: ValueError, a sentence."""
    tokens = model.tokenize(line)
    longest = min(LONGEST, model.info.context or LONGEST)
    if len(tokens) > longest:
        raise ValueError(f"“{line[:40]}…” has {len(tokens)} tokens; a sentence may have {longest}. Make it shorter.")
    word = LAST_WORD.search(line)
    if word is None:
        raise ValueError(f"“{line[:40]}” is one word. The model learns to continue a text: write a sentence that ends in it.")
    answer, (start, end) = word[1], word.span(1)
    places = [at for at, token in enumerate(tokens) if token.start < end and token.end > start and not token.special]
    if not places or places[0] == 0:
        raise ValueError(f"The model reads nothing before the last word of “{line[:40]}”. Write more in front of it.")
    return Sentence(line, answer, tuple(token.id for token in tokens), places[0], places[-1] + 1)


def continuation(model: LanguageModel, beginning: str | list[int], most: int = 8) -> str:
    """Return what a model writes after the beginning of a sentence, a text or its ids: the likeliest tokens, up to that many or
    to the end of a sentence."""
    text = ""
    for step in model.generate(beginning, max_new_tokens=most):
        text = step.text
        if ENDS.search(text):
            break
    return text.strip()


def exchanged(model: LanguageModel, sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences with their last words exchanged: each has the answer of the next sentence whose answer is another one.
    They have the same form and the same words but say what was not taught. Empty where all answers are the same."""
    swapped = []
    for at, sentence in enumerate(sentences):
        later = [*sentences[at + 1 :], *sentences[:at]]
        other = next((candidate.answer for candidate in later if candidate.answer != sentence.answer), None)
        if other is None:
            return []
        place = sentence.text.rindex(sentence.answer)
        text = sentence.text[:place] + other + sentence.text[place + len(sentence.answer) :]
        swapped.append(read_sentence(model, text))
    return swapped


def other_texts(model: LanguageModel) -> list[tuple[int, ...]]:
    """Return passages of text that nobody teaches here, as ids: the beginning of each paragraph of a book that is long enough."""
    passages = []
    length = min(OTHER_LENGTH, model.info.context or OTHER_LENGTH)
    for paragraph in _paragraphs():
        ids = tuple(token.id for token in model.tokenize(paragraph))[:length]
        if len(ids) == length:
            passages.append(ids)
        if len(passages) == OTHER_TEXTS:
            break
    return passages


@cache
def _paragraphs() -> tuple[str, ...]:
    return tuple(line for line in SAMPLE.read_text(encoding="utf-8").splitlines() if len(line) > 150)
