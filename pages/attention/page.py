"""Page "Attention": a head as lines, as a text, in numbers or as a heatmap, and all heads side by side."""

from pathlib import Path

import numpy as np
import streamlit as st

from analysis import alignment, head_summary
from analysis.statistics import entropy_of
from pages.attention import compare, window
from pages.attention.views import BEGINNER, PICTURES
from ui import shell, state
from ui.choices import heads, picker, scope
from ui.choices.widgets import tabs
from ui.look import Look
from ui.picture.picture import place as place_picture
from ui.picture.take_away import take_away
from ui.show import picture
from ui.text import loadable_name, plain
from ui.words import heading_for, say
from viz import percent
from viz.tokens import label

HERE = Path(__file__).parent
WIDE = ("Model", "Query-key", "BertViz")  # with their words below them, and all of a long text


def summary(look: Look) -> None:
    """Place sentences on the head, each number from these weights."""
    attention, layer, head = look.attention, look.layer, look.head
    weights, tokens = attention[layer][head], attention.queries
    if look.kind == "cross":
        special = [i for i, token in enumerate(attention.keys) if token.special]
        return say(
            HERE, heading_for(HERE, "summary cross", look.case), layer=look.number(layer), head=head,
            special=percent(weights[:, special].sum(-1).mean()),
            entropy=f"{entropy_of(weights).mean():.2f}", even=f"{np.log(weights.shape[1]):.2f}",
            along=f"{alignment(look.trace)[layer, head]:.2f}".replace("-", "−") if len(tokens) > 1 else "– (needs two tokens)",
        )  # fmt: skip
    if len(tokens) == 1:
        return say(HERE, "single")
    facts = head_summary(weights)
    say(
        HERE, "summary both ways" if look.both_ways else "summary", layer=look.number(layer), head=head,
        first=percent(facts.first), itself=percent(facts.itself), first_token=plain(label(tokens[0].text)),
        previous=percent(facts.previous or 0.0), next=percent(facts.next),
        entropy=f"{facts.entropy:.2f}", even=f"{facts.even:.2f}",
    )  # fmt: skip


def place_words(look: Look, view: str) -> None:
    """Place sentences on what the picture shows, and what this head does in it."""
    attention, layer, head = look.attention, look.layer, look.head
    st.markdown("##### In words")
    say(HERE, f"view {view}")
    if look.kind == "cross":
        say(HERE, heading_for(HERE, "rows cross", look.case))
    summary(look)
    if not look.scope.whole:
        say(HERE, "all tokens")
    if view != "Heatmap" and look.level != "expert":
        return  # the words about rows and columns are about a heatmap
    heading = "read cross" if look.kind == "cross" else "read both ways" if look.both_ways else "read"
    whole, name = (
        look.scope.apply(attention[layer][head]).sum(-1).min(initial=1.0) > 0.999,
        loadable_name(look.model.info.name).replace("`", "’"),
    )
    say(
        HERE, heading_for(HERE, heading, look.case), index=layer, head=head, kind=look.kind, name=name,
        formula=attention.formula(layer),
        total="adds up to 100 %" if whole else "adds up to less than 100 %: the rest goes to what is not shown",
    )  # fmt: skip


def draw(look: Look) -> None:
    scope.say_apart(look)
    above = shell.above()
    with above:
        view = tabs(state.VIEW, "the view", BEGINNER if look.beginner else None)
    place = st.container()
    left, right = (place, place) if view in WIDE else place.columns([7, 4])
    drawing = None
    with left, picture(f"The view “{view}”"):
        look = look if view in WIDE else window.window_look(HERE, look, view)
        if drawing := PICTURES[view](look):
            place_picture(drawing)
    with above, picture("“Take it away”"):
        if drawing:
            take_away(drawing.key, lambda: [drawing])
    with right, picture("The summary"):
        if drawing and len(drawing.looks) > 1:
            return compare.place_words(HERE, drawing)
        if not drawing and compare.is_on(look) and view == "Heatmap":
            return  # the place of the picture says what a comparison needs
        place_words(look, view)


heads.side_bar(picker.in_use())
scope.side_bar()
shell.live(HERE, draw)
