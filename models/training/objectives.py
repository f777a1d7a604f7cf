"""What a model is trained to do, one class each: the next token, masked tokens, or the translation of a sentence.

An objective turns text into batches and a batch into a loss; the loop that uses it is in `training.py`. The same step always
gives the same batch, so that a training goes on exactly where it stopped.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor, nn

from models.scratch.config import TransformerConfig
from models.scratch.signs import END, MASK, START
from models.scratch.transformer import Decoder, Encoder, EncoderDecoder
from models.training.corpus import Corpus, documents, pairs, train_tokenizer, with_mask
from models.training.losses import IGNORED, NONE, token_loss
from models.training.names import HELD_OUT_NAMES, Names
from models.training.recipe import Recipe, Schedule
from models.training.repetition import continued, repeated_row, said_before, texts_of, word_ids

Batch = tuple[Tensor, ...]
Pair = tuple[list[int], list[int]]  # the tokens of a source and of its target
Model = TypeVar("Model", bound=nn.Module)


class Objective(ABC, Generic[Model]):
    """A task for one kind of model, with its data. unit: what one prediction in the loss is."""

    unit = "token"

    def __init__(self, data: Path, tokenizer: Tokenizer, config: TransformerConfig, recipe: Recipe):
        self.config, self.recipe = config, recipe
        self.start = find_sign(tokenizer, START)

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

    def prepare(self, model: Model, step: int, batch: Batch) -> Batch:
        """The batch, with what only the model as it is at this step can add to it."""
        return batch

    @abstractmethod
    def loss(self, model: Model, batch: Batch) -> Tensor:
        """Mean loss of a batch, in nats a prediction."""

    @abstractmethod
    def held_out(self, model: Model, every: int = 1) -> tuple[float, int]:
        """Summed nats and number of predictions over every so-many-th part of the held-out text, in float32."""

    def begin(self, model: Model, weights: Path) -> None:
        """Give a new model what another one in `weights` has learned, where that helps."""
        return


class NextToken(Objective[Decoder]):
    """A decoder predicts each token from those before it (Radford et al. 2018)."""

    def __init__(self, data: Path, tokenizer: Tokenizer, config: TransformerConfig, recipe: Recipe):
        super().__init__(data, tokenizer, config, recipe)
        self.corpus = Corpus(documents(data / "english_train.txt"), tokenizer, config.context, recipe.twice_under)
        self.valid = Corpus(documents(data / "english_valid.txt"), tokenizer, config.context)
        self.bytes = self.valid.bytes
        self.pools = np.arange(self.start + 1, config.vocabulary), word_ids(tokenizer)

    @classmethod
    def tokenizer(cls, data: Path, vocabulary: int, weights: Path) -> Tokenizer:
        return train_tokenizer(documents(data / "english_train.txt"), vocabulary)

    def batches(self, step: int, schedule: Schedule) -> Iterator[Batch]:
        """Pairs of ids and known-mask [batch, context + 1]."""
        self.schedule = schedule
        rows = self.corpus.rows(self.recipe.seed, skip=step * self.recipe.batch)
        while True:
            ids = np.stack([next(rows) for _ in range(self.recipe.batch)])
            known = ids != self.start
            generator = np.random.default_rng([self.recipe.seed, step])
            repeats = 0.0 if self.continues(step) else self.recipe.repeats
            for row in np.flatnonzero(generator.random(self.recipe.batch) < repeats):
                pool = self.pools[int(generator.integers(2))]
                ids[row], known[row] = repeated_row(generator, self.start, pool, self.config.context)
            yield torch.from_numpy(ids), torch.from_numpy(known)
            step += 1

    def continues(self, step: int) -> bool:
        """Whether the model learns from its own continuations at this step: the more seldom, the lower the learning rate is."""
        return np.random.default_rng([self.recipe.seed, step, 1]).random() < self.recipe.own * self.schedule.rate(step)

    def prepare(self, model: Decoder, step: int, batch: Batch) -> Batch:
        """At some steps, the model's own continuations of the rows' beginnings, two short ones a row, and what they repeat."""
        ids, known = batch
        if not self.continues(step):
            return ids, known, torch.zeros_like(known)
        generator = np.random.default_rng([self.recipe.seed, step, 2])
        half = self.config.context // 2
        prompts = torch.cat([ids[:, :half], ids[:, half : 2 * half]])
        prompts[:, 0] = self.start
        prompt = int(generator.integers(max(2, half // 16), half // 2))
        said = continued(model, prompts[:, :prompt], half)
        again = said_before(said, prompt)
        rows, repeated = (torch.cat([*one.chunk(2), known[:, :1]], 1) for one in (said, again))
        rows[:, -1] = self.start
        repeated[:, -1] = False
        return rows, torch.zeros_like(known), repeated

    def loss(self, model: Decoder, batch: Batch) -> Tensor:
        """Over the positions that `known` [batch, context + 1] marks as predictable, and against those marked as `repeated`."""
        ids, known, repeated = batch
        x = model.final_norm(model.hidden(ids[:, :-1])).flatten(0, 1)  # [batch · context, d_model]
        targets = ids[:, 1:].flatten()
        avoided = targets.masked_fill(~repeated[:, 1:].flatten(), NONE)[:, None]
        return token_loss(x, model.embedding.weight, targets.masked_fill(~known[:, 1:].flatten(), IGNORED), avoided)

    def held_out(self, model: Decoder, every: int = 1) -> tuple[float, int]:
        rows = self.valid.windows()[::every]
        return summed(
            (model(ids[:, :-1]), ids[:, 1:].masked_fill(ids[:, 1:] == self.start, IGNORED)) for ids in parts(rows, 32, of=model)
        )


class MaskedTokens(Objective[Encoder]):
    """An encoder finds the tokens that were hidden (Devlin et al. 2019).

    The windows of a step are the context long, or a part of it that the recipe names, as many tokens in all: what people type is
    short. Where the recipe says so, it unlearns words that the sentence has already (Welleck et al. 2020).
    """

    unit = "masked token"
    COMMON = 200  # tokens, from the most frequent on, that any sentence may repeat
    NEAR = 24  # tokens to each side in which the words of the same sentence are looked for

    def __init__(self, data: Path, tokenizer: Tokenizer, config: TransformerConfig, recipe: Recipe):
        super().__init__(data, tokenizer, config, recipe)
        self.mask = find_sign(tokenizer, MASK)
        self.corpus = Corpus(documents(data / "english_train.txt"), tokenizer, config.context, recipe.twice_under)
        self.valid = Corpus(documents(data / "english_valid.txt"), tokenizer, config.context)
        counts = np.bincount(np.concatenate(self.corpus.documents), minlength=config.vocabulary)
        self.seldom = np.zeros(config.vocabulary, dtype=bool)  # words that a sentence has once, as a rule
        self.seldom[word_ids(tokenizer)] = True
        self.seldom[np.argsort(-counts, kind="stable")[: self.COMMON]] = False
        self.ends = np.array([any(sign in text for sign in ".!?;") for text in texts_of(tokenizer)])

    @classmethod
    def tokenizer(cls, data: Path, vocabulary: int, weights: Path) -> Tokenizer:
        """The writer's, and the mask. Errors: FileNotFoundError before the writer has one."""
        path = weights / "writer" / "tokenizer.json"
        if not path.is_file():
            raise FileNotFoundError("The filler reads with the writer’s tokenizer. Train the writer first.")
        return with_mask(Tokenizer.from_file(str(path)))

    def begin(self, model: Encoder, weights: Path) -> None:
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
            shorter = text.reshape(-1, self.config.context // self.recipe.cuts[int(generator.integers(len(self.recipe.cuts)))])
            shorter[:, 0] = self.start
            hidden, places, tokens = self.hide(shorter, generator)
            yield tuple(map(torch.from_numpy, (hidden, places, tokens, self.said(shorter, hidden, places))))
            step += 1

    def hide(self, ids: np.ndarray, generator: np.random.Generator, always: bool = False) -> tuple[np.ndarray, ...]:
        """Choose tokens of ids [rows, positions], hide them, and say where they were. always: every chosen one is masked."""
        flat = ids.ravel().copy()
        count = round(self.recipe.masked * len(flat))
        order = generator.random(len(flat)) + (flat == self.start)  # start tokens come last
        places = np.sort(np.argpartition(order, count)[:count])
        tokens = flat[places]
        dice = generator.random(count)
        others = 1 - self.recipe.masks
        hidden = np.where(dice < others / 2, generator.integers(self.start + 1, self.mask, count), tokens)
        flat[places] = self.mask if always else np.where(dice < others, hidden, self.mask)
        return flat.reshape(ids.shape), places, tokens

    def said(self, text: np.ndarray, hidden: np.ndarray, places: np.ndarray) -> np.ndarray:
        """The seldom words of its sentence that can be seen from each place, but for the right one: [chosen, most], each once.

        text and hidden: ids [rows, positions], before and after tokens were hidden; NONE where there is no more of them.
        """
        rows, columns = np.divmod(places, text.shape[1])
        sentence = np.cumsum(self.ends[text], axis=1) - self.ends[text]  # [rows, positions]: which one a token is in
        near = columns[:, None] + np.delete(np.arange(-self.NEAR, self.NEAR + 1), self.NEAR)
        inside = (near >= 0) & (near < text.shape[1])
        near = near.clip(0, text.shape[1] - 1)
        found = hidden[rows[:, None], near]
        inside &= sentence[rows[:, None], near] == sentence[rows, columns][:, None]
        found = np.where(inside & self.seldom[found] & (found != text[rows, columns][:, None]), found, NONE)
        found = np.sort(found, axis=1)
        found[:, 1:][found[:, 1:] == found[:, :-1]] = NONE
        return found

    def loss(self, model: Encoder, batch: Batch) -> Tensor:
        ids, places, tokens, said = batch
        x = model.final_norm(self.chosen(model, ids, places))
        return token_loss(x, model.embedding.weight, tokens, said if self.recipe.again else None, self.recipe.again)

    def chosen(self, model: Encoder, ids: Tensor, places: Tensor) -> Tensor:
        """The stream at the chosen places alone, for the others are not predicted: [chosen, d_model]."""
        return model.hidden(ids).flatten(0, 1)[places]

    def held_out(self, model: Encoder, every: int = 1) -> tuple[float, int]:
        """All chosen tokens are masked here, as they are where somebody uses the model."""
        rows = self.valid.windows()[::every, 1:]
        rows[:, 0] = self.start

        def answers() -> Iterator[tuple[Tensor, Tensor]]:
            for number, part in enumerate(parts(rows, 32)):
                hidden = self.hide(part.numpy(), np.random.default_rng([1, number]), always=True)
                ids, places, tokens = (torch.from_numpy(one).to(device_of(model)) for one in hidden)
                yield model.unembed(self.chosen(model, ids, places)), tokens.masked_fill(tokens == self.start, IGNORED)

        return summed(answers())


class Translation(Objective[EncoderDecoder]):
    """An encoder-decoder says a sentence again in another language (Sutskever et al. 2014; Vaswani et al. 2017).

    A batch holds sources of one length, and targets of about one, so that almost nothing in it is padding. Each epoch, the names
    of some pairs become others, so that names are copied and not known.
    """

    def __init__(self, data: Path, tokenizer: Tokenizer, config: TransformerConfig, recipe: Recipe):
        super().__init__(data, tokenizer, config, recipe)
        self.end = find_sign(tokenizer, END)
        self.texts, self.vocabulary = pairs(data / "pairs_train.tsv"), tokenizer
        self.train = self.encoded(self.texts, tokenizer)
        self.valid = self.encoded(pairs(data / "pairs_valid.tsv"), tokenizer)

    @classmethod
    def tokenizer(cls, data: Path, vocabulary: int, weights: Path) -> Tokenizer:
        """One for both languages."""
        both = [sentence for pair in pairs(data / "pairs_train.tsv") for sentence in pair]
        return train_tokenizer(both, vocabulary, (START, END))

    def encoded(self, sentences: list[tuple[str, str]], tokenizer: Tokenizer) -> list[Pair]:
        """Source with its end, target with its start and its end; what is longer than the context is left out."""
        sides = [tokenizer.encode_batch([pair[side] for pair in sentences]) for side in (0, 1)]
        rows = [([*a.ids, self.end], [self.start, *b.ids, self.end]) for a, b in zip(*sides, strict=True)]
        return [row for row in rows if max(map(len, row)) <= self.config.context + 1]

    def grouped(self, rows: list[Pair], generator: np.random.Generator | None = None) -> list[list[int]]:
        """The rows in batches of sources of one length, by the length of their targets."""
        chance = np.zeros(len(rows)) if generator is None else generator.random(len(rows))
        order = sorted(range(len(rows)), key=lambda i: (len(rows[i][0]), len(rows[i][1]) + 2 * chance[i]))
        batches: list[list[int]] = []
        size = self.recipe.batch
        for at in range(len(order)):
            new = not batches or len(batches[-1]) == size or len(rows[batches[-1][0]][0]) != len(rows[order[at]][0])
            batches.append([order[at]]) if new else batches[-1].append(order[at])
        return batches

    def batches(self, step: int, schedule: Schedule) -> Iterator[Batch]:
        """Sources [batch, source position] and targets [batch, position + 1], padded with what is ignored."""
        passed = 0
        for epoch in range(2**31):
            generator = np.random.default_rng([self.recipe.seed, epoch])
            rows = self.train + self.encoded(self.renamed(generator), self.vocabulary)
            batches = self.grouped(rows, generator)
            for number in generator.permutation(len(batches)):
                if passed >= step:
                    yield self.padded([rows[i] for i in batches[number]])
                passed += 1

    @cached_property
    def names(self) -> Names:
        return Names(HELD_OUT_NAMES.read_text(encoding="utf-8").split())

    def renamed(self, generator: np.random.Generator) -> list[tuple[str, str]]:
        """What an epoch has beside the pairs themselves: pairs with other names, places and numbers."""
        if not self.recipe.names:
            return []
        return self.names.variants(self.texts, self.recipe.names, generator)

    def tokens(self, batch: Batch) -> int:
        return batch[0].numel() + int((batch[1][:, :-1] != IGNORED).sum())

    def padded(self, rows: list[Pair]) -> Batch:
        longest = max(len(target) for _, target in rows)
        targets = [target + [IGNORED] * (longest - len(target)) for _, target in rows]
        return torch.tensor([source for source, _ in rows]), torch.tensor(targets)

    def loss(self, model: EncoderDecoder, batch: Batch) -> Tensor:
        source, target = batch
        return cross_entropy(self.logits(model, source, target), target[:, 1:], self.recipe.smoothing)

    def logits(self, model: EncoderDecoder, source: Tensor, target: Tensor) -> Tensor:
        read = target[:, :-1]
        return model(source, read.masked_fill(read == IGNORED, self.end))  # nothing before padding sees it

    def held_out(self, model: EncoderDecoder, every: int = 1) -> tuple[float, int]:
        rows = self.valid[::every]

        def answers() -> Iterator[tuple[Tensor, Tensor]]:
            for batch in self.grouped(rows):
                source, target = (one.to(device_of(model)) for one in self.padded([rows[i] for i in batch]))
                yield self.logits(model, source, target), target[:, 1:]

        return summed(answers())


def find_sign(tokenizer: Tokenizer, text: str) -> int:
    """The token of a sign. Errors: ValueError where the tokenizer lacks it."""
    if (id := tokenizer.token_to_id(text)) is None:
        raise ValueError(f"The tokenizer has no token {text}.")
    return id


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
