"""Sentences about two orders of a text: how much is different, and what cannot change."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analysis.word_order import BothOrders, keeps_pieces, total_variation, word_spans
from pages.inside.order import drawings, recipes
from ui import state
from ui.look import Look
from ui.picture.picture import Picture
from ui.words import words
from viz import percent
from viz.numbers import in_hundred
from viz.tokens import named

HERE = Path(__file__).parent
SAME = 1e-4  # up to here a difference is rounding


def say_changes(look: Look, reading: BothOrders | None, order: tuple[int, ...]) -> list[str]:
    """Say what became of the words themselves."""
    text = look.trace.text
    spans = word_spans(text)
    if list(order) == sorted(order):
        return [words(HERE, "as typed")]
    if reading and reading.changed:
        listed = ", ".join(f"“{text[slice(*spans[at])]}”" for at in reading.changed[:8])
        return [words(HERE, "changed one" if len(reading.changed) == 1 else "changed", words=listed)]
    stays = state.ORDER_SEED.get() and order[0] == 0 and not keeps_pieces(look.model, text, (1, 0, *range(2, len(order))))
    return [words(HERE, "first stays", word=text[slice(*spans[0])])] if stays else []


def introduce(look: Look, subject: str) -> str:
    """Introduce the pictures of a subject."""
    seen = drawings.window(look)
    few = len(seen.rows) < len(look.attention.queries) or len(seen.columns) < len(look.attention.keys)
    names = {"head": look.head_name, "most": drawings.SHOWN}
    more = words(HERE, "window", **names) if few and subject != "next" else ""
    return " ".join(filter(None, [words(HERE, f"about {subject}", **names), more]))


def say_difference(look: Look, reading: BothOrders, drawing: Picture) -> str:
    """Say what a picture shows, and how much is different."""
    if drawing.recipe is recipes.attention:
        return say_gap(look, reading) if drawing.options["moved"] else words(HERE, "map typed")
    if drawing.recipe is recipes.vectors:
        return say_largest(look, reading)
    before, after = reading.probabilities(*drawing.options["at"])
    share = total_variation(before, after)
    spot = drawing.part.partition(" ")[0]
    token = named(look.spell_tokens(reading.before.read)[drawing.options["at"][0]].text)
    names = {
        "token": token.replace("*", "\\*"), "share": (in_hundred if look.beginner else percent)(share),
        "exact": recipes.power(share) or "0",
    }  # fmt: skip
    return words(HERE, f"{spot} {'same' if share < SAME else 'changed'}", **names)


def say_gap(look: Look, reading: BothOrders) -> str:
    """Say how much the two maps differ at most."""
    before, after = reading.maps(look.kind, look.layer, look.head, look.causal)
    queries, keys = (
        np.flatnonzero(places >= 0) for places in reading.across(look.kind)
    )  # what became another piece has no other
    most = float(np.abs(np.nan_to_num(before) - np.nan_to_num(after))[np.ix_(queries, keys)].max(initial=0))
    names = {"share": percent(most), "exact": recipes.power(most) or "0"}
    return words(HERE, f"map {'same' if most < SAME else 'changed'}", **names)


def say_largest(look: Look, reading: BothOrders) -> str:
    """Say how far the vector moved that moved furthest."""
    most = most_of(reading.changes(drawings.stack_of(look)))
    return words(HERE, f"vectors {'same' if most < SAME else 'changed'}", share=percent(most), exact=recipes.power(most) or "0")


def explain(look: Look, readings: dict[bool, BothOrders]) -> str:
    """Explain what cannot change, and why, with what was measured of it."""
    if False not in readings:
        return words(HERE, "why hub")
    bare, config = readings[False], look.model.network.config
    if config.pattern != "full" or config.computed == "linformer":
        return words(HERE, "why pattern")
    if look.model.info.kind != "decoder":
        most = max(most_of(bare.changes(stack)) for stack in bare.before.hidden)
        heading = f"why {look.model.info.kind}" + (" changed" if bare.changed else "")
        return words(HERE, heading, share=percent(most), exact=recipes.power(most) or "0")
    return "\n\n".join([words(HERE, "why decoder"), say_example(look, bare)])


def say_example(look: Look, bare: BothOrders) -> str:
    """Say how far the vector of a token moved in the first block, and up to the last. The token has the same tokens before it in
    both orders; it is the one that is followed if that is such a token."""
    same = bare.same_before()
    if not len(same):
        return words(HERE, "why decoder none")
    at = look.token if look.token in same else int(same[-1])
    changes, names = bare.changes("self"), {"token": named(look.spell_tokens(bare.before.tokens)[at].text).replace("*", "\\*")}
    for name, block in (("first", 1), ("last", -1)):
        own, most = float(changes[block, at]), most_of(changes[block, same])
        names |= {name: percent(own), f"{name}_exact": recipes.power(own) or "0", f"{name}_most": recipes.power(most) or "0"}
    return words(HERE, "why decoder same", **names, count=len(same))


def most_of(changes: np.ndarray) -> float:
    known = changes[np.isfinite(changes)]
    return float(known.max(initial=0))
