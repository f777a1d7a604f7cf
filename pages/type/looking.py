"""What one sees through the chosen head: parts of a board that several pages can show.

folder: where the words of the page stand.
"""

from __future__ import annotations

from pathlib import Path

from analysis import paragraph
from ui import state
from ui.choices import boxes, pick, scope
from ui.text import loadable
from ui.words import words
from viz import Part, model_view, percent, reading_view

CLEAR = 0.3  # from this mean weight or correlation on, a head is said to do what it does


def where_it_looks(folder: Path, model, trace, chosen: int) -> Part:
    """The text as typed, shaded; in cross-attention the target below its source."""
    kind, (layer, head) = pick.kind(model.info), pick.chosen_head(model)
    attention = trace.attention[kind]
    seen = scope.of(attention)
    weights = seen.apply(attention[layer][head])
    whole = weights.sum(-1).min(initial=1.0) > 0.999
    tokens, weights, start = paragraph(trace, kind, seen, weights, boxes.second())
    position = seen.queries.index(chosen)
    view = reading_view(
        tokens,
        weights,
        None if position is None else start + position,
        causal=kind != "cross" and not pick.both_ways(model.info),
        second=start or None,
        link="" if trace.target or not seen.whole else "text",
    )
    facts = {"layer": layer, "head": head, "kind": kind, "name": loadable(model.info.name).replace("*", r"\*")}
    facts["formula"] = attention.formula(layer).replace("*", r"\*")
    facts["total"] = "100 %" if whole else "less than 100 %: the rest goes to what is not shown"
    facts["call"] = "trace(text, target)" if trace.target else "trace(text)"
    section = "where cross" if kind == "cross" else "where both ways" if pick.both_ways(model.info) else "where"
    return Part("reading", view, words(folder, section, **facts), late=True)


def all_heads(folder: Path, model, trace) -> Part:
    """Every head as a thumbnail; a beginner reads in words what the one that is shown looks for."""
    kind, (layer, head) = pick.kind(model.info), pick.chosen_head(model)
    if state.level() == "beginner":
        first = pick.favourite(model.info.name, kind)
        section = {"previous": "heads", "induction": "heads induction", "lookup": "heads cross"}[first.does]
        section += "" if first.score > CLEAR else " unclear"
        return Part("heads", None, words(folder, section, share=percent(max(0.0, first.score))))
    attention = trace.attention[kind]
    seen = scope.of(attention)
    maps = (seen[one] for one in range(attention.layers))
    above = words(folder, "heads", layers=attention.layers, heads=attention.heads)
    return Part("heads", model_view(maps, chosen=(layer, head), side=32, largest=48, chooses=attention.chooses), above, late=True)
