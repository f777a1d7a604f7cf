"""What one sees through the chosen head: parts of a board that several pages can show.

folder: where the words of the page stand.
"""

from __future__ import annotations

from pathlib import Path

from analysis import paragraph
from ui.look import Look
from ui.text import loadable
from ui.words import words
from viz import Part, model_view, percent, reading_view

CLEAR = 0.3  # from this mean weight or correlation on, a head is said to do what it does


def where_it_looks(folder: Path, look: Look) -> Part:
    """The text as typed, shaded; in cross-attention the target below its source."""
    trace, kind, seen, layer, head = look.trace, look.kind, look.scope, look.layer, look.head
    attention = look.attention
    weights = seen.apply(attention[layer][head])
    whole = weights.sum(-1).min(initial=1.0) > 0.999
    tokens, square, start = paragraph(trace, kind, seen, weights, look.second)
    position = seen.queries.index(look.token)
    view = reading_view(
        tokens,
        square,
        None if position is None else start + position,
        causal=look.causal,
        second=start or None,
        link="" if trace.target or not seen.whole else "text",
    )
    facts = {"layer": layer, "head": head, "kind": kind, "name": loadable(look.model.info.name).replace("*", r"\*")}
    facts["formula"] = attention.formula(layer).replace("*", r"\*")
    facts["total"] = "100 %" if whole else "less than 100 %: the rest goes to what is not shown"
    facts["call"] = "trace(text, target)" if trace.target else "trace(text)"
    section = "where cross" if kind == "cross" else "where both ways" if look.both_ways else "where"
    return Part("reading", view, words(folder, section, **facts), late=True)


def all_heads(folder: Path, look: Look) -> Part:
    """Every head as a thumbnail; a beginner reads in words what the one that is shown looks for."""
    if look.beginner:
        first = look.favourite
        section = {"previous": "heads", "induction": "heads induction", "lookup": "heads cross"}[first.does]
        section += "" if first.score > CLEAR else " unclear"
        return Part("heads", None, words(folder, section, share=percent(max(0.0, first.score))))
    attention, seen, chosen = look.attention, look.scope, (look.layer, look.head)
    maps = (seen[one] for one in range(attention.layers))
    above = words(folder, "heads", layers=attention.layers, heads=attention.heads)
    return Part("heads", model_view(maps, chosen=chosen, side=32, largest=48, chooses=attention.chooses), above, late=True)
