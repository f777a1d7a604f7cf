"""A classifier's labels on page "Type": for the text, or for the selected token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from models.class_labels import ANY
from pages.type import recipes
from ui.escaping import starred
from ui.look import Look
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz.numbers import percent
from viz.tokens import label, named
from viz.views.board import Part

TOKENS = 40  # that are listed, each with its label


def what_it_says(draft: Draft, temperature: float, bars: int) -> Part:
    """Return the part with the bars of the labels."""
    look = draft.look
    model, labels, position = look.model, look.model.info.labels, look.predicted_at
    scores = look.trace.scores_at(position)
    assert labels and scores is not None, "asked of a classifier"
    best = model.top(scores, position, bars, temperature)
    options: dict[str, Any] = {"position": position, "count": bars}
    recipe: Callable = recipes.numbers
    known: dict[str, Any] = {}
    if labels.chances:
        options |= {"temperature": temperature, "scores": not look.beginner}
        recipe, known = recipes.bars, {"best": best, "logits": scores}
    else:
        options |= {"heads": (draft.words("column label"), draft.words("column number"))}

    def numbers() -> dict[str, Numbers]:
        each: dict[str, list] = {"probability": [prediction.probability for prediction in best]} if labels.chances else {}
        each |= {"score": [prediction.score for prediction in best], "label": [prediction.text for prediction in best]}
        return {name: Numbers(np.array(values), ("place",), {"place": range(1, len(best) + 1)}) for name, values in each.items()}

    about = (
        f"of “{label(look.trace.tokens[position].text)}”"
        if labels.each
        else "of the picture"
        if "image" in model.info.reads
        else "of the text"
    )
    drawing = Picture(
        recipe,
        (look,),
        options,
        "board",
        numbers,
        words=about,
        title="Labels",
        part="bars",
        takes=("model", "trace"),
        known=known,
    )
    facts = {
        "count": f"{len(labels.names):,}",
        "shown": str(len(best)),
        "token": named(look.spell_tokens(look.trace.tokens)[position].text),
    }
    is_of_image = "image" in model.info.reads
    kind = (
        "image"
        if is_of_image and labels.rule != ANY and labels.chances
        else "value"
        if not labels.chances
        else "any"
        if labels.rule == ANY
        else "one"
    )
    above = [draft.words(f"labels {'token' if labels.each else kind}", **{name: starred(fact) for name, fact in facts.items()})]
    above += [draft.words("labels unnamed")] * (not labels.named)
    return draft.picture(drawing, "\n\n".join(above), draft.words("labels each", list=each_token(look)) if labels.each else "")


def each_token(look: Look) -> str:
    """List the likeliest label of every token, for a long text only those at its end."""
    model, places = look.model, look.model.places(look.trace)[-TOKENS:]
    tokens, listed = look.spell_tokens(look.trace.tokens), []
    for place in places:
        scores = look.trace.scores_at(place)
        assert scores is not None, "it gives labels"
        (best,) = model.top(scores, place, 1)
        listed.append(f"{starred(named(tokens[place].text))} **{starred(best.text)}** {percent(best.probability)}")
    return " · ".join(listed)
