"""What a model is trained to do, one class each: the next token, masked tokens, or the translation of a sentence.

An objective turns text into batches and a batch into a loss; the loop that uses it is in `training.py`. The same step always
gives the same batch, so that a training goes on exactly where it stopped.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor, nn

from models.scratch.config import TransformerConfig
from models.scratch.corpus import END, MASK, START, Corpus, documents, pairs, repeated_row, train_tokenizer, with_mask
from models.scratch.recipe import Recipe, Schedule

IGNORED = -100  # as a target: a position that is not predicted
Batch = tuple[Tensor, ...]


class Objective(ABC):
    """A task with its data. unit: what one prediction in the loss is."""

    unit = "token"

    def __init__(self, data: Path, tokenizer: Tokenizer, config: TransformerConfig, recipe: Recipe):
        self.config, self.recipe = config, recipe
        self.start = tokenizer.token_to_id(START)

    @classmethod
    @abstractmethod
    def tokenizer(cls, data: Path, vocabulary: int, weights: Path) -> Tokenizer:
        """A new tokenizer for this task; weights: the folder in which other models are."""

    @abstractmethod
    def batches(self, step: int, schedule: Schedule) -> Iterator[Batch]:
        """Endless batches, from the given step on."""

    def tokens(self, batch: Batch) -> int:
        """How many tokens of a batch are read."""
        return batch[0].numel()

    @abstractmethod
    def loss(self, model: nn.Module, *batch: Tensor) -> Tensor:
        """Mean loss of a batch, in nats a prediction."""

    @abstractmethod
    def held_out(self, model: nn.Module, every: int = 1) -> tuple[float, int]:
        """Summed nats and number of predictions over every so-many-th part of the held-out text, in float32."""

    def begin(self, model: nn.Module, weights: Path) -> None:
        """Give a new model what another one in `weights` has learned, where that helps."""
        return


class NextToken(Objective):
    """A decoder predicts each token from those before it (Radford et al. 2018)."""

    def __init__(self, data: Path, tokenizer: Tokenizer, config: TransformerConfig, recipe: Recipe):
        super().__init__(data, tokenizer, config, recipe)
        self.corpus = Corpus(documents(data / "english_train.txt"), tokenizer, config.context, recipe.twice_under)
        self.valid = Corpus(documents(data / "english_valid.txt"), tokenizer, config.context)
        self.bytes = self.valid.bytes

    @classmethod
    def tokenizer(cls, data: Path, vocabulary: int, weights: Path) -> Tokenizer:
        return train_tokenizer(documents(data / "english_train.txt"), vocabulary)

    def batches(self, step: int, schedule: Schedule) -> Iterator[Batch]:
        """Pairs of ids and known-mask [batch, context + 1]."""
        rows = self.corpus.rows(self.recipe.seed, skip=step * self.recipe.batch)
        while True:
            ids = np.stack([next(rows) for _ in range(self.recipe.batch)])
            known = ids != self.start
            generator = np.random.default_rng([self.recipe.seed, step])
            if step < schedule.decay_from:
                for row in np.flatnonzero(generator.random(self.recipe.batch) < self.recipe.repeats):
                    ids[row], known[row] = repeated_row(generator, self.start, self.config.vocabulary, self.config.context)
            yield torch.from_numpy(ids), torch.from_numpy(known)
            step += 1

    def loss(self, model: nn.Module, ids: Tensor, known: Tensor) -> Tensor:
        """Over the positions that `known` [batch, context + 1] marks as predictable."""
        return cross_entropy(model(ids[:, :-1]), ids[:, 1:].masked_fill(~known[:, 1:], IGNORED), self.recipe.smoothing)

    def held_out(self, model: nn.Module, every: int = 1) -> tuple[float, int]:
        rows = self.valid.windows()[::every]
        return summed(
            (model(ids[:, :-1]), ids[:, 1:].masked_fill(ids[:, 1:] == self.start, IGNORED)) for ids in parts(rows, 32, of=model)
        )


class MaskedTokens(Objective):
    """An encoder finds the tokens that were hidden (Devlin et al. 2019): of those chosen, 80 % become the mask, 10 % any token.

    The windows of a step are the context long, or a half, a quarter or an eighth of it, as many tokens in all: what people type
    is short.
    """

    unit = "masked token"

    def __init__(self, data: Path, tokenizer: Tokenizer, config: TransformerConfig, recipe: Recipe):
        super().__init__(data, tokenizer, config, recipe)
        self.mask = tokenizer.token_to_id(MASK)
        self.corpus = Corpus(documents(data / "english_train.txt"), tokenizer, config.context, recipe.twice_under)
        self.valid = Corpus(documents(data / "english_valid.txt"), tokenizer, config.context)

    @classmethod
    def tokenizer(cls, data: Path, vocabulary: int, weights: Path) -> Tokenizer:
        """The writer's, and the mask. Errors: FileNotFoundError before the writer has one."""
        path = weights / "writer" / "tokenizer.json"
        if not path.is_file():
            raise FileNotFoundError("The filler reads with the writer's tokenizer. Train the writer first.")
        return with_mask(Tokenizer.from_file(str(path)))

    def begin(self, model: nn.Module, weights: Path) -> None:
        """The writer knows the words already; what it never saw, the mask, begins as the mean of all tokens."""
        from safetensors.torch import load_file

        path = weights / "writer" / "model.safetensors"
        known = load_file(path) if path.is_file() else {}
        with torch.no_grad():
            for name, weight in model.named_parameters():
                if name not in known or known[name].shape[1:] != weight.shape[1:] or len(known[name]) > len(weight):
                    continue
                weight[: len(known[name])] = known[name].float()
                if len(known[name]) < len(weight):
                    weight[len(known[name]) :] = known[name].float().mean(0)

    def batches(self, step: int, schedule: Schedule) -> Iterator[Batch]:
        """ids [rows, positions], and of the chosen positions their places in the flattened ids and their tokens, [chosen]."""
        rows = self.corpus.rows(self.recipe.seed, skip=step * self.recipe.batch)
        while True:
            generator = np.random.default_rng([self.recipe.seed, step])
            text = np.stack([next(rows) for _ in range(self.recipe.batch)])[:, 1:]
            shorter = text.reshape(-1, self.config.context // 2 ** int(generator.integers(4)))
            shorter[:, 0] = self.start
            yield tuple(map(torch.from_numpy, self.hide(shorter, generator)))
            step += 1

    def hide(self, ids: np.ndarray, generator: np.random.Generator, always: bool = False) -> tuple[np.ndarray, ...]:
        """Choose tokens of ids [rows, positions], hide them, and say where they were. always: every chosen one is masked."""
        flat = ids.ravel().copy()
        count = round(self.recipe.masked * len(flat))
        order = generator.random(len(flat)) + (flat == self.start)  # start tokens come last
        places = np.sort(np.argpartition(order, count)[:count])
        tokens = flat[places]
        dice = generator.random(count)
        hidden = np.where(dice < 0.1, generator.integers(self.start + 1, self.mask, count), tokens)
        flat[places] = self.mask if always else np.where(dice < 0.2, hidden, self.mask)
        return flat.reshape(ids.shape), places, tokens

    def loss(self, model: nn.Module, ids: Tensor, places: Tensor, tokens: Tensor) -> Tensor:
        return cross_entropy(self.logits(model, ids, places), tokens, self.recipe.smoothing)

    def logits(self, model: nn.Module, ids: Tensor, places: Tensor) -> Tensor:
        """Of the chosen places alone: the others are not predicted."""
        return model.unembed(model.hidden(ids).flatten(0, 1)[places])  # [chosen, vocabulary]

    def held_out(self, model: nn.Module, every: int = 1) -> tuple[float, int]:
        """All chosen tokens are masked here, as they are where somebody uses the model."""
        rows = self.valid.windows()[::every, 1:]
        rows[:, 0] = self.start

        def answers():
            for number, part in enumerate(parts(rows, 32)):
                hidden = self.hide(part.numpy(), np.random.default_rng([1, number]), always=True)
                ids, places, tokens = (torch.from_numpy(one).to(device_of(model)) for one in hidden)
                yield self.logits(model, ids, places), tokens.masked_fill(tokens == self.start, IGNORED)

        return summed(answers())


class Translation(Objective):
    """An encoder-decoder says a sentence again in another language (Sutskever et al. 2014; Vaswani et al. 2017).

    A batch holds sources of one length, and targets of about one, so that almost nothing in it is padding.
    """

    def __init__(self, data: Path, tokenizer: Tokenizer, config: TransformerConfig, recipe: Recipe):
        super().__init__(data, tokenizer, config, recipe)
        self.end = tokenizer.token_to_id(END)
        self.train = self.encoded(pairs(data / "pairs_train.tsv"), tokenizer)
        self.valid = self.encoded(pairs(data / "pairs_valid.tsv"), tokenizer)

    @classmethod
    def tokenizer(cls, data: Path, vocabulary: int, weights: Path) -> Tokenizer:
        """One for both languages."""
        both = [sentence for pair in pairs(data / "pairs_train.tsv") for sentence in pair]
        return train_tokenizer(both, vocabulary, (START, END))

    def encoded(self, found: list[tuple[str, str]], tokenizer: Tokenizer) -> list[tuple[list[int], list[int]]]:
        """Source with its end, target with its start and its end; what is longer than the context is left out."""
        sides = [tokenizer.encode_batch([pair[side] for pair in found]) for side in (0, 1)]
        rows = [([*a.ids, self.end], [self.start, *b.ids, self.end]) for a, b in zip(*sides, strict=True)]
        return [row for row in rows if max(map(len, row)) <= self.config.context + 1]

    def grouped(self, rows: list, generator: np.random.Generator | None = None) -> list[list[int]]:
        """The rows in batches of sources of one length, by the length of their targets."""
        chance = np.zeros(len(rows)) if generator is None else generator.random(len(rows))
        order = sorted(range(len(rows)), key=lambda i: (len(rows[i][0]), len(rows[i][1]) + 2 * chance[i]))
        batches, size = [], self.recipe.batch
        for at in range(len(order)):
            new = not batches or len(batches[-1]) == size or len(rows[batches[-1][0]][0]) != len(rows[order[at]][0])
            batches.append([order[at]]) if new else batches[-1].append(order[at])
        return batches

    def batches(self, step: int, schedule: Schedule) -> Iterator[Batch]:
        """Sources [batch, source position] and targets [batch, position + 1], padded with what is ignored."""
        passed = 0
        for epoch in range(2**31):
            generator = np.random.default_rng([self.recipe.seed, epoch])
            batches = self.grouped(self.train, generator)
            for number in generator.permutation(len(batches)):
                if passed >= step:
                    yield self.padded([self.train[i] for i in batches[number]])
                passed += 1

    def tokens(self, batch: Batch) -> int:
        return batch[0].numel() + int((batch[1][:, :-1] != IGNORED).sum())

    def padded(self, rows: list) -> Batch:
        longest = max(len(target) for _, target in rows)
        targets = [target + [IGNORED] * (longest - len(target)) for _, target in rows]
        return torch.tensor([source for source, _ in rows]), torch.tensor(targets)

    def loss(self, model: nn.Module, source: Tensor, target: Tensor) -> Tensor:
        return cross_entropy(self.logits(model, source, target), target[:, 1:], self.recipe.smoothing)

    def logits(self, model: nn.Module, source: Tensor, target: Tensor) -> Tensor:
        read = target[:, :-1]
        return model(source, read.masked_fill(read == IGNORED, self.end))  # nothing before padding sees it

    def held_out(self, model: nn.Module, every: int = 1) -> tuple[float, int]:
        rows = self.valid[::every]

        def answers():
            for batch in self.grouped(rows):
                source, target = (one.to(device_of(model)) for one in self.padded([rows[i] for i in batch]))
                yield self.logits(model, source, target), target[:, 1:]

        return summed(answers())


def cross_entropy(logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    """Mean of −log p(target) over logits [..., vocabulary] and targets [...] that are not ignored, in float32."""
    return F.cross_entropy(logits.flatten(0, -2).float(), targets.flatten(), ignore_index=IGNORED, label_smoothing=smoothing)


def summed(answers: Iterator[tuple[Tensor, Tensor]]) -> tuple[float, int]:
    """Summed nats and number of predictions of logits and targets."""
    nats, count = 0.0, 0
    with torch.inference_mode():
        for logits, targets in answers:
            predicted = int((targets != IGNORED).sum())
            nats += cross_entropy(logits, targets).item() * predicted if predicted else 0.0
            count += predicted
    return nats, count


def parts(rows: np.ndarray, size: int, of: nn.Module | None = None) -> Iterator[Tensor]:
    """Rows in parts of about so many; of: the model whose device they go to."""
    for part in np.array_split(rows, max(1, len(rows) // size)):
        made = torch.from_numpy(part)
        yield made if of is None else made.to(device_of(of))


def device_of(model: nn.Module) -> torch.device:
    return next(model.parameters()).device
