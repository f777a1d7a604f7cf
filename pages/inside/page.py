"""Page "Inside": the way of a text through a model, stage by stage, and how each number of it came about."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from analysis import inside
from pages.inside import choose, naming, recipes, stops, walk
from pages.inside.compose import HERE, compose
from pages.inside.detail import KEY
from pages.inside.neurons import panel as neurons
from pages.inside.opened import open_stage
from pages.inside.order import panel as order
from pages.inside.pieces import panel as pieces
from pages.inside.settings import Below, Explained, Hidden, Opened, Settings, Stages
from pages.inside.spots import Selection
from ui import shell
from ui.choices import heads, picker
from ui.look import Look
from ui.picture.board import Draft
from ui.picture.mount import composed, mount, mount_all
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import choice, picture


def draw(look: Look) -> None:
    look = choose.follow_label(choose.text(look))
    way = walk.current_way(look)
    shapes = {stage.name: naming.sizes(look, stage) for stage in way.stages if recipes.known(stage)}
    chosen = choose.selection(shapes, [*stops.BEGINNING, stops.ORDER, *(stage.name for stage in way.stages)])
    board = composed(compose, look, Settings(chosen), Stages(way))
    above = shell.above()
    with above:
        mount(board, stops.FOLLOWED)
    if stops.STRIP in board.contents:
        with st.container(key="inside-glance"):
            mount(board, stops.STRIP, toggled(stops.STRIP))
    mount(board, stops.BEFORE, toggled(stops.BEFORE))
    pictures = [*board.pictures]
    if chosen.stage:
        name = stops.stage_name(Draft(HERE, look), way, chosen.stage)
        with st.container(key="inside-stage"), picture(f"The stage “{name}”"):
            pictures += open_one(look, way, chosen)
    if stops.AFTER in board.contents:
        mount(board, stops.AFTER, toggled(stops.AFTER))
    mount_all(composed(compose, look, Settings(), Below(way)))
    if pictures:
        with above, picture("“Take it away”"):
            take_away("inside", lambda: pictures)


def toggled(key: str) -> Callable[[], None]:
    """Return what a click on a list of stages does."""
    return lambda: choose.toggle(choice(key)["key"])


def open_one(look: Look, way: inside.Way, chosen: Selection) -> Sequence[Picture]:
    """Draw the open stage with all that is in it."""
    if chosen.stage in (*stops.BEGINNING, stops.ORDER):
        mount_all(composed(compose, look, Settings(), Explained(chosen.stage)))
        return {"pieces": pieces.draw, stops.ORDER: order.draw}.get(chosen.stage, lambda look: [])(look)
    stage = recipes.stage_of(way, chosen.stage)
    if stage.missing:
        mount_all(composed(compose, look, Settings(), Hidden(stage.missing)))
    if not recipes.known(stage):
        return []
    here = open_stage(look, way, stage, chosen, walk.last_column)
    board = composed(compose, look, Settings(chosen), Opened(here))
    pictures = mount_all(board, {KEY: partial(walk.react, here)})
    return [*pictures, *(neurons.draw(here) if stage.name == "feed-forward" else [])]


heads.side_bar(picker.in_use())
shell.live(HERE, draw)
