"""Word alignment by heads of cross-attention: how often they look at the word that is being translated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from models.tokens import Token

if TYPE_CHECKING:
    import pandas as pd

    from models.language_model import LanguageModel

Pair = tuple[str, str, list[tuple[str, str]]]  # a text, its translation, and which of its words stand for which: (said, source)


def word_alignment(model: LanguageModel, pairs: Sequence[Pair]) -> pd.DataFrame:
    """Return for each head of cross-attention the share of words whose strongest source word is the right one.

    A word's attention is the average over the rows that predict its tokens (those of the tokens before them); a source word gets
    the sum over its tokens. The end token and punctuation are no words.
    Returns a DataFrame: layer, head, share. Errors: ValueError for a word that does not occur exactly once in its text or is cut
    off, and for a model with one stack.
    """
    import pandas as pd

    if model.info.kind != "encoder-decoder":
        raise ValueError(f"{model.info.name} has no cross-attention. Take an encoder-decoder.")
    right, count = np.zeros((model.info.decoder_layers, model.info.decoder_heads)), 0
    for source, target, links in pairs:
        trace = model.trace(source, target)
        cross = trace.attention["cross"]
        weights = np.stack([cross[layer] for layer in range(cross.layers)])  # [layers, heads, query, key]
        words = [match.span() for match in re.finditer(r"\w+", source)]
        keys = [read_in(trace.tokens, span, source) for span in words]
        for word, source_word in links:
            rows = [position - 1 for position in read_in(trace.target, place(word, target), target)]
            row = weights[:, :, rows].mean(2)  # [layers, heads, key]
            word_weights = np.stack([row[..., key].sum(-1) for key in keys], axis=-1)  # [layers, heads, word]
            right += word_weights.argmax(-1) == words.index(place(source_word, source))
            count += 1
    layers, heads = np.indices(right.shape)
    return pd.DataFrame({"layer": layers.ravel(), "head": heads.ravel(), "share": (right / max(1, count)).ravel()})


def read_links(text: str) -> list[Pair]:
    """Parse lines of source TAB translation TAB links, each "word=source word", as in `models/weights/translator`.

    Errors: ValueError for a line of another form.
    """
    pairs: list[Pair] = []
    for number, line in enumerate(text.splitlines(), 1):
        source, target, links = parts if len(parts := line.split("\t")) == 3 else ("", "", "")
        word_links = [link.partition("=")[::2] for link in links.split()]
        if not word_links or any(link.count("=") != 1 for link in links.split()):
            raise ValueError(f"Line {number} is not a text, a TAB, its translation, a TAB, and words as said=source: “{line}”.")
        pairs.append((source, target, word_links))
    return pairs


def place(word: str, text: str) -> tuple[int, int]:
    """Return the place of a word. Errors: ValueError if it does not occur exactly once."""
    spans = [match.span() for match in re.finditer(r"\w+", text) if match.group() == word]
    if len(spans) != 1:
        raise ValueError(f"“{word}” stands {len(spans)} times in “{text}”. Name words that stand there once.")
    return spans[0]


def read_in(tokens: Sequence[Token], span: tuple[int, int], text: str) -> list[int]:
    """Return the positions of `tokens_in`. Errors: ValueError if the model read nothing of it."""
    positions = tokens_in(tokens, *span)
    if not positions:
        raise ValueError(
            f"“{text[slice(*span)]}” is cut off, because the model does not read so long a text. Take shorter pairs."
        )
    return positions


def tokens_in(tokens: Sequence[Token], start: int, end: int) -> list[int]:
    """Return the positions of the tokens that have characters of text[start:end], except for the space before a word."""
    return [i for i, token in enumerate(tokens) if token.start < end and token.end > start]
