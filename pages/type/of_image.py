"""The parts of the board of page "Type" for a model that reads pictures."""

from __future__ import annotations

import numpy as np

from models.images.model import ImageModel
from models.images.written import parse
from pages.type import recipes
from pages.type.predicted import predictions
from ui.memory.favourites import CLEAR
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz.numbers import percent
from viz.views.board import Card, Part


def cards(draft: Draft, temperature: float, bars: int) -> list[Card]:
    """Return the cards: the picture with the chosen head's map over it, the labels, and every head's map."""
    look = draft.look
    title = "The picture" if look.beginner else f"The picture, seen by {draft.reader.mark_head(look.head_name)}"
    return [
        Card([draft.part("The picture", patches)], title, 6),
        Card(
            [
                *predictions(draft, None, temperature, bars),
                draft.part("The heads", heads),
            ],
            draft.words("title image" if look.model.info.labels else "title headless image"),
            6,
        ),
    ]


def patches(draft: Draft) -> Part:
    """Return the part with the picture in patches, shaded by where the chosen head looks."""
    look = draft.look
    weights = look.attention[look.layer][look.head]
    written = parse(look.trace.text)
    options = {
        "layer": look.layer,
        "head": look.head,
        "chosen": look.token,
        "link": "patches",
        "writes": written.name,
    }
    drawing = Picture(
        recipes.patches,
        (look,),
        options,
        "board",
        lambda: {"weights": Numbers(weights, ("from", "to"))},
        words=look.head_name,
        title="Where it looks",
        part="picture",
        takes=("model", "trace"),
    )
    model = look.model
    assert isinstance(model, ImageModel), "the page is drawn for a model of images"
    hidden = sum(getattr(token, "covered", False) for token in look.trace.tokens)
    grid = model.grid
    facts = {"rows": grid.rows, "columns": grid.columns, "width": grid.patch_width, "height": grid.patch_height}
    sizes = {
        "layer": look.number(look.layer),
        "head": look.head,
        "formula": look.attention.formula(look.layer).replace("*", r"\*"),
    }
    above = draft.words("picture hidden" if hidden else "picture", hidden=hidden, **facts, **sizes)
    return draft.picture(drawing, above)


def heads(draft: Draft) -> Part:
    """Return the part with the map of every head as a thumbnail; beginners read what the chosen head looks at."""
    look = draft.look
    first = look.favourite
    if look.beginner:
        facts = {"share": percent(first.score), "even": percent(1 / len(look.trace.tokens))}
        return Part("heads", None, draft.words("heads patch" if first.score > CLEAR else "heads patch unclear", **facts))
    tokens = len(look.trace.tokens)
    drawing = Picture(
        recipes.head_maps,
        (look,),
        {"layer": look.layer, "head": look.head, "chosen": look.token},
        "board",
        lambda: {"maps": Numbers(recipes.maps_of(look.trace, look.token), ("layer", "head", "row", "column"))},
        title="All heads",
        part="heads",
        takes=("trace",),
    )
    names = [token.text for token in look.trace.tokens]
    facts = {"token": names[min(look.token, tokens - 1)], "most": percent(float(np.max(recipes.maps_of(look.trace, look.token))))}
    return draft.picture(drawing, draft.words("heads image", **facts), late=True)
