"""Comparison with another tokenizer on the same text; the weights of its model are not read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

import models
from models.errors import ModelError
from models.progress import Progress
from models.tokens import Token, Vocabulary
from pages.inside.pieces import recipes, sentences
from ui import state
from ui.choices import picker
from ui.look import Look
from ui.memory import jobs, loaded, trainings
from ui.picture.picture import Numbers, Picture
from ui.show import show, show_chart
from ui.text import display_name, loadable_name, plain
from ui.words import say, words
from viz import Card, board
from viz.tokens import label

HERE = Path(__file__).parent
BOARD, CHART = "inside-tokenizers", "inside-probes"
WHICH = {"translator": "writer"}  # that a tokenizer is held against at first


def draw(look: Look) -> list[Picture]:
    """Draw the tokens of both tokenizers side by side, and what a few texts cost with each."""
    st.markdown(f"##### {words(HERE, 'title beside')}")
    say(HERE, "beside")
    mine = look.model.info.name
    with st.container(key="inside-other", width=360):
        name = picker.pick_other(state.OTHER_TOKENIZER, "The other tokenizer", mine, WHICH.get(mine, "translator"))
    if not name:
        return []
    try:
        other = vocabulary_of(name)
    except ModelError as error:
        st.warning(
            plain(f"The tokenizer of “{display_name(name)}” could not be read. {error}"), icon=":material/deployed_code_alert:"
        )
        return []
    if other is None:
        return []
    names = [display_name(mine), display_name(name)]
    pictures = [tokens_picture(look, recipes.own, {}, look.model.vocabulary, names[0], "own")]
    pictures.append(tokens_picture(look, recipes.others, {"other": loadable_name(name)}, other, names[1], "other"))
    cards = [
        Card([drawing.on_board(describe_count(look, vocabulary))], title, 5)
        for drawing, vocabulary, title in zip(pictures, (look.model.vocabulary, other), names, strict=True)
    ]
    show(board(cards, "Two tokenizers"), BOARD)
    say(HERE, "probes", sentence=plain(recipes.SENTENCE))
    chart = probes(look, other, name, names)
    show_chart(chart.drawn, CHART)
    table(look.model.vocabulary, other, names)
    if unknown := unknown_tokens(look.model.vocabulary, other):
        say(HERE, "lost", unknown=" and ".join(plain(token) for token in unknown))
    return [*pictures, chart]


def vocabulary_of(name: str) -> Vocabulary | None:
    """Return the tokenizer of a model by its name, None while it is being fetched."""
    if name in loaded.shelf:
        return loaded.model(name).vocabulary
    trained = trainings.find(name)
    source = str(trained.folder) if trained else name

    def work(report: jobs.Report) -> Vocabulary:
        def tell(progress: Progress) -> None:
            doing, figures, share = picker.in_words(progress)
            report(share, f"{doing} {figures}".strip())

        return models.load_tokenizer(source, tell)

    return jobs.result(("tokenizer", name), work, f"Fetching the tokenizer of {plain(display_name(name))}")


def describe_count(look: Look, vocabulary: Vocabulary) -> str:
    """Say how many tokens the text becomes, and how many characters each has on average."""
    text = look.trace.text[look.trace.cut :]
    count = len(recipes.typed_tokens(vocabulary, text))
    noun = "piece" if look.beginner else "token"
    facts = {"count": sentences.quantity(count, noun), "characters": f"{len(text):,}", "size": f"{vocabulary.size:,}"}
    return words(HERE, "counted" if count else "nothing", **facts, each=f"{len(text) / max(1, count):.2f}")


def tokens_picture(look: Look, recipe: Any, options: dict[str, Any], vocabulary: Vocabulary, name: str, part: str) -> Picture:
    def numbers() -> dict[str, Numbers]:
        tokens = recipes.typed_tokens(vocabulary, look.trace.text[look.trace.cut :])
        return {"id": Numbers(np.array([token.id for token in tokens]), ("token",), {"token": [token.text for token in tokens]})}

    own = part == "own"
    return Picture(
        recipe, (look,), options, BOARD, numbers, title=f"The tokens of {name}", part=part,
        takes=("model", "trace") if own else ("trace",), known={} if own else {"vocabulary": vocabulary},
    )  # fmt: skip


def probes(look: Look, other: Vocabulary, name: str, names: list[str]) -> Picture:
    """Return the picture of what a few texts cost with both tokenizers."""
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
        recipes.counts, (look,), {"other": loadable_name(name), "names": names}, CHART, numbers, words=" and ".join(names),
        title="What texts cost", takes=("model",), known={"vocabulary": other},
    )  # fmt: skip


def unknown_tokens(*both: Vocabulary) -> list[str]:
    """Return the special tokens that stand for unknown characters in the probe texts."""
    tokens = (
        token for vocabulary in both for text in recipes.PROBES.values() for token in recipes.typed_tokens(vocabulary, text)
    )
    return list(dict.fromkeys(token.text for token in tokens if token.special))


def table(mine: Vocabulary, other: Vocabulary, names: list[str]) -> None:
    """Show a table with the tokens of each probe text."""

    def cut(vocabulary: Vocabulary, text: str) -> str:
        tokens: list[Token] = recipes.typed_tokens(vocabulary, text)
        return f"{len(tokens)}:  {' | '.join(label(token.text) for token in tokens)}"

    rows = {"text": [f"{name}: {text}".replace("\n", " ↵ ") for name, text in recipes.PROBES.items()]}
    rows |= {
        name: [cut(vocabulary, text) for text in recipes.PROBES.values()]
        for name, vocabulary in zip(names, (mine, other), strict=True)
    }
    st.dataframe(pd.DataFrame(rows), hide_index=True)
