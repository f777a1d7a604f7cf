"""Page "Inside": the way of a text through a model, stage by stage, and how each number of it came about."""

from pathlib import Path

import streamlit as st

from analysis import inside
from pages.inside import beginning, choose, detail, ending, formulas, naming, neurons, order, recipes, stops
from ui import shell
from ui.choices import heads, picker
from ui.look import Look
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import choice, picture, show
from ui.text import plain
from ui.words import say, words
from viz.tokens import named
from viz.views.way_view import way_view

HERE = Path(__file__).parent


def draw(look: Look) -> None:
    look = choose.follow_label(choose.text(look))
    way = stops.current_way(look)
    shapes = {stage.name: naming.sizes(look, stage) for stage in way.stages if recipes.known(stage)}
    chosen = choose.selection(shapes, [*stops.BEGINNING, stops.ORDER, *(stage.name for stage in way.stages)])
    above = shell.above()
    with above:
        st.caption(caption(look, way))
    glance = stops.glance(look, way, chosen)
    with st.container(key="inside-glance"):
        show(glance.drawn, "inside-strip", lambda: choose.toggle(choice("inside-strip")["key"]))
    pictures = [glance, *stages(look, way, chosen)]
    with above, picture("“Take it away”"):
        take_away("inside", lambda: pictures)


def caption(look: Look, way: inside.Way) -> str:
    """Say which token is followed, and for beginners, who did not choose it, through which head."""
    token = plain(named(look.spell_tokens(look.attention.queries)[look.token].text))
    attention = look.trace.attention[way.stack]
    where = {"heads": attention.heads, "block": attention.numbers[way.layer] + 1, "of_all": stops.every(attention, beginner=True)}
    which = words(HERE, "searchlight", **where) if attention.heads > 1 else ""
    return " ".join(filter(None, [words(HERE, "followed", token=token, head=look.head_name), which]))


def stages(look: Look, way: inside.Way, chosen: choose.Selection) -> list[Picture]:
    """Draw one stage under the other, the open one with all that is in it."""
    lines = stops.lines(look, way)
    at = next((i for i, line in enumerate(lines) if line.key == chosen.stage), len(lines) - 1)
    show(way_view(lines[: at + 1], chosen.stage), "inside-before", lambda: choose.toggle(choice("inside-before")["key"]))
    pictures: list[Picture] = []
    if chosen.stage:
        with st.container(key="inside-stage"), picture(f"The stage “{lines[at].name}”"):
            pictures = open_one(look, way, chosen)
    if rest := lines[at + 1 :]:
        show(way_view(rest), "inside-after", lambda: choose.toggle(choice("inside-after")["key"]))
    if (labels := look.model.info.labels) and way.stages[-1].name != "choice":
        token = named(look.spell_tokens(look.trace.read)[look.predicted_at].text)
        head = f"`{type(look.model.network).__name__}`"
        say(HERE, "labels of all" if labels.pooled else "labels", token=plain(token), head=head)
    return pictures


def open_one(look: Look, way: inside.Way, chosen: choose.Selection) -> list[Picture]:
    """Draw the open stage."""
    if chosen.stage in stops.BEGINNING:
        return beginning.draw(look, chosen.stage)
    if chosen.stage == stops.ORDER:
        st.caption(formulas.explanation(HERE, stops.ORDER, {}))
        return order.draw(look)
    stage = recipes.stage_of(way, chosen.stage)
    if stage.missing:
        st.info(plain(stage.missing), icon=":material/visibility_off:")
    if not recipes.known(stage):
        return []
    here = detail.open_stage(look, way, stage, chosen)
    pictures = {"ids": beginning.ids, "choice": ending.draw}.get(stage.name, detail.draw)(here)
    return [*pictures, *(neurons.draw(here) if stage.name == "feed-forward" else [])]


heads.side_bar(picker.in_use())
shell.live(HERE, draw)
