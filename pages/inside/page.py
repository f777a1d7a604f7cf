"""Page "Inside": the path of a text through a model, stage by stage, with the calculation of each number."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import streamlit as st

from analysis import inside
from pages.inside import choose, folding, parts, stops, walk
from pages.inside import state as page_state
from pages.inside.compose import HERE, compose
from pages.inside.detail import GLIMPSE, KEY
from pages.inside.live import BY_RUNS, compose_from
from pages.inside.neurons import panel as neurons
from pages.inside.opened import OpenStage
from pages.inside.order import panel as order
from pages.inside.pieces import panel as pieces
from pages.inside.settings import Below, Glimpse, Opened, Passage, Settings, Stages, Tokenizer
from pages.inside.spots import Selection
from ui import shell
from ui.choices import heads, picker
from ui.live.connect import Live
from ui.look import Look
from ui.picture.board import Board, Draft, joined
from ui.picture.mount import composed, mount, mount_all
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import choice, picture


@dataclass
class Open:
    """The open stage as a run has placed it. board: its own; more: pictures of its panel; tokenizer: the other one beside the
    model's own; columns: the count of numbers and the number for which there is a slider, and where it stands; is_whole: whether
    all of it was placed."""

    board: Board = field(default_factory=lambda: Board({}))
    more: list[Picture] = field(default_factory=list)
    tokenizer: Tokenizer | None = None
    columns: tuple[int, int, int] | None = None
    is_whole: bool = True

    def slider(self, count: int, at: int) -> int:
        self.columns = (count, at, walk.last_column(count, at))
        return self.columns[-1]


def draw(look: Look) -> Live | None:
    look = parts.follow_label(choose.text(look))
    way = walk.current_way(look)
    choose.begin(look, "pieces")
    chosen = choose.selection(parts.shapes(look, way), parts.names(way))
    board = composed(compose, look, Settings(chosen, every_stage=page_state.EVERY_STAGE.get()), Stages(way))
    above = shell.above()
    with above:
        mount(board, stops.FOLLOWED)
    if stops.STRIP in board.contents:
        with st.container(key="inside-glance"):
            mount(board, stops.STRIP, toggled(stops.STRIP))
    mount(board, stops.BEFORE, toggled(stops.BEFORE))
    here = Open()
    if chosen.stage:
        name = stops.stage_name(Draft(HERE, look), way, chosen.stage)
        with st.container(key="inside-stage"), picture(f"The stage “{name}”"):
            here.is_whole = False
            open_one(here, look, way, chosen)
            here.is_whole = True
        go_on(look, way, chosen.stage)
    if stops.AFTER in board.contents:
        mount(board, stops.AFTER, toggled(stops.AFTER))
    if stops.folds(look):
        folding.stages_button(stops.small(way))
    below = composed(compose, look, Settings(chosen), Below(way))
    mount_all(below)
    if pictures := [*board.pictures, *here.board.pictures, *here.more]:
        with above, picture("“Take it away”"):
            take_away("inside", lambda: pictures)
    return live(look, chosen, here, joined([board, here.board, below]))


def go_on(look: Look, way: inside.Way, open_stage: str) -> None:
    """Draw the button to the stage after the open one, for beginners."""
    if not look.beginner:
        return
    station = stops.stations(way).get(open_stage, open_stage)
    if stop := stops.next_stop(Draft(HERE, look), way, station):
        folding.next_button(stop)


def toggled(key: str) -> Callable[[], None]:
    """Return the callback for clicks on a list of stages."""
    return lambda: choose.toggle(choice(key)["key"])


def clicks(here: OpenStage) -> dict[str, Callable[[], None]]:
    """Return the callbacks for clicks on the boards of a stage."""
    return {key: partial(walk.react, here, key) for key in (KEY, GLIMPSE)}


def open_one(here: Open, look: Look, way: inside.Way, chosen: Selection) -> None:
    """Draw the open stage with all that is in it."""
    is_unfolded = folding.is_unfolded(chosen)
    for reading in parts.of_stage(look, way, chosen, here.slider, is_unfolded):
        with_neurons = reading.here if isinstance(reading, Opened) and chosen.stage == "feed-forward" else None
        if with_neurons and look.level != "expert":  # the neurons come first, and the numbers that they give below them
            draw_neurons(here, with_neurons)
        board = composed(compose, look, Settings(chosen), reading)
        here.board = joined([here.board, board])
        mount_all(board, clicks(reading.here) if isinstance(reading, Glimpse | Opened) else None)
        if isinstance(reading, Glimpse) and reading.folds:
            folding.button(reading.here, is_unfolded)
        if with_neurons and look.level == "expert":
            draw_neurons(here, with_neurons)
    if chosen.stage == "pieces":
        cuts, here.tokenizer = pieces.draw(look)
        here.board = joined([here.board, cuts])
    elif chosen.stage == stops.ORDER:
        here.more += order.draw(look)


def draw_neurons(here: Open, stage: OpenStage) -> None:
    """Draw the neurons of the feed-forward, which intermediate readers unfold."""
    is_unfolded = folding.shows_neurons(stage.look)
    if stage.look.level == "intermediate":
        mount_all(composed(compose, stage.look, Settings(), Passage(stage)))
        folding.neurons_button(is_unfolded)
    if is_unfolded:
        here.more += neurons.draw(stage)


def live(look: Look, chosen: Selection, here: Open, board: Board) -> Live | None:
    """Return what the line needs of the page; None where a stage has controls that depend on the text."""
    if not here.is_whole or chosen.stage in BY_RUNS or (here.columns and chosen.index is None):
        return None
    values = dict(zip(("stage", "cell", "trail"), choose.written(), strict=True)) | {
        "block": page_state.BLOCK.get(),
        "every": page_state.EVERY_STAGE.get(),
        "text": look.beginner and look.kind == "encoder",
        "columns": here.columns,
        "word": page_state.PIECE_WORD.get(),
        "steps": page_state.PIECES_UNFOLDED.get(),
    }
    return Live(partial(compose_from, other=here.tokenizer), board, values)


heads.side_bar(picker.in_use())
shell.live(HERE, draw)
