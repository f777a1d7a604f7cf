"""Habits of the writer and the filler: loops, second rounds that are predicted, and words that come again in their sentence."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import torch

from models.language_model import LanguageModel
from models.training.corpus import documents
from models.training.repetition import continued, ends_in_a_loop, said_before, word_ids

BEGINNINGS = 100  # texts
PROMPT, NEW = 24, 80  # tokens
ROUND, ROUNDS = 40, 25  # tokens of a round, and texts
MASKS, COMMON = 432, 200  # words


def writer_habits(model: LanguageModel, data: Path) -> dict[str, float]:
    """`greedy_loops` of held-out texts, and words, tokens: `second_round` of each."""
    tokenizer, start = model.vocabulary.tokenizer, model.vocabulary.start
    every = np.arange(start + 1, model.info.vocabulary)
    rounds = {"words": second_round(model, word_ids(tokenizer)), "tokens": second_round(model, every)}
    return greedy_loops(model, documents(data / "english_valid.txt")) | rounds


def greedy_loops(model: LanguageModel, texts: list[str], count: int = BEGINNINGS) -> dict[str, float]:
    """loops: of so many beginnings of the texts, how many greedy continuations end in a loop; repeated: mean share of their
    tokens in a run of four that was there before."""
    tokenizer, start = model.vocabulary.tokenizer, model.vocabulary.start
    read = [encoding.ids for encoding in tokenizer.encode_batch(texts) if len(encoding.ids) >= PROMPT]
    chosen = [read[i * len(read) // count][: PROMPT - 1] for i in range(count)]
    continuations = continued(model.network, torch.tensor([[start, *ids] for ids in chosen]), PROMPT + NEW)
    loops = int(ends_in_a_loop(continuations[:, PROMPT:]).sum())
    return {"loops": loops, "repeated": said_before(continuations, PROMPT)[:, PROMPT:].float().mean().item()}


def second_round(model: LanguageModel, pool: np.ndarray) -> float:
    """Of the tokens in the second round of a random piece said twice, but for its first one, the share that is the likeliest."""
    generator, start = np.random.default_rng(0), model.vocabulary.start
    piece = np.stack([generator.choice(pool, ROUND, replace=False) for _ in range(ROUNDS)])
    ids = torch.from_numpy(np.concatenate([np.full((ROUNDS, 1), start), piece, piece], axis=1))
    with torch.inference_mode():
        guessed = model.network(ids[:, :-1]).argmax(-1)
    return (guessed == ids[:, 1:])[:, ROUND + 1 :].float().mean().item()


def filler_habits(model: LanguageModel, data: Path) -> dict[str, float]:
    """As `repeated_words`, of held-out text."""
    return repeated_words(model, documents(data / "english_valid.txt"))


def repeated_words(model: LanguageModel, texts: list[str], masks: int = MASKS) -> dict[str, float]:
    """repeats: of so many words of sentences in the texts, each masked by itself, how many become a word that stands elsewhere in
    the sentence; right_repeats: how many of the masked words do so themselves; right: how many are found.

    The words are tokens of at least four letters, but for the 200 words that the texts have most often, which any sentence
    may repeat; what is put in their place counts where it is such a word too.
    """
    counts = Counter(word for text in texts for word in re.findall(r"[a-z]+", text.lower()))
    common = {word for word, _ in counts.most_common(COMMON)}
    asked = []
    for sentence in (
        sentence for text in texts for sentence in re.findall(r"[A-Z][^.!?\n]*[.!?]", text) if 6 <= len(sentence.split()) <= 20
    ):
        asked += [(sentence, word) for word in re.finditer(r"(?<= )[a-z]{4,}\b", sentence) if word[0] not in common]
    chosen = [asked[i * len(asked) // (2 * masks)] for i in range(2 * masks)]
    chosen = [(text, word) for text, word in chosen if len(model.tokenize(" " + word[0])) == 2][:masks]
    totals = Counter()
    for sentence, word in chosen:
        before, after = sentence[: word.start()], sentence[word.end() :]
        others = set(re.findall(r"[a-z]{4,}", (before + after).lower())) - common
        best = model.predict(before + model.info.mask + after, top=1)[0].text.strip()
        totals.update(repeats=best.lower() in others, right_repeats=word[0] in others, right=best == word[0], masks=1)
    return dict(totals)
