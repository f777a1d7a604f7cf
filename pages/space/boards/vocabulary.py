"""Boards "Vocabulary": a map of words, nearest words, and analogies, each compared with chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from analysis.embedding import vectors, word
from pages.space import recipes, scene
from pages.space.settings import AnalogyByChance, Map, NearestByChance, Settings
from ui.escaping import plain, starred
from ui.look import Look
from ui.picture.board import Draft, Note
from ui.picture.picture import Numbers, Picture
from viz.tokens import label, named

MAP, NEAREST, ANALOGY = "vocabulary-view", "nearest-words", "analogy"
ABOUT, FAITH, SHARE = "vocabulary-words", "vocabulary-faith", "vocabulary-share"


def add_map(draft: Draft, settings: Settings, reading: Map) -> None:
    """Add words as points, and how far to believe them."""
    words = reading.words
    if reading.arranged is None:
        draft.contents["vocabulary-few"] = Note("Write at least three different words: two always lie on a line.", "info")
        return
    hidden = vectors(draft.look.model, words, settings.centred)[None]
    drawing = scene.picture(
        MAP,
        "Words as points",
        recipes.vocabulary,
        (draft.look,),
        {"words": words, "centred": settings.centred},
        settings,
        reading.arranged,
        takes=("model",),
        names=words,
        hidden=hidden,
        columns={"word": words},
    )
    if draft.look.level != "expert" and (pairs := scene.alike_pairs(hidden, range(len(words)))):
        left, right = pairs.most_alike.places
        digits = scene.digits_of(draft.look)
        facts = {"first": starred(f"“{words[left]}”"), "second": starred(f"“{words[right]}”"), "words": f"{len(words):,}"}
        draft.note(
            "vocabulary-pair",
            "vocabulary pair",
            alike=scene.cosine_words(pairs.most_alike.cosines[-1], digits),
            middle=scene.cosine_words(pairs.usual, digits),
            **facts,
        )
    draft.add(drawing, MAP)
    draft.note(ABOUT, "vocabulary", d=hidden.shape[-1], words=len(words))
    if not draft.look.beginner:
        for number, note in enumerate(scene.faith(draft, reading.arranged, settings.chosen)):
            key = f"{FAITH if note.fold else SHARE} {number}"
            draft.contents[key] = replace(note, fold="")  # the page folds them together with other words


def add_nearest(draft: Draft, settings: Settings, text: str) -> None:
    """Add the words nearest to a word."""
    explain(draft, NEAREST, [text])
    options = {"word": text, "centred": settings.centred, "words_only": settings.words_only}
    add_list(draft, NEAREST, f"Words nearest to “{text}”", recipes.neighbours, options)


def add_nearest_chance(draft: Draft, settings: Settings, reading: NearestByChance) -> None:
    """Add the results of chance for the nearest words."""
    facts = {"word": plain(reading.word), "typical": written(draft.look, reading.chance.typical)}
    add_chance(draft, settings, NEAREST, reading.cosines, reading.chance.highest, **facts)


def add_analogy(draft: Draft, settings: Settings, terms: list[str]) -> None:
    """Add the answers to a − b + c."""
    explain(draft, ANALOGY, terms)
    options = {"words": terms, "centred": settings.centred, "words_only": settings.words_only}
    add_list(draft, ANALOGY, "{} − {} + {}".format(*terms), recipes.answers, options)


def add_analogy_chance(draft: Draft, settings: Settings, reading: AnalogyByChance) -> None:
    """Add the results of chance for an analogy."""
    add_chance(draft, settings, ANALOGY, reading.cosines, reading.highest)


def add_chance(draft: Draft, settings: Settings, key: str, cosines: np.ndarray, highest: np.ndarray, **facts: object) -> None:
    """Add the cosines expected by chance, and how many of a list are above them."""
    look, above = draft.look, int((cosines > highest.max()).sum())
    heading = {NEAREST: "chance nearest", ANALOGY: "chance analogy"}[key]
    bounds = {"least": written(look, highest.min()), "most": written(look, highest.max())}
    answer_first = look.level != "expert"  # and how it was measured is folded
    if answer_first:
        draft.note(f"{key}-above", "more than chance" if above else "no more than chance", above=above, listed=len(cosines))
    draft.note(f"{key}-chance", heading, draws=len(highest), **bounds, **facts)
    if not answer_first:
        draft.note(f"{key}-above", "more than chance" if above else "no more than chance", above=above, listed=len(cosines))
    if not (above or settings.centred or look.beginner):
        draft.note(f"{key}-mean", "mean")


def written(look: Look, cosine: float) -> str:
    """Return a cosine with as many digits as the lists have at this level."""
    return f"{cosine:.{2 if look.beginner else 3}f}".replace("-", "−")


def explain(draft: Draft, key: str, texts: list[str]) -> None:
    """Explain which words consist of several tokens."""
    for number, text in enumerate(texts):
        read = word(draft.look.model, text)
        if len(read.ids) > 1:
            pieces = ", ".join(f"“{plain(label(piece))}”" for piece in read.pieces)
            sentence = f"“{plain(text)}” is several tokens here ({pieces}), so their mean is used."
            draft.contents[f"{key}-pieces {number}"] = Note(sentence)


def add_list(draft: Draft, key: str, title: str, recipe: Callable, options: dict[str, Any]) -> None:
    """Add words and their cosines (for beginners: their similarity) as a small table with bars."""
    look = draft.look

    def numbers() -> dict[str, Numbers]:
        ranks = {"place": range(1, len(drawing.drawn) + 1)}
        return {name: Numbers(drawing.drawn[name].to_numpy(), ("place",), ranks) for name in ("cosine", "text", "id")}

    drawing = Picture(recipe, (look,), options, key, numbers, title=title, takes=("model",))
    name = "How alike" if look.beginner else "Cosine"
    rows = [
        f"| {plain(named(text))} | {written(look, value)} &nbsp; {bar(value)} |"
        for text, value in zip(drawing.drawn["text"], drawing.drawn["cosine"], strict=True)
    ]
    draft.contents[key] = Note("\n".join([f"| Word | {name} |", "|:--|:--|", *rows]), "text")
    draft.pictures.append(drawing)


def bar(value: float) -> str:
    return f":primary[{'▰' * int(np.clip(round(10 * value), 0, 10))}]"
