"""The boards of page "Inside": the list of all stages, and the parts of the open one."""

from __future__ import annotations

from pathlib import Path

from pages.inside import beginning, detail, ending, glimpse, stops
from pages.inside.boards import neurons, order, pieces, tokenizers
from pages.inside.opened import OpenStage
from pages.inside.settings import (
    Below,
    Chips,
    Cuts,
    Experts,
    Explained,
    Firings,
    Glimpse,
    Hidden,
    Neurons,
    NoNeurons,
    Opened,
    Orders,
    Passage,
    Reading,
    Settings,
    Stages,
    Tokenizer,
    Unmovable,
)
from ui.escaping import plain
from ui.look import Look
from ui.picture.board import Board, Draft, Note

HERE = Path(__file__).parent
NEURONS, ORDER, PIECES = HERE / "neurons", HERE / "order", HERE / "pieces"  # which have words of their own
ENDS = {"ids": beginning.add_ids, "choice": ending.add}


def compose(look: Look, settings: Settings, reading: Reading) -> Board:
    """Return the board of a part of the page for a text. It does not read the session, so any thread may call it."""
    draft = Draft(folder_of(reading), look)
    match reading:
        case Stages(way):
            stops.add(draft, settings, way)
        case Below(way):
            stops.add_labels(draft, way)
        case Explained(stage):
            beginning.explain(draft, stage)
        case Hidden(sentence):
            draft.contents["inside-hidden"] = Note(plain(sentence), "info", ":material/visibility_off:")
        case Glimpse(here):
            ENDS.get(here.stage.name, glimpse.add)(draft, here)
        case Opened(here):
            add_numbers(draft, here)
        case Passage(here):
            glimpse.add_passage(draft, here)
        case Neurons() | NoNeurons():
            neurons.add(draft, reading)
        case Firings():
            neurons.add_firings(draft, reading)
        case Experts():
            neurons.add_experts(draft, reading)
        case Cuts():
            pieces.add(draft, settings, reading)
        case Tokenizer():
            tokenizers.add(draft, reading)
        case Unmovable():
            order.add_refusal(draft)
        case Chips():
            order.add_chips(draft, reading)
        case Orders():
            order.add(draft, reading)
    return draft.finished()


def add_numbers(draft: Draft, here: OpenStage) -> None:
    """Add all numbers of an open stage; beginners have already seen the main picture of the first and the last one."""
    if not draft.look.beginner:
        ENDS.get(here.stage.name, detail.add)(draft, here)
    elif here.stage.name in ENDS:
        detail.add_end_cell(draft, here)
    else:
        detail.add(draft, here)


def folder_of(reading: Reading) -> Path:
    """Return the folder of a part's words."""
    match reading:
        case Neurons() | NoNeurons() | Firings() | Experts():
            return NEURONS
        case Cuts() | Tokenizer():
            return PIECES
        case Unmovable() | Chips() | Orders():
            return ORDER
    return HERE
