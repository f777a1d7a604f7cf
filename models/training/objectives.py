"""The objectives of training, one class each: the next token, masked tokens, or the translation of a sentence.

An objective turns text into batches and a batch into a loss; the loop that uses it is in `loop.py`. The same step always gives
the same batch, so that a training resumes exactly where it stopped.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor, nn

from models.scratch.config import TransformerConfig
from models.scratch.signs import END, MASK, START
from models.scratch.transformer import Decoder, Encoder, EncoderDecoder
from models.training.corpus import Corpus, documents, pairs, train_tokenizer, with_mask
from models.training.facts import FactRows
from models.training.losses import IGNORED, NONE, token_loss
from models.training.names import HELD_OUT_NAMES, Names
from models.training.recipe import Recipe, Schedule
from models.training.repetition import continued, repeated_row, said_before, texts_of, word_ids

Batch = tuple[Tensor, ...]
Pair = tuple[list[int], list[int]]  # the tokens of a source and of its target
Model = TypeVar("Model", bound=nn.Module)


class Objective(ABC, Generic[Model]):
    """A task for one kind of model, with its data. unit: the name of one prediction in the loss."""

    unit = "token"

    def __init__(self, data: Path, tokenizer: Any, config: TransformerConfig, recipe: Recipe):
        """tokenizer: a `Tokenizer`; None for an objective of images."""
        self.config, self.recipe = config, recipe
        self.start = find_sign(tokenizer, START)
        self.source = data, tokenizer

    @cached_property
    def fact_rows(self) -> FactRows:
        """The facts, read when a recipe first asks for some."""
        return FactRows(*self.source)

    @classmethod
    @abstractmethod
    def tokenizer(cls, data: Path, vocabulary: int, weights: Path) -> Tokenizer | None:
        """Train a new tokenizer for this task; None for one of images. weights: the folder with the other models."""

    @abstractmethod
    def batches(self, step: int, schedule: Schedule) -> Iterator[Batch]:
        """Yield endless batches, from a step on."""

    def tokens(self, batch: Batch) -> int:
        """Return the number of tokens in a batch."""
        return batch[0].numel()

    def prepare(self, model: Model, step: int, batch: Batch) -> Batch:
        """Return the batch with additions that depend on the model at this step."""
        return batch

    @abstractmethod
    def loss(self, model: Model, batch: Batch) -> Tensor:
        """Return the mean loss of a batch, in nats a prediction."""

    @abstractmethod
    def held_out(self, model: Model, every: int = 1) -> tuple[float, int]:
        """Return summed nats and number of predictions over every `every`-th part of the held-out text, in float32."""

    def begin(self, model: Model, weights: Path) -> None:
        """Initialise a new model from another one in `weights`, where that helps."""
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
        """Yield ids and a mask of predictable positions [batch, context + 1]; then, if the recipe has facts, ids of rows of facts
        and a mask of their answers [facts, fact_length + 1]."""
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
            arrays: tuple[np.ndarray, ...] = ids, known
            if facts := self.recipe.facts:  # the sign behind an answer shows that it has ended: 4, and not 40
                arrays += self.fact_rows.draw(generator, facts, self.recipe.fact_length, more=1)
            yield tuple(map(torch.from_numpy, arrays))
            step += 1

    def tokens(self, batch: Batch) -> int:
        ids, _, _, *facts = batch
        return ids.numel() + (int((facts[0] != self.start).sum()) if facts else 0)

    def continues(self, step: int) -> bool:
        """Return whether the model learns from its own continuations at this step: more rarely at lower learning rates."""
        return np.random.default_rng([self.recipe.seed, step, 1]).random() < self.recipe.own * self.schedule.rate(step)

    def prepare(self, model: Decoder, step: int, batch: Batch) -> Batch:
        """Replace the batch at some steps by the model's own continuations of its rows, two short ones a row, and mark
        repetitions."""
        ids, known, *facts = batch
        if not self.continues(step):
            return ids, known, torch.zeros_like(known), *facts
        generator = np.random.default_rng([self.recipe.seed, step, 2])
        half = self.config.context // 2
        prompts = torch.cat([ids[:, :half], ids[:, half : 2 * half]])
        prompts[:, 0] = self.start
        prompt = int(generator.integers(max(2, half // 16), half // 2))
        rows_so_far = continued(model, prompts[:, :prompt], half)
        repeats = said_before(rows_so_far, prompt)
        rows, repeated = (torch.cat([*tensor.chunk(2), known[:, :1]], 1) for tensor in (rows_so_far, repeats))
        rows[:, -1] = self.start
        repeated[:, -1] = False
        return rows, torch.zeros_like(known), repeated, *facts

    def loss(self, model: Decoder, batch: Batch) -> Tensor:
        """Return the loss over positions marked `known` [batch, context + 1], and against those marked as `repeated`; where there
        are facts, the mean of it and of the loss of their answers, weighted by their share."""
        ids, known, repeated, *facts = batch
        loss = self.text_loss(model, ids, known, repeated)
        if not facts:
            return loss
        fact_ids, answers = facts
        fact_loss = self.text_loss(model, fact_ids, answers, torch.zeros_like(answers))
        return (1 - self.recipe.fact_share) * loss + self.recipe.fact_share * fact_loss

    def text_loss(self, model: Decoder, ids: Tensor, known: Tensor, repeated: Tensor) -> Tensor:
        x = model.final_norm(model.hidden(ids[:, :-1])).flatten(0, 1)  # [batch · context, d_model]
        targets = ids[:, 1:].flatten()
        avoided = targets.masked_fill(~repeated[:, 1:].flatten(), NONE)[:, None]
        return token_loss(x, model.embedding.weight, targets.masked_fill(~known[:, 1:].flatten(), IGNORED), avoided)

    def held_out(self, model: Decoder, every: int = 1) -> tuple[float, int]:
        rows = self.valid.windows()[::every]
        return sum_losses(
            (model(ids[:, :-1]), ids[:, 1:].masked_fill(ids[:, 1:] == self.start, IGNORED)) for ids in parts(rows, 32, of=model)
        )


class MaskedTokens(Objective[Encoder]):
    """An encoder predicts hidden tokens (Devlin et al. 2019).

    The windows of a step are the context long, or a part of it that the recipe names, with the same number of tokens in all,
    because people type short texts. If the recipe says so, it unlearns words that the sentence has already (Welleck et al. 2020).
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
        """Return the writer's tokenizer with the mask added. Errors: FileNotFoundError before the writer has one."""
        path = weights / "writer" / "tokenizer.json"
        if not path.is_file():
            raise FileNotFoundError("The filler reads with the writer’s tokenizer. Train the writer first.")
        return with_mask(Tokenizer.from_file(str(path)))

    def begin(self, model: Encoder, weights: Path) -> None:
        """Start from the writer's weights, which know the words; the mask, which is new, begins as the mean of all tokens."""
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
        """Yield ids [rows, positions], the places of hidden tokens in the flattened ids, these tokens, both [hidden], and the
        words to unlearn (see `seen_words`). If the recipe has facts, they take the place of so many windows, and their
        answers are hidden."""
        rows = self.corpus.rows(self.recipe.seed, skip=step * self.recipe.batch)
        while True:
            generator = np.random.default_rng([self.recipe.seed, step])
            text = np.stack([next(rows) for _ in range(self.recipe.batch)])[:, 1:]
            cut = self.recipe.cuts[int(generator.integers(len(self.recipe.cuts)))]
            shorter = text.reshape(-1, self.config.context // cut)
            shorter[:, 0] = self.start
            answers = np.zeros(shorter.shape, dtype=bool)
            if facts := self.recipe.facts * cut:
                shorter[-facts:], answers[-facts:] = self.fact_rows.draw(generator, facts, shorter.shape[1] - 1)
            hidden, places, tokens = self.hide(shorter, generator, answers)
            yield tuple(map(torch.from_numpy, (hidden, places, tokens, self.seen_words(shorter, hidden, places))))
            step += 1

    def hide(
        self, ids: np.ndarray, generator: np.random.Generator, first: np.ndarray | None = None, always: bool = False
    ) -> tuple[np.ndarray, ...]:
        """Hide some tokens of ids [rows, positions]; return the new ids, their places and the tokens.

        first: bool [rows, positions], tokens that are hidden before any other. always: mask them all.
        """
        flat = ids.ravel().copy()
        count = round(self.recipe.masked * len(flat))
        order = generator.random(len(flat)) + (flat == self.start)  # start tokens come last
        order -= 0 if first is None else first.ravel()
        places = np.sort(np.argpartition(order, count)[:count])
        tokens = flat[places]
        dice = generator.random(count)
        others = 1 - self.recipe.masks
        hidden = np.where(dice < others / 2, generator.integers(self.start + 1, self.mask, count), tokens)
        flat[places] = self.mask if always else np.where(dice < others, hidden, self.mask)
        return flat.reshape(ids.shape), places, tokens

    def seen_words(self, text: np.ndarray, hidden: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Return the rare words of its sentence visible near each place, without the right one: [hidden, most], each once.

        text and hidden: ids [rows, positions], before and after tokens were hidden; the rest is NONE.
        """
        rows, columns = np.divmod(places, text.shape[1])
        sentence = np.cumsum(self.ends[text], axis=1) - self.ends[text]  # [rows, positions]: the number of a token's sentence
        near = columns[:, None] + np.delete(np.arange(-self.NEAR, self.NEAR + 1), self.NEAR)
        inside = (near >= 0) & (near < text.shape[1])
        near = near.clip(0, text.shape[1] - 1)
        words = hidden[rows[:, None], near]
        inside &= sentence[rows[:, None], near] == sentence[rows, columns][:, None]
        words = np.where(inside & self.seldom[words] & (words != text[rows, columns][:, None]), words, NONE)
        words = np.sort(words, axis=1)
        words[:, 1:][words[:, 1:] == words[:, :-1]] = NONE
        return words

    def loss(self, model: Encoder, batch: Batch) -> Tensor:
        ids, places, tokens, avoided = batch
        x = model.final_norm(self.stream_at(model, ids, places))
        return token_loss(x, model.embedding.weight, tokens, avoided if self.recipe.again else None, self.recipe.again)

    def stream_at(self, model: Encoder, ids: Tensor, places: Tensor) -> Tensor:
        """Return the stream only at the hidden places, because others are not predicted: [hidden, d_model]."""
        return model.hidden(ids).flatten(0, 1)[places]

    def held_out(self, model: Encoder, every: int = 1) -> tuple[float, int]:
        """Measure with all chosen tokens masked, as users do."""
        rows = self.valid.windows()[::every, 1:]
        rows[:, 0] = self.start

        def answers() -> Iterator[tuple[Tensor, Tensor]]:
            for number, part in enumerate(parts(rows, 32)):
                hidden = self.hide(part.numpy(), np.random.default_rng([1, number]), always=True)
                ids, places, tokens = (torch.from_numpy(array).to(device_of(model)) for array in hidden)
                yield model.unembed(self.stream_at(model, ids, places)), tokens.masked_fill(tokens == self.start, IGNORED)

        return sum_losses(answers())


class Translation(Objective[EncoderDecoder]):
    """An encoder-decoder translates a sentence (Sutskever et al. 2014; Vaswani et al. 2017).

    A batch holds sources of one length, and targets of similar length, so that it has little padding. In each epoch some pairs
    get other names, so that names are copied and not memorized.
    """

    def __init__(self, data: Path, tokenizer: Tokenizer, config: TransformerConfig, recipe: Recipe):
        super().__init__(data, tokenizer, config, recipe)
        self.end = find_sign(tokenizer, END)
        self.texts, self.vocabulary = pairs(data / "pairs_train.tsv"), tokenizer
        self.train = self.encode(self.texts, tokenizer)
        self.valid = self.encode(pairs(data / "pairs_valid.tsv"), tokenizer)

    @classmethod
    def tokenizer(cls, data: Path, vocabulary: int, weights: Path) -> Tokenizer:
        """Train one tokenizer for both languages."""
        both = [sentence for pair in pairs(data / "pairs_train.tsv") for sentence in pair]
        return train_tokenizer(both, vocabulary, (START, END))

    def encode(self, sentences: list[tuple[str, str]], tokenizer: Tokenizer) -> list[Pair]:
        """Encode pairs: sources with their end, targets with start and end; pairs longer than the context are left out."""
        sides = [tokenizer.encode_batch([pair[side] for pair in sentences]) for side in (0, 1)]
        rows = [([*a.ids, self.end], [self.start, *b.ids, self.end]) for a, b in zip(*sides, strict=True)]
        return [row for row in rows if max(map(len, row)) <= self.config.context + 1]

    def group(self, rows: list[Pair], generator: np.random.Generator | None = None) -> list[list[int]]:
        """Group the rows into batches of sources of one length, by the length of their targets."""
        chance = np.zeros(len(rows)) if generator is None else generator.random(len(rows))
        order = sorted(range(len(rows)), key=lambda i: (len(rows[i][0]), len(rows[i][1]) + 2 * chance[i]))
        batches: list[list[int]] = []
        size = self.recipe.batch
        for at in range(len(order)):
            new = not batches or len(batches[-1]) == size or len(rows[batches[-1][0]][0]) != len(rows[order[at]][0])
            batches.append([order[at]]) if new else batches[-1].append(order[at])
        return batches

    def batches(self, step: int, schedule: Schedule) -> Iterator[Batch]:
        """Yield sources [batch, source position] and targets [batch, position + 1], padded with IGNORED."""
        passed = 0
        for epoch in range(2**31):
            generator = np.random.default_rng([self.recipe.seed, epoch])
            rows = self.train + self.encode(self.variants(generator), self.vocabulary)
            batches = self.group(rows, generator)
            for number in generator.permutation(len(batches)):
                if passed >= step:
                    yield self.pad([rows[i] for i in batches[number]])
                passed += 1

    @cached_property
    def names(self) -> Names:
        return Names(HELD_OUT_NAMES.read_text(encoding="utf-8").split())

    def variants(self, generator: np.random.Generator) -> list[tuple[str, str]]:
        """Return the additional pairs of an epoch, with other names, places and numbers."""
        if not self.recipe.names:
            return []
        return self.names.variants(self.texts, self.recipe.names, generator)

    def tokens(self, batch: Batch) -> int:
        return batch[0].numel() + int((batch[1][:, :-1] != IGNORED).sum())

    def pad(self, rows: list[Pair]) -> Batch:
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
            for batch in self.group(rows):
                source, target = (tensor.to(device_of(model)) for tensor in self.pad([rows[i] for i in batch]))
                yield self.logits(model, source, target), target[:, 1:]

        return sum_losses(answers())


def find_sign(tokenizer: Tokenizer, text: str) -> int:
    """Return the id of a special token. Errors: ValueError where the tokenizer lacks it."""
    if (id := tokenizer.token_to_id(text)) is None:
        raise ValueError(f"The tokenizer has no token {text}.")
    return id


def cross_entropy(logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    """Return the mean of −log p(target) over logits [..., vocabulary] and targets [...] that are not ignored, in float32."""
    return F.cross_entropy(logits.flatten(0, -2).float(), targets.flatten(), ignore_index=IGNORED, label_smoothing=smoothing)


def sum_losses(answers: Iterator[tuple[Tensor, Tensor]]) -> tuple[float, int]:
    """Sum the nats of logits and targets; return them with the number of predictions."""
    nats, count = 0.0, 0
    with torch.inference_mode():
        for logits, targets in answers:
            predicted = int((targets != IGNORED).sum())
            nats += cross_entropy(logits, targets).item() * predicted if predicted else 0.0
            count += predicted
    return nats, count


def parts(rows: np.ndarray, size: int, of: nn.Module | None = None) -> Iterator[Tensor]:
    """Yield the rows in parts of about `size`; of: the model whose device they go to."""
    for part in np.array_split(rows, max(1, len(rows) // size)):
        tensor = torch.from_numpy(part)
        yield tensor if of is None else tensor.to(device_of(of))


def device_of(model: nn.Module) -> torch.device:
    return next(model.parameters()).device
