"""The texts on which heads are measured, built-in or a visitor's own, and how well a model can read them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from models.language_model import LanguageModel
from models.tokens import Token

# Plain English of our own, so that scores can be had without any file.
SENTENCES = (
    "The old gardener opened the gate, and the dog that had been waiting all morning ran past him into the street.",
    "Mary told her brother that the train would leave at noon, but her brother had never once been on time for a train.",
    "There is a lamp in the window of the last house, and when the lamp is lit the fishermen know which way to row.",
    "She put the letter on the table, looked at the letter again, and then threw the letter into the fire.",
)

# Such as people type first into an encoder-decoder.
SHORT = (
    "The cat is black.",
    "Where is the station?",
    "She gave him a book yesterday.",
    "My brother will come to see us tomorrow.",
)

PASSAGES, ROUNDS = 8, 6  # of a book, beside the sentences; texts of random words that are repeated
SPAN = (110, 210)  # characters of a passage, like a long sentence
PLAIN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "—": " - "})  # signs that small models have no token for
UNKNOWN = 0.2  # with a larger share of unknown tokens, a model reads hardly more than the places of words
PIECE = 40  # words of a visitor's line that count as a text of their own
FEW = 8  # words that a repeated text needs of one kind, or another kind is tried
ENGLISH, LETTER = re.compile("[ ]?[a-z]{3,}"), re.compile("[a-z]")
ANY = re.compile(r"(?!##|<0x|<unused).*\w.*")  # without continuations, bytes and unused tokens

Texts = Sequence[str | tuple[str, str]]  # each alone, or with its target
Pairs = list[tuple[str, str]]
NOT_SPELT = (
    "{name} cannot spell {these}: {share:.0%} of the tokens there stand for text that its tokenizer does not know, so what its "
    "heads do there says nothing about them. Measure on texts that it can read (in Python: texts=[…])."
)


class Unspelt(ValueError):
    """Texts that a tokenizer cannot spell. share: of their tokens that are unknown, 0..1."""

    def __init__(self, name: str, share: float, own: bool) -> None:
        super().__init__(NOT_SPELT.format(name=name, share=share, these="these texts" if own else "the sample texts"))
        self.share, self.own = share, own


@dataclass(frozen=True)
class Fit:
    """The fit of a model to some texts.

    unknown: the share of tokens for text that the tokenizer cannot spell. loss: of the model, nats a token over `tokens` tokens;
    NaN if it predicts none, or if the right outputs are unknown. even: the loss of a uniform guess, ln of the vocabulary's size.
    """

    unknown: float
    loss: float
    even: float
    tokens: int


def natural() -> tuple[str, ...]:
    """Return the sample texts: four sentences of our own and eight passages of a book. Heads are measured on them."""
    return (*SENTENCES, *passages()[0])


@cache
def passages() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return eight passages of the built-in book, each as long as a long sentence, evenly spaced, and twelve others. Source: see
    `models.lens.tuned_lens.SAMPLE`."""
    from models.lens.tuned_lens import SAMPLE  # brings torch

    plain = SAMPLE.read_text(encoding="utf-8").translate(PLAIN)
    paragraphs = [" ".join(paragraph.split()) for paragraph in plain.split("\n\n")]
    fitting = [paragraph for paragraph in paragraphs if SPAN[0] <= len(paragraph) <= SPAN[1]]
    first = tuple(fitting[i] for i in np.linspace(0, len(fitting) - 1, PASSAGES).round().astype(int))
    remaining = [paragraph for paragraph in fitting if paragraph not in first]
    count = PASSAGES + len(SENTENCES)
    return first, tuple(remaining[i] for i in np.linspace(0, len(remaining) - 1, count).round().astype(int))


def repeats(model: LanguageModel) -> tuple[str, ...]:
    """Return six texts of random words of the model's own vocabulary, each repeated once."""
    return tuple(repeated_words(model, seed=seed) for seed in range(ROUNDS))


