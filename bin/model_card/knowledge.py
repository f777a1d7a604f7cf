"""Knowledge of the writer: facts asked for in held-out sentences, behaviours with held-out names, words, forms, stories, loops.

`python -m bin.model_card.knowledge --data FOLDER` prints the table for the writer that ships; `--weights FOLDER` for another one,
`--checkpoint FILE` for a training that has not ended.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bin.model_card.habits import BEGINNINGS, greedy_loops
from models.catalog import WEIGHTS
from models.language_model import LanguageModel
from models.scratch.model_folder import from_folder
from models.training.behaviours import BEHAVIOURS, other_form
from models.training.corpus import Corpus, documents
from models.training.facts import Facts
from models.training.losses import IGNORED
from models.training.objectives import parts, sum_losses
from models.training.sentences import Sentence

DRAWN = 300  # sentences of each behaviour
WINDOWS = 32  # windows of a batch of stories
NEXT = ("day after", "month after", "season after", "letter after", "number after", "ordinal after")
AIMS = {
    "capitals": 0.8,
    "opposites": 0.9,
    "next in a series": 0.9,
    "sums to 20": 0.9,
    "names (who is given something)": 0.8,
    "agreement": 0.9,
}


IN_WORDS = {
    "continent": "continents",
    "language": "languages",
    "currency": "currencies",
    "city": "cities",
    "young": "young animals",
    "sound": "what animals do",
    "home": "homes of animals",
    "colour": "colours",
    "kind": "kinds of things",
    "work": "things that belong together",
    "plural": "plurals",
    "past": "past tenses",
    "digits": "numbers in digits",
    "difference": "differences",
    "product": "products",
}


@dataclass(frozen=True)
class Asked:
    """A sentence up to its answer, and the answers that are right; wrong: one that is compared with them; rest: what follows."""

    question: str
    right: tuple[str, ...]
    wrong: str = ""
    rest: str = ""


@dataclass(frozen=True)
class Score:
    """Of so many questions, the share whose likeliest token begins a right answer, whose likeliest tokens are all of one, and
    whose right answer has a likelier first token than the wrong one (NaN where none is compared)."""

    count: int
    first: float
    whole: float
    better: float

    def rounded(self) -> dict[str, float]:
        """Return the count and the shares to four digits, as `figures.json` has them."""
        shares = {"first": self.first, "whole": self.whole, "better": self.better}
        return {"count": self.count} | {name: round(float(share), 4) for name, share in shares.items() if not math.isnan(share)}


def compared_knowledge(figures: dict) -> str:
    """Return what a model knows as a table of Markdown, with what it knew before beside it, from the contents of `figures.json`.

    The share of whole answers; where two words are compared, the share in which the right one is likelier.
    """
    columns = [figures["measures_before"]["knowledge"], figures["measures"]["knowledge"]]
    rows = ["| held-out sentences | number | before | as it ships |", "|---|---|---|---|"]
    for kind, now in columns[1].items():
        shares = (f"{score.get('better', score['whole']):.1%}" for score in (columns[0][kind], now))
        compared = ", right over wrong" if "better" in now else ""
        rows.append(f"| {IN_WORDS.get(kind, kind)}{compared} | {now['count']} | {' | '.join(shares)} |")
    return "\n".join(rows)


class Reader:
    """Asks a decoder, or a model that fills in what is masked, each question by itself."""

    def __init__(self, model: LanguageModel):
        self.network, self.vocabulary = model.network, model.vocabulary

    def ids(self, text: str) -> list[int]:
        return self.vocabulary.tokenizer.encode(text).ids

    @torch.inference_mode()
    def logits(self, rows: list[list[int]]) -> list[Tensor]:
        """Return the logits after each token of the rows: [position, vocabulary] each; the start token comes first."""
        longest = max(map(len, rows))
        start = self.vocabulary.start
        ids = torch.tensor([[start, *row, *[start] * (longest - len(row))] for row in rows])
        return [row_logits[: len(row) + 1] for row_logits, row in zip(self.network(ids), rows, strict=True)]

    def judge(self, asked: Asked) -> tuple[bool, bool, float]:
        """Return whether the likeliest token begins a right answer, whether the likeliest tokens are all of one, and whether a
        right answer begins with a likelier token than the wrong one (NaN where there is none)."""
        begin = len(self.ids(asked.question))
        rows = [self.ids(asked.question + answer) for answer in asked.right]
        logits = self.logits(rows)
        guesses = [row_logits[begin:-1].argmax(-1).tolist() for row_logits in logits]
        first = any(guess[0] == row[begin] for guess, row in zip(guesses, rows, strict=True))
        whole = any(guess == row[begin:] for guess, row in zip(guesses, rows, strict=True))
        if not asked.wrong:
            return first, whole, math.nan
        wrong = self.ids(asked.question + asked.wrong)[begin]
        return first, whole, float(logits[0][begin, rows[0][begin]] > logits[0][begin, wrong])

    @torch.inference_mode()
    def fill_in(self, asked: Asked) -> tuple[bool, bool, float]:
        """As `judge`, for a model that fills in what is masked: the tokens of an answer are, with the rest of the sentence after
        them. Nothing is compared."""
        first, whole = [], []
        for answer in asked.right:
            encoding = self.vocabulary.tokenizer.encode(asked.question + answer + asked.rest)
            begin, end = len(asked.question), len(asked.question + answer)
            places = [1 + i for i, (a, b) in enumerate(encoding.offsets) if a < end and begin < b]
            ids = torch.tensor([[self.vocabulary.start, *encoding.ids]])
            tokens = ids[0, places]
            ids[0, places] = self.vocabulary.mask
            right = self.network(ids)[0, places].argmax(-1) == tokens
            first.append(bool(right[0]))
            whole.append(bool(right.all()))
        return any(first), any(whole), math.nan

    def score(self, questions: list[Asked]) -> Score:
        judge = self.judge if self.network.config.kind == "decoder" else self.fill_in
        first, whole, better = np.mean([judge(asked) for asked in questions], axis=0)
        return Score(len(questions), first, whole, better)


def facts_asked(facts: Facts, *relations: str) -> list[Asked]:
    """Return all facts of some relations in all held-out sentences."""
    return [asked(*pair) for relation in relations for pair in facts.questions(relation)]


def asked(sentence: Sentence, answers: list[str], wrong: str = "") -> Asked:
    """Return a sentence up to its last answer, the space before it counted to the answer, as the tokens have it."""
    space = sentence.text[len(sentence.question) : sentence.answers[-1][0]]
    right, rest = tuple(space + answer for answer in answers), sentence.text[sentence.answers[-1][1] :]
    return Asked(sentence.question, right, space + wrong if wrong else "", rest)


def behaviour_asked(name: str, count: int = DRAWN) -> list[Asked]:
    """Draw held-out sentences of a behaviour, the same ones each time."""
    generator = np.random.default_rng(0)
    sentences = [BEHAVIOURS[name](generator, True) for _ in range(count)]
    return [
        asked(sentence, [sentence.answer], other_form(sentence) if name in ("pronouns", "agreement") else "")
        for sentence in sentences
    ]


def bits_per_byte(model: LanguageModel, texts: list[str], every: int = 1) -> float:
    """Return the loss on texts in bits a byte, read in windows of the context. every: only every so manieth window is read."""
    corpus = Corpus(texts, model.vocabulary.tokenizer, model.network.config.context)
    rows = corpus.windows()
    answers = (
        (model.network(ids[:, :-1]), ids[:, 1:].masked_fill(ids[:, 1:] == corpus.start, IGNORED))
        for ids in parts(rows[::every], WINDOWS)
    )
    nats, count = sum_losses(answers)
    return nats / count * int((rows[:, 1:] != corpus.start).sum()) / math.log(2) / corpus.bytes


def table(reader: Reader, facts: Facts) -> dict[str, Score]:
    """Return the score of each kind of question, those with an aim first."""
    scores = {
        "capitals": reader.score(facts_asked(facts, "capital")),
        "opposites": reader.score(facts_asked(facts, "opposite")),
        "next in a series": reader.score(facts_asked(facts, *NEXT)),
        "sums to 20": reader.score(facts_asked(facts, "sum")),
        "names (who is given something)": reader.score(behaviour_asked("giving")),
        "agreement": reader.score(behaviour_asked("agreement")),
        "pronouns": reader.score(behaviour_asked("pronouns")),
        "series with other signs between": reader.score(behaviour_asked("series")),
    }
    others = (relation for relation in facts.asked if relation not in ("capital", "opposite", "sum", *NEXT))
    return scores | {relation: reader.score(facts_asked(facts, relation)) for relation in others}


def lines(scores: dict[str, Score]) -> str:
    """Return the scores as a table of Markdown."""
    head = "| held-out sentences | number | aim | first token | whole answer | right over wrong |\n|---|---|---|---|---|---|\n"
    rows = []
    for name, score in scores.items():
        aim = f"{AIMS[name]:.0%}" if name in AIMS else ""
        better = "" if math.isnan(score.better) else f"{score.better:.1%}"
        rows.append(f"| {name} | {score.count} | {aim} | {score.first:.1%} | {score.whole:.1%} | {better} |")
    return head + "\n".join(rows)


def model_of(folder: Path, checkpoint: Path | None = None) -> LanguageModel:
    """Load the decoder of a folder; with a checkpoint of a training, with the weights that it has there."""
    model = from_folder(folder, "writer")
    if checkpoint is not None:
        model.network.load_state_dict(torch.load(checkpoint, map_location="cpu")["model"])
    return model


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--weights", type=Path, default=WEIGHTS / "writer", help="the model's folder")
    parser.add_argument("--checkpoint", type=Path, help="a checkpoint of its training, whose weights are asked instead")
    parser.add_argument("--every", type=int, default=1, help="measure stories on every so manieth window only")
    arguments = parser.parse_args()
    model = model_of(arguments.weights, arguments.checkpoint)
    print(lines(table(Reader(model), Facts(arguments.data))))
    texts = documents(arguments.data / "english_valid.txt")
    print(f"\n{bits_per_byte(model, texts, arguments.every):.4f} bits a byte on stories")
    habits = greedy_loops(model, texts)
    print(
        f"{habits['loops']} of {BEGINNINGS} greedy continuations end in a loop, {habits['repeated']:.1%} of their tokens repeat"
    )
