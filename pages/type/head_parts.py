"""Parts of the board about the chosen head."""

from __future__ import annotations

from pages.type import recipes
from ui.escaping import loadable_name
from ui.memory.favourites import CLEAR
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz.numbers import percent
from viz.views.board import Part


def where_it_looks(draft: Draft) -> Part:
    """Return the part with the shaded text; in cross-attention the target below its source."""
    look = draft.look
    trace, kind, seen, layer, head = look.trace, look.kind, look.scope, look.layer, look.head
    attention = look.attention
    weights = seen.apply(attention[layer][head])
    whole = weights.sum(-1).min(initial=1.0) > 0.999
    options = {
        "kind": kind,
        "layer": layer,
        "head": head,
        "chosen": seen.queries.index(look.token),
        "causal": look.causal,
        "target": look.second,
        "link": "" if trace.target or not (seen.whole or look.beginner) else "text",
    }
    drawing = Picture(
        recipes.reading,
        (look,),
        options,
        "board",
        lambda: {"weights": Numbers(weights, ("from", "to"))},
        words=look.head_name,
        title="Where it looks",
        part="reading",
        known={"weights": weights},
    )
    facts = {"layer": look.number(layer), "index": layer, "head": head, "kind": kind}
    facts["name"] = loadable_name(look.model.info.name).replace("*", r"\*")
    facts["formula"] = attention.formula(layer).replace("*", r"\*")
    facts["total"] = "100 %" if whole else "less than 100 %: the rest goes to what is not shown"
    facts["call"] = "trace(text, target)" if trace.target and not look.model.info.labels else "trace(text)"
    section = "where cross" if kind == "cross" else "where both ways" if look.both_ways else "where"
    return draft.picture(drawing, draft.words(draft.heading_for(section), **facts), late=True)


def all_heads(draft: Draft) -> Part:
    """Return the part with every head as a thumbnail; beginners also read what the chosen head looks for."""
    look = draft.look
    if look.beginner:
        first = look.favourite
        sections = {"previous": "heads", "single": "heads single", "induction": "heads induction", "lookup": "heads cross"}
        section = sections[first.does]
        section += "" if first.score > CLEAR else " unclear"
        facts = {"name": look.named(look.layer, look.head), "share": percent(max(0.0, first.score))}
        return Part("heads", None, draft.words(draft.heading_for(section), **facts))
    drawing = Picture(
        recipes.all_heads,
        (look,),
        {"layer": look.layer, "head": look.head},
        "board",
        lambda: {"weights": look.scope},
        title="All heads",
        part="heads",
    )
    size = {"layers": look.attention.layers, "heads": look.attention.heads, "first_layer": look.attention.numbers[0]}
    return draft.picture(drawing, draft.words("heads", **size), late=True)
