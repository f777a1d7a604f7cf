"""Sentences about two orders of a text: how much is different, and what cannot change."""

from __future__ import annotations

import numpy as np

from analysis.word_order import BothOrders, keeps_pieces, total_variation, word_spans
from pages.inside.order import drawings, recipes
from ui.picture.board import Draft
from ui.picture.picture import Picture
from viz import percent
from viz.tokens import named

SAME = 1e-4  # up to here a difference is rounding


def say_changes(draft: Draft, reading: BothOrders | None, order: tuple[int, ...], shuffled: bool) -> list[str]:
    """Say how the words themselves have changed. shuffled: whether the order was drawn at random."""
    text = draft.look.trace.text
    spans = word_spans(text)
    if list(order) == sorted(order):
        return [draft.words("as typed")]
    moved = [text[slice(*spans[at])] for place, at in enumerate(order) if place != at]
    exchanged = [draft.words("exchanged", first=moved[1], second=moved[0])] if len(moved) == 2 else []
    if reading and reading.changed:
        listed = ", ".join(f"“{text[slice(*spans[at])]}”" for at in reading.changed[:8])
        return [*exchanged, draft.words("changed one" if len(reading.changed) == 1 else "changed", words=listed)]
    stays = shuffled and order[0] == 0 and not keeps_pieces(draft.look.model, text, (1, 0, *range(2, len(order))))
    return [*exchanged, *([draft.words("first stays", word=text[slice(*spans[0])])] if stays else [])]


def introduce(draft: Draft, subject: str) -> str:
    """Introduce the pictures of a subject."""
    look = draft.look
    seen = drawings.window(look)
    few = len(seen.rows) < len(look.attention.queries) or len(seen.columns) < len(look.attention.keys)
    names = {"head": look.head_name, "most": drawings.SHOWN}
    more = draft.words("window", **names) if few and subject != "next" else ""
    return " ".join(filter(None, [draft.words(f"about {subject}", **names), more]))


def say_difference(draft: Draft, reading: BothOrders, drawing: Picture) -> str:
    """Explain a picture, and say how much is different."""
    look = draft.look
    if drawing.recipe is recipes.attention:
        return say_gap(draft, reading) if drawing.options["moved"] else draft.words("map typed")
    if drawing.recipe is recipes.vectors:
        return say_largest(draft, reading)
    before, after = reading.probabilities(*drawing.options["at"])
    share = total_variation(before, after)
    spot = drawing.part.partition(" ")[0]
    token = named(look.spell_tokens(reading.before.read)[drawing.options["at"][0]].text)
    names = {
        "token": token.replace("*", "\\*"),
        "share": look.percent(share),
        "exact": recipes.power(share) or "0",
    }
    return draft.words(f"{spot} {'same' if share < SAME else 'changed'}", **names)


def say_gap(draft: Draft, reading: BothOrders) -> str:
    """Say how much the two maps differ at most."""
    look = draft.look
    before, after = reading.maps(look.kind, look.layer, look.head, look.causal)
    queries, keys = (
        np.flatnonzero(places >= 0) for places in reading.across(look.kind)
    )  # what became another piece has no other
    most = float(np.abs(np.nan_to_num(before) - np.nan_to_num(after))[np.ix_(queries, keys)].max(initial=0))
    names = {"share": percent(most), "exact": recipes.power(most) or "0"}
    return draft.words(f"map {'same' if most < SAME else 'changed'}", **names)


def say_largest(draft: Draft, reading: BothOrders) -> str:
    """Say how far the vector with the largest move has moved."""
    most = most_of(reading.changes(drawings.stack_of(draft.look)))
    return draft.words(f"vectors {'same' if most < SAME else 'changed'}", share=percent(most), exact=recipes.power(most) or "0")


def explain(draft: Draft, readings: dict[bool, BothOrders]) -> str:
    """Explain what cannot change, and why, with the measurements."""
    look = draft.look
    if False not in readings:
        return draft.words("why hub")
    bare, config = readings[False], look.model.network.config
    if config.pattern != "full" or config.computed == "linformer":
        return draft.words("why pattern")
    if look.model.info.kind != "decoder":
        most = max(most_of(bare.changes(stack)) for stack in bare.before.hidden)
        heading = f"why {look.model.info.kind}" + (" changed" if bare.changed else "")
        return draft.words(heading, share=percent(most), exact=recipes.power(most) or "0")
    return "\n\n".join([draft.words("why decoder"), say_example(draft, bare)])


def say_example(draft: Draft, bare: BothOrders) -> str:
    """Say how far the vector of a token moved in the first block, and up to the last. The token has the same tokens before it in
    both orders; it is the followed one if that is such a token."""
    look, same = draft.look, bare.same_before()
    if not len(same):
        return draft.words("why decoder none")
    at = look.token if look.token in same else int(same[-1])
    changes, names = bare.changes("self"), {"token": named(look.spell_tokens(bare.before.tokens)[at].text).replace("*", "\\*")}
    for name, block in (("first", 1), ("last", -1)):
        own, most = float(changes[block, at]), most_of(changes[block, same])
        names |= {name: percent(own), f"{name}_exact": recipes.power(own) or "0", f"{name}_most": recipes.power(most) or "0"}
    return draft.words("why decoder same", **names, count=len(same))


def most_of(changes: np.ndarray) -> float:
    known = changes[np.isfinite(changes)]
    return float(known.max(initial=0))
