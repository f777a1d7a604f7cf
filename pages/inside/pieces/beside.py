"""The same text through another tokenizer: no weight of its model is read."""

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
from pages.inside.pieces import recipes, told
from ui import state
from ui.choices import picker
from ui.look import Look
from ui.memory import jobs, loaded, trainings
from ui.picture.picture import Numbers, Picture
from ui.show import show, show_chart
from ui.text import called, loadable, plain
from ui.words import say, words
from viz import Card, board
from viz.tokens import label

HERE = Path(__file__).parent
BOARD, CHART = "inside-tokenizers", "inside-probes"
WHICH = {"translator": "writer"}  # that a tokenizer is held against at first


def draw(look: Look) -> list[Picture]:
    """The tokens of both side by side, and what a few texts cost by both."""
    st.markdown(f"##### {words(HERE, 'title beside')}")
    say(HERE, "beside")
    mine = look.model.info.name
    with st.container(key="inside-other", width=360):
        name = picker.another(state.OTHER_TOKENIZER, "The other tokenizer", mine, WHICH.get(mine, "translator"))
    if not name:
        return []
    try:
        other = vocabulary_of(name)
    except ModelError as error:
        st.warning(plain(f"The tokenizer of “{called(name)}” could not be read. {error}"), icon=":material/deployed_code_alert:")
        return []
    if other is None:
        return []
    names = [called(mine), called(name)]
    pictures = [tokens(look, recipes.own, {}, look.model.vocabulary, names[0], "own")]
    pictures.append(tokens(look, recipes.others, {"other": loadable(name)}, other, names[1], "other"))
    cards = [
        Card([made.on_board(counted(look, one))], title, 5)
        for made, one, title in zip(pictures, (look.model.vocabulary, other), names, strict=True)
    ]
    show(board(cards, "Two tokenizers"), BOARD)
    say(HERE, "probes", sentence=plain(recipes.SENTENCE))
    chart = probes(look, other, name, names)
    show_chart(chart.drawn, CHART)
    table(look.model.vocabulary, other, names)
    if unknown := lost(look.model.vocabulary, other):
        say(HERE, "lost", unknown=" and ".join(plain(one) for one in unknown))
    return [*pictures, chart]


def vocabulary_of(name: str) -> Vocabulary | None:
    """The tokenizer of a model by its name; None while it is fetched."""
    if name in loaded.shelf:
        return loaded.model(name).vocabulary
    trained = trainings.find(name)
    source = str(trained.folder) if trained else name

    def work(report: jobs.Report) -> Vocabulary:
        def tell(progress: Progress) -> None:
            doing, figures, share = picker.in_words(progress)
            report(share, f"{doing} {figures}".strip())

        return models.load_tokenizer(source, tell)

    return jobs.result(("tokenizer", name), work, f"Fetching the tokenizer of {plain(called(name))}")


def counted(look: Look, vocabulary: Vocabulary) -> str:
    """How many tokens the text becomes, and how many characters each has."""
    text = look.trace.text[look.trace.cut :]
    count = len(recipes.typed(vocabulary, text))
    noun = "piece" if look.beginner else "token"
    said = {"count": told.many(count, noun), "characters": f"{len(text):,}", "size": f"{vocabulary.size:,}"}
    return words(HERE, "counted" if count else "nothing", **said, each=f"{len(text) / max(1, count):.2f}")


def tokens(look: Look, recipe: Any, options: dict[str, Any], vocabulary: Vocabulary, name: str, part: str) -> Picture:
    def numbers() -> dict[str, Numbers]:
        found = recipes.typed(vocabulary, look.trace.text[look.trace.cut :])
        return {"id": Numbers(np.array([one.id for one in found]), ("token",), {"token": [one.text for one in found]})}

    own = part == "own"
    return Picture(
        recipe, (look,), options, BOARD, numbers, title=f"The tokens of {name}", part=part,
        takes=("model", "trace") if own else ("trace",), known={} if own else {"vocabulary": vocabulary},
    )  # fmt: skip


def probes(look: Look, other: Vocabulary, name: str, names: list[str]) -> Picture:
    """What a few texts cost by both."""
    both = dict(zip(names, (look.model.vocabulary, other), strict=True))

    def numbers() -> dict[str, Numbers]:
        each = {"text": list(recipes.PROBES)}
        return {
            f"tokens_{i}": Numbers(np.array([len(recipes.typed(one, text)) for text in recipes.PROBES.values()]), ("text",), each)
            for i, one in enumerate(both.values())
        }

    return Picture(
        recipes.counts, (look,), {"other": loadable(name), "names": names}, CHART, numbers, words=" and ".join(names),
        title="What texts cost", takes=("model",), known={"vocabulary": other},
    )  # fmt: skip


def lost(*both: Vocabulary) -> list[str]:
    """The tokens that stand for what a vocabulary does not have, of those texts."""
    found = (token for one in both for text in recipes.PROBES.values() for token in recipes.typed(one, text))
    return list(dict.fromkeys(token.text for token in found if token.special))


def table(mine: Vocabulary, other: Vocabulary, names: list[str]) -> None:
    """The tokens themselves."""

    def cut(vocabulary: Vocabulary, text: str) -> str:
        found: list[Token] = recipes.typed(vocabulary, text)
        return f"{len(found)}:  {' | '.join(label(one.text) for one in found)}"

    rows = {"text": [f"{name}: {text}".replace("\n", " ↵ ") for name, text in recipes.PROBES.items()]}
    rows |= {name: [cut(one, text) for text in recipes.PROBES.values()] for name, one in zip(names, (mine, other), strict=True)}
    st.dataframe(pd.DataFrame(rows), hide_index=True)
