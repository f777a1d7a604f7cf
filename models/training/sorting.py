"""The sorter's objective: to tell questions from statements by their words, without the sign at the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from models.scratch.config import TransformerConfig
from models.scratch.transformer import Encoder
from models.training.corpus import pairs, train_tokenizer
from models.training.objectives import Batch, Objective, cross_entropy, device_of, sum_losses
from models.training.recipe import Recipe, Schedule

LABELS = ("statement", "question")
SIGNS = ".?!"
Sentence = tuple[str, int]  # without the sign at its end, and the number of its label


def sentences(path: Path) -> list[Sentence]:
    """Read the English sentences of a file of pairs, each once, without the sign at the end, which determines its label.

    A text with such a sign elsewhere too is more than one sentence, or has an abbreviation, and is left out.
    """
    label_of: dict[str, int] = {}
    for text, _ in pairs(path):
        body, sign = text[:-1].rstrip(), text[-1]
        if sign in SIGNS and body and not set(body) & set(SIGNS):
            label_of.setdefault(body, int(sign == "?"))
    return list(label_of.items())


def held_out(data: Path) -> list[Sentence]:
    """Return as many questions as statements that are not in the training data: the first ones of the held-out file, in order."""
    trained = {text.lower() for text, _ in sentences(data / "pairs_train.tsv")}
    new = [sentence for sentence in sentences(data / "pairs_valid.tsv") if sentence[0].lower() not in trained]
    kinds = [[sentence for sentence in new if sentence[1] == label] for label in range(len(LABELS))]
    fewest = min(map(len, kinds))
    return [sentence for kind in kinds for sentence in kind[:fewest]]


class Sorting(Objective[Encoder]):
    """An encoder gives a sentence one of two labels, read at its first token (Devlin et al. 2019).

    An epoch has all questions, and as many statements, others each time. Signs and capitals must not matter: half of the
    sentences get a random sign at the end again, and some begin with a small letter.
    """

    unit = "sentence"
    SIGNED, SMALL = 0.5, 0.2  # shares of the sentences

    def __init__(self, data: Path, tokenizer: Tokenizer, config: TransformerConfig, recipe: Recipe):
        super().__init__(data, tokenizer, config, recipe)
        self.vocabulary = tokenizer
        train = sentences(data / "pairs_train.tsv")
        self.kinds = [[sentence for sentence in train if sentence[1] == label] for label in range(len(LABELS))]
        self.valid = held_out(data)

    @classmethod
    def tokenizer(cls, data: Path, vocabulary: int, weights: Path) -> Tokenizer:
        return train_tokenizer([text for text, _ in sentences(data / "pairs_train.tsv")], vocabulary)

    def batches(self, step: int, schedule: Schedule) -> Iterator[Batch]:
        """Yield ids [batch, position], padded with the start token; lengths [batch]; labels [batch]."""
        passed, size = 0, self.recipe.batch
        for epoch in range(2**31):
            generator = np.random.default_rng([self.recipe.seed, epoch])
            rows = self.draw_epoch(generator)
            for at in range(0, len(rows) - size + 1, size):
                if passed >= step:
                    yield self.pad(rows[at : at + size])
                passed += 1

    def draw_epoch(self, generator: np.random.Generator) -> list[Sentence]:
        """Draw the sentences of an epoch, in order."""
        fewest = min(map(len, self.kinds))
        chosen = [kind[i] for kind in self.kinds for i in generator.permutation(len(kind))[:fewest]]
        rows = []
        for i in generator.permutation(len(chosen)):
            text, label = chosen[i]
            if generator.random() < self.SMALL:
                text = text[0].lower() + text[1:]
            if generator.random() < self.SIGNED:
                text += SIGNS[int(generator.integers(len(SIGNS)))]
            rows.append((text, label))
        return rows

    def pad(self, rows: list[Sentence]) -> Batch:
        sentence_ids = [
            [self.start, *encoding.ids][: self.config.context]
            for encoding in self.vocabulary.encode_batch([text for text, _ in rows])
        ]
        lengths = [len(ids) for ids in sentence_ids]
        ids = [ids + [self.start] * (max(lengths) - len(ids)) for ids in sentence_ids]
        return torch.tensor(ids), torch.tensor(lengths), torch.tensor([label for _, label in rows])

    def tokens(self, batch: Batch) -> int:
        return int(batch[1].sum())

    def loss(self, model: Encoder, batch: Batch) -> Tensor:
        ids, lengths, labels = batch
        return cross_entropy(self.scores(model, ids, lengths), labels, self.recipe.smoothing)

    def scores(self, model: Encoder, ids: Tensor, lengths: Tensor) -> Tensor:
        """Return the scores of the labels: [batch, label]."""
        return model.unembed(model.hidden(ids, lengths=lengths)[:, 0])

    def held_out(self, model: Encoder, every: int = 1) -> tuple[float, int]:
        rows = self.valid[::every]

        def answers() -> Iterator[tuple[Tensor, Tensor]]:
            for at in range(0, len(rows), self.recipe.batch):
                ids, lengths, labels = (tensor.to(device_of(model)) for tensor in self.pad(rows[at : at + self.recipe.batch]))
                yield self.scores(model, ids, lengths), labels

        return sum_losses(answers())
