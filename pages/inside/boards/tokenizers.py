"""The board of two tokenizers: the same text through both, and the number of tokens of a few texts with each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from models.tokens import Token, Vocabulary
from pages.inside.pieces import recipes, sentences
from pages.inside.settings import Tokenizer
from ui.escaping import display_name, loadable_name, plain
from ui.look import Look
from ui.picture.board import Draft, Table
from ui.picture.picture import Numbers, Picture
from viz import Card
from viz.tokens import label

BOARD, CHART, TABLE = "inside-tokenizers", "inside-probes", "inside-probes-table"


def add(draft: Draft, reading: Tokenizer) -> None:
    """Add the tokens of both tokenizers side by side, and the number of tokens of a few texts with each."""
    look, name, other = draft.look, reading.name, reading.vocabulary
    mine, names = look.model.vocabulary, [display_name(look.model.info.name), display_name(name)]
    drawings = [tokens_picture(look, recipes.own, {}, mine, names[0], "own")]
    drawings.append(tokens_picture(look, recipes.others, {"other": loadable_name(name)}, other, names[1], "other"))
    cards = [
        Card([draft.picture(drawing, describe_count(draft, vocabulary))], title, 5)
        for drawing, vocabulary, title in zip(drawings, (mine, other), names, strict=True)
    ]
    draft.add_cards(BOARD, cards, "Two tokenizers")
    draft.note("inside-probes-words", "probes", sentence=plain(recipes.SENTENCE))
    draft.add(probes(look, other, name, names), CHART)
    draft.contents[TABLE] = Table(table(mine, other, names), scrolls=True)
    if unknown := unknown_tokens(mine, other):
        draft.note("inside-probes-lost", "lost", unknown=" and ".join(plain(token) for token in unknown))


def describe_count(draft: Draft, vocabulary: Vocabulary) -> str:
    """Say how many tokens the text becomes, and how many characters each has on average."""
    look = draft.look
    text = look.trace.text[look.trace.cut :]
    count = len(recipes.typed_tokens(vocabulary, text))
    facts = {"count": sentences.quantity(count, "token"), "characters": f"{len(text):,}", "size": f"{vocabulary.size:,}"}
    return draft.words("counted" if count else "nothing", **facts, each=f"{len(text) / max(1, count):.2f}")


def tokens_picture(look: Look, recipe: Any, options: dict[str, Any], vocabulary: Vocabulary, name: str, part: str) -> Picture:
    def numbers() -> dict[str, Numbers]:
        tokens = recipes.typed_tokens(vocabulary, look.trace.text[look.trace.cut :])
        return {"id": Numbers(np.array([token.id for token in tokens]), ("token",), {"token": [token.text for token in tokens]})}

    own = part == "own"
    return Picture(
        recipe,
        (look,),
        options,
        BOARD,
        numbers,
        title=f"The tokens of {name}",
        part=part,
        takes=("model", "trace") if own else ("trace",),
        known={} if own else {"vocabulary": vocabulary},
    )


def probes(look: Look, other: Vocabulary, name: str, names: list[str]) -> Picture:
    """Return the picture of how many tokens a few texts take with both tokenizers."""
    both = dict(zip(names, (look.model.vocabulary, other), strict=True))

    def numbers() -> dict[str, Numbers]:
        each = {"text": list(recipes.PROBES)}
        return {
            f"tokens_{i}": Numbers(
                np.array([len(recipes.typed_tokens(vocabulary, text)) for text in recipes.PROBES.values()]), ("text",), each
            )
            for i, vocabulary in enumerate(both.values())
        }

    return Picture(
        recipes.counts,
        (look,),
        {"other": loadable_name(name), "names": names},
        CHART,
        numbers,
        words=" and ".join(names),
        title="What texts cost",
        takes=("model",),
        known={"vocabulary": other},
    )


def unknown_tokens(*both: Vocabulary) -> list[str]:
    """Return the special tokens that stand for unknown characters in the probe texts."""
    tokens = (
        token for vocabulary in both for text in recipes.PROBES.values() for token in recipes.typed_tokens(vocabulary, text)
    )
    return list(dict.fromkeys(token.text for token in tokens if token.special))


def table(mine: Vocabulary, other: Vocabulary, names: list[str]) -> pd.DataFrame:
    """Return a table with the tokens of each probe text."""

    def cut(vocabulary: Vocabulary, text: str) -> str:
        tokens: list[Token] = recipes.typed_tokens(vocabulary, text)
        return f"{len(tokens)}:  {' | '.join(label(token.text) for token in tokens)}"

    rows = {"text": [f"{name}: {text}".replace("\n", " ↵ ") for name, text in recipes.PROBES.items()]}
    rows |= {
        name: [cut(vocabulary, text) for text in recipes.PROBES.values()]
        for name, vocabulary in zip(names, (mine, other), strict=True)
    }
    return pd.DataFrame(rows)
