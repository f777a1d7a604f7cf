"""The board of page "Attention" for a picture: where each head of a layer looks from one token."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pages.attention import recipes
from ui.choices.patches import picker
from ui.look import Look
from ui.picture.board import Board, Draft
from ui.picture.picture import Numbers, Picture
from viz.views.board import Card, Part

HERE = Path(__file__).parent
MOST = 32  # heads of a layer, at most
PARTS = ("mean", *(f"h{head}" for head in range(MOST)))
picked = picker(PARTS)


def compose(look: Look) -> Board:
    """Return the board of a picture. It does not read the session, so any thread may call it."""
    draft = Draft(HERE, look)
    count = min(MOST, look.attention.counts[look.layer])
    widths = spread(look)[:count]
    token = look.trace.tokens[look.token].text
    facts = {
        "token": token,
        "layer": look.number(look.layer),
        "tokens": len(look.trace.tokens),
        "sharp": look.named(look.layer, int(widths.argmin())),
        "few": rounded(widths.min()),
        "broad": look.named(look.layer, int(widths.argmax())),
        "many": rounded(widths.max()),
    }
    cards = [Card([Part("finding", None, draft.words("finding image", **facts))], draft.words("title image", **facts))]
    cards += [
        Card([draft.part(f"Head {head}", map_of, head)], f"{look.named(look.layer, head)}: about {rounded(widths[head])}", 3)
        for head in range(count)
    ]
    cards.append(Card([draft.part("The mean", map_of, None)], draft.words("mean image"), 3))
    draft.add_cards("maps", cards, "Where each head looks")
    return draft.finished()


def spread(look: Look) -> np.ndarray:
    """Return over how many tokens each head of the layer spreads its look from the selected token: e to the entropy of its row,
    [head]. Even weights give the number of tokens."""
    rows = look.attention[look.layer][:, look.token].astype(np.float64)
    logarithms = np.log(rows, where=rows > 0, out=np.zeros_like(rows))
    spread_of: np.ndarray = np.exp(-(rows * logarithms).sum(-1))
    return spread_of


def rounded(count: float) -> str:
    """Return a number of tokens, with one decimal below 10."""
    return f"{count:.1f}" if count < 9.95 else f"{count:,.0f}"


def map_of(draft: Draft, head: int | None) -> Part:
    """Return the picture shaded by a head; None: by the mean of the layer's heads."""
    look = draft.look
    weights = look.attention[look.layer]
    head_weights = weights.mean(0) if head is None else weights[head]
    name = look.layer_name if head is None else look.named(look.layer, head)
    drawing = Picture(
        recipes.on_picture,
        (look,),
        {"layer": look.layer, "head": head, "chosen": look.token, "link": "patches"},
        "maps",
        lambda: {"weights": Numbers(head_weights, ("from", "to"))},
        words=name,
        title=f"Where {name} looks" if head is not None else f"Where the heads of {name} look, on average",
        part="mean" if head is None else f"h{head}",
        takes=("model", "trace"),
    )
    return draft.picture(drawing)
