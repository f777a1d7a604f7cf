"""Facts as training text: the facts of the files in many forms, packed into short rows of tokens whose answers are marked.

A fact that is read in a few forms is known in those only. Knowledge that can be asked for in a new form needs many forms of the
same fact, questions among them (Allen-Zhu and Li 2023, "Physics of Language Models: Part 3.1").
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.random import Generator
from tokenizers import Tokenizer

from models.scratch.signs import START
from models.training.behaviours import BEHAVIOURS
from models.training.corpus import id_of, read
from models.training.names import draw
from models.training.sentences import GAP, Sentence, fill, word_lists

FORMS = Path(__file__).parent / "fact_forms.txt"

# How often each is drawn. What is not named here is drawn as often as REST.
WEIGHTS = {
    "capital": 16.0,
    "opposite": 14.0,
    "sum": 18.0,
    "day after": 1.5,
    "month after": 2.0,
    "season after": 1.0,
    "letter after": 2.5,
    "number after": 7.0,
    "ordinal after": 1.5,
    "city": 6.0,
    "difference": 4.0,
    "product": 2.0,
    "digits": 1.0,
    "continent": 3.0,
    "language": 3.0,
    "currency": 2.0,
    "kind": 2.0,
    "giving": 40.0,
    "pronouns": 3.0,
    "agreement": 8.0,
    "series": 5.0,
}
REST = 1.0
PAIRED = 0.25  # share of the texts that are two sentences
SIGNS = {" + ": "plus", " - ": "minus", " × ": "times"}
NUMBERS = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
]


class Facts:
    """The facts of a folder, and the forms to say them in. Errors: FileNotFoundError as `corpus.read`; ValueError for a form of
    ours that asks as a held-out one does."""

    def __init__(self, data: Path):
        self.objects: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))  # of a relation and its subject
        for relation, subject, object in table(data / "facts.tsv"):
            if "_" not in object:  # the code of a language without a name
                self.objects[relation][subject.removeprefix("The ")].append(object)
        self.asked = {relation: list(objects) for relation, objects in self.objects.items()}  # subjects that the files name
        self.forms = own_forms()
        self.held_out: dict[str, list[str]] = defaultdict(list)
        for relation, split, form in table(data / "fact_sentences.tsv"):
            form = with_articles(form) if relation != "colour" else form.replace("{s}", "{a s}")
            (self.forms if split == "train" else self.held_out)[relation].append(form)
        for word, opposites in [*self.objects["opposite"].items()]:
            for opposite in opposites:
                if word not in self.objects["opposite"][opposite]:
                    self.objects["opposite"][opposite].append(word)
        self.check()
        self.relations = [*(name for name in self.objects if self.objects[name]), *BEHAVIOURS]
        weights = np.array([WEIGHTS.get(relation, REST) for relation in self.relations])
        self.chances = weights / weights.sum()

    def check(self) -> None:
        for relation, forms in self.forms.items():
            held_out = {question(form) for form in self.held_out[relation]}
            for form in forms:
                if same := next((asked for asked in held_out if question(form).endswith(asked)), ""):
                    raise ValueError(f"“{form}” ({relation}) asks as a held-out sentence does: “{same}”.")

    def sentence(self, generator: Generator, relation: str) -> Sentence:
        """Draw a sentence to train on: of a relation of the files, or of a behaviour."""
        if relation in BEHAVIOURS:
            return BEHAVIOURS[relation](generator, False)
        subject = draw([*self.objects[relation]], generator)
        words = {"s": subject, "o": draw(self.objects[relation][subject], generator)}
        forms = self.forms[relation]
        if subject in word_lists()["people"]:
            forms = [form for form in forms if not re.search(r"\b[Ii]ts?\b", form)]
        return fill(draw(forms, generator), respell(words, generator))

    def text(self, generator: Generator) -> Sentence:
        """Draw a text of one sentence, or of two."""
        drawn = [
            self.sentence(generator, self.relations[int(generator.choice(len(self.relations), p=self.chances))])
            for _ in range(1 + (generator.random() < PAIRED))
        ]
        return drawn[0] if len(drawn) == 1 else drawn[1].after(drawn[0])

    def questions(self, relation: str) -> Iterator[tuple[Sentence, list[str]]]:
        """Yield each fact of a relation in each held-out form, with all its right answers."""
        for subject in self.asked[relation]:
            objects = self.objects[relation][subject]
            for form in self.held_out[relation]:
                yield fill(form, {"s": subject, "o": objects[0]}), objects


def table(path: Path) -> list[list[str]]:
    """Read the rows of a file with a heading; each row has three cells with TABs between them. Errors: FileNotFoundError as
    `corpus.read`.
    """
    rows = [[cell.strip() for cell in line.split("\t")] for line in read(path).splitlines()[1:] if line.strip()]
    if wrong := next((row for row in rows if len(row) != 3), None):
        raise ValueError(f"A line of {path.name} has {len(wrong)} cells, and not 3: {' | '.join(wrong)}")
    return rows


def own_forms() -> dict[str, list[str]]:
    """Read our own forms by relation. They are in `fact_forms.txt`."""
    forms: dict[str, list[str]] = defaultdict(list)
    relations: list[str] = []
    for line in FORMS.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            relations = line.strip("[]").split(", ")
        elif line and not line.startswith("#"):
            for relation in relations:
                forms[relation].append(line)
    return forms


def with_articles(form: str) -> str:
    """Return a form with the articles before its gaps inside them, so that they fit the word."""
    return re.sub(r"\b[Aa] \{(\w+)\}", r"{a \1}", form)


def question(form: str) -> str:
    """Return what comes before the answer of a form, without the names of its gaps: forms with the same question are alike."""
    last = [*GAP.finditer(form)][-1]
    return GAP.sub("{}", re.sub(r"\b[Tt]he (?=\{)", "", form[: last.start()])).strip().lower()


def respell(words: dict[str, str], generator: Generator) -> dict[str, str]:
    """Return a sum in one of the ways to write it: with or without spaces, with the sign's name, in words. Other facts are
    unchanged.
    """
    sign = next((sign for sign in SIGNS if sign in words["s"]), None)
    dice = generator.random()
    if sign is None or dice < 0.5:
        return words
    left, right = words["s"].split(sign)
    if dice < 0.65:
        return words | {"s": left + sign.strip() + right}
    if dice < 0.8 or max(int(left), int(right), int(words["o"])) >= len(NUMBERS):
        return words | {"s": f"{left} {SIGNS[sign]} {right}"}
    left, right, result = (NUMBERS[int(number)] for number in (left, right, words["o"]))
    return {"s": f"{left} {SIGNS[sign]} {right}", "o": result}


class FactRows:
    """Facts as rows of tokens."""

    def __init__(self, data: Path, tokenizer: Tokenizer):
        self.facts, self.tokenizer, self.start = Facts(data), tokenizer, id_of(tokenizer, START)

    def draw(self, generator: Generator, count: int, length: int, more: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows of whole texts, with the start token before each and after the last.

        more: of so many characters behind an answer, the tokens are marked as well. Returns ids int64 [count, length + 1], and
        marks bool of the same shape: True where the token is a part of an answer.
        """
        ids = np.full((count, length + 1), self.start, dtype=np.int64)
        marks = np.zeros((count, length + 1), dtype=bool)
        row, at = 0, 1
        while row < count:
            texts = [self.facts.text(generator) for _ in range(64)]
            for text, encoding in zip(texts, self.tokenizer.encode_batch([text.text for text in texts]), strict=True):
                size = len(encoding.ids)
                if size > length:
                    continue
                if at + size > length + 1:
                    row, at = row + 1, 1
                    if row == count:
                        break
                ids[row, at : at + size] = encoding.ids
                marks[row, at : at + size] = answered(encoding.offsets, text, more)
                at += size + 1
        return ids, marks


def answered(offsets: list[tuple[int, int]], text: Sentence, more: int = 0) -> np.ndarray:
    """Return which tokens hold a character of an answer, or one of the `more` characters behind it: bool [token].

    The space before an answer counts to it: some numbers have a token for it alone, which has to be predicted first.
    offsets: the first character of each token, and the one after its last.
    """
    answers = [(a - text.text[:a].endswith(" "), b + more) for a, b in text.answers]
    return np.array([any(a < end and begin < b for a, b in answers) for begin, end in offsets])