def repeated_words(model: LanguageModel, words: int = 40, seed: int = 0) -> str:
    """Return random words of the model's own vocabulary, repeated once: only a model that looks back can predict the second
    round.

    They are English words if it has some, else letters, else any tokens that are text. The tokenizer can spell all of them; ""
    for a vocabulary without any.
    """
    ids = [int(id) for id in np.random.default_rng(seed).permutation(model.info.vocabulary)]
    best: list[str] = []
    for kind in (ENGLISH, LETTER, ANY):
        texts = [model.token_text(id) for id in ids if kind is not ANY or not model.is_special(id)]
        space = "" if kind is LETTER else " "
        some = spellable_words(model, [space + text.strip() for text in texts if kind.fullmatch(text)], words)
        if len(some) >= FEW:
            return "".join(some * 2)
        best = max(best, some, key=len)
    return "".join(best * 2)


def spellable_words(model: LanguageModel, words: Sequence[str], count: int) -> list[str]:
    """Return the first words that the tokenizer can spell, each after another word."""
    check_reads_text(model)
    spellable: list[str] = []
    for start in range(0, len(words), count):
        some = list(words[start : start + count])
        if unknown_share(typed(model.tokenize("".join(some)))):  # then each by itself
            some = [word for word in some if not unknown_share(typed(model.tokenize(word)))]
        spellable += some
        if len(spellable) >= count:
            break
    return spellable[:count]


def pairs_of(texts: Texts) -> Pairs:
    """Return texts with their targets, "" for one without."""
    listed = [texts] if isinstance(texts, str) else texts
    return [(text, "") if isinstance(text, str) else (text[0], text[1]) for text in listed]


def pieces_of(text: str, target: str = "") -> Pairs:
    """Split a visitor's text into several, so that scores have a range: lines, cut into pieces of about 40 words; a text with a
    target is not split."""
    lines = [text] if target else text.splitlines()
    pieces: Pairs = []
    for line in lines:
        words = re.findall(r"\s*\S+", line)
        count = 1 if target else max(1, round(len(words) / PIECE))
        some = np.array_split(np.array(words, dtype=object), count) if words else []
        pieces += [("".join(piece).strip(), target) for piece in some]
    return pieces


def typed(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens that stand for text."""
    return [token for token in tokens if token.start < token.end]


def unknown_share(tokens: Sequence[Token]) -> float:
    """Return the share of tokens for text that the tokenizer cannot spell; 1 without a token."""
    return sum(token.unknown for token in tokens) / len(tokens) if tokens else 1.0


def unknown_in(model: LanguageModel, texts: Pairs) -> float:
    """Return the share of unknown tokens in some texts, without their targets. Errors: as `check_reads_text`."""
    check_reads_text(model)
    return unknown_share([token for text, _ in texts for token in typed(model.tokenize(text))])


def check_reads_text(model: LanguageModel) -> None:
    """Check that a model reads texts, such as those of the sample. Errors: ValueError for a model of images."""
    if "text" not in model.info.reads:
        raise ValueError(
            f"{model.info.name} reads images, and this is measured on texts. head_effects and attributions take an image."
        )


def check_spelling(model: LanguageModel, texts: Pairs, own: bool) -> float:
    """Return the share of unknown tokens. own: whether the texts are a visitor's. Errors: Unspelt if it is above a fifth."""
    share = unknown_in(model, texts)
    if share > UNKNOWN:
        raise Unspelt(model.info.name, share, own)
    return share


def fit(model: LanguageModel, texts: Texts | None = None) -> Fit:
    """Return how well a model reads texts, by default those of `natural`. An encoder-decoder's loss is that of the targets."""
    from models.gradients.losses import losses, scored  # brings torch, which the first page does not wait for

    pairs = [(text, "") for text in natural()] if texts is None else pairs_of(texts)
    rows, tokens = [], 0
    asks = model.info.predicts and (model.info.kind != "encoder-decoder" or all(target for _, target in pairs))
    for text, target in pairs if asks else ():
        try:
            scored_text = scored(model, text, target)
        except ValueError:  # a text with nothing to predict
            continue
        rows.append(float(losses(model, scored_text, [[]])[0]) * len(scored_text.ids))
        tokens += len(scored_text.ids)
    loss = sum(rows) / tokens if tokens else float("nan")
    return Fit(unknown_in(model, pairs), loss, float(np.log(model.info.vocabulary)), tokens)
