"""The board of page "Layers" for a picture: what each layer would answer, and where its heads look on average."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from analysis.lens import guesses, layer_scores
from analysis.outliers import outliers
from pages.layers import recipes
from ui.choices.patches import picker
from ui.escaping import starred
from ui.look import Look
from ui.picture.board import Board, Draft
from ui.picture.picture import Numbers, Picture
from viz.numbers import percent
from viz.views.board import Card, Part

HERE = Path(__file__).parent
MOST = 64  # layers that are shown
NAMED = 4  # patches of those that stand out
PARTS = tuple(f"l{layer}" for layer in range(MOST))
picked = picker(PARTS)


def compose(look: Look) -> Board:
    """Return the board of a picture. It does not read the session, so any thread may call it."""
    draft = Draft(HERE, look)
    labels, shares = answers(look)
    above = finding(draft, labels, shares) if labels else draft.words("no answer image")
    cards = [Card([Part("finding", None, above)], draft.words("title image"))]
    for layer in range(min(MOST, look.attention.layers)):
        name = f"L{look.number(layer)}"
        title = f"{name}: {labels[layer + 1]}, {shares[layer + 1]}" if labels else name
        cards.append(Card([draft.part(f"Layer {name}", map_of, layer)], title, 3))
    if stands_out := lengths(draft):
        cards.append(Card([Part("lengths", None, stands_out)], draft.words("title lengths image")))
    draft.add_cards("layers", cards, "What each layer would answer, and where it looks")
    return draft.finished()


def compose_from(look: Look, values: Mapping[str, Any]) -> Board:
    """Return the board of a picture; there are no choices of this page's own."""
    return compose(look)


def answers(look: Look) -> tuple[list[str], list[str]]:
    """Return the likeliest label after the embedding and after each layer, and its share in words; none where the model gives no
    labels."""
    model, trace = look.model, look.trace
    if not model.info.labels or trace.way_out is None:
        return [], []
    ids, shares, scores = guesses(model, layer_scores(trace, 0))
    in_words = [percent(share) if share == share else f"{score:.2f}" for share, score in zip(shares, scores, strict=True)]
    return [model.outcome(int(id)) for id in ids], in_words


def finding(draft: Draft, labels: list[str], shares: list[str]) -> str:
    """Return the sentence on the first layer after which the answer stands."""
    look = draft.look
    last = len(labels) - 1
    first = next(layer for layer in range(len(labels)) if set(labels[layer:]) == {labels[-1]})
    facts = {
        "answer": starred(labels[-1]),
        "share": shares[-1],
        "before": starred(labels[first - 1]) if first else "",
        "before_share": shares[first - 1] if first else "",
        "layer": "" if not first else look.number(first - 1),
        "even": percent(1 / len(look.model.info.labels.names)) if look.model.info.labels else "",
        "token": look.trace.tokens[look.token].text,
    }
    heading = "always image" if not first else "last image" if first == last else "finding image"
    return f"{draft.words(heading, **facts)}\n\n{draft.words('maps image', **facts)}"


def lengths(draft: Draft) -> str:
    """Return the sentences on patches that stand out by the length of their vectors, with the attention that they get; "" at the
    levels that have none, and for too few patches."""
    look = draft.look
    if not draft.words("title lengths image"):
        return ""
    try:
        far = outliers(look.trace)
    except ValueError:
        return ""
    names = [look.trace.tokens[at].text for at in far.positions]
    leading = [token.text for token in look.trace.tokens if token.special]
    facts = {
        "count": len(names),
        "patches": sum(not token.special for token in look.trace.tokens),
        "names": starred(", ".join(names[:NAMED]) + (" …" if len(names) > NAMED else "")),
        "ratio": f"{far.ratio:.1f}",
        "layer": f"L{look.number(far.layer)}",
        "reader": f"L{look.number(far.reader)}",
        "share": percent(far.received),
        "even": percent(far.even),
        "leading": starred(", ".join(leading[:NAMED]) + (" …" if len(leading) > NAMED else "")),
        "leading_share": percent(far.leading),
        "leading_even": percent(far.leading_even),
    }
    heading = "lengths image" if len(names) > 1 else "length image" if names else "no lengths image"
    return draft.paragraph(heading, *(["leading image"] if leading else []), **facts)


def map_of(draft: Draft, layer: int) -> Part:
    """Return the picture shaded by the mean of a layer's heads."""
    look = draft.look
    name = look.named(layer)
    drawing = Picture(
        recipes.layer_on_picture,
        (look,),
        {"layer": layer, "chosen": look.token, "link": "patches"},
        "layers",
        lambda: {"weights": Numbers(np.asarray(look.attention[layer].mean(0)), ("from", "to"))},
        words=name,
        title=f"Where the heads of {name} look, on average",
        part=f"l{layer}",
        takes=("model", "trace"),
    )
    return draft.picture(drawing)
