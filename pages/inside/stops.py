"""The list of all stages on the page: those of the text, and those of the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analysis import inside
from models.trace import Attention
from pages.inside import choose, formulas, kept, naming, recipes
from ui import state
from ui.look import Look
from ui.memory import visitors
from ui.picture.picture import Numbers, Picture
from viz.views.way_view import Stop

HERE = Path(__file__).parent
BEGINNING = ("text", "pieces")
ORDER = "order"  # no stage, but something to try with all of them
PER_TOKEN = ("feed-forward", "router", "expert", "output")  # begin the names of stages of the feed-forward part


def current_way(look: Look) -> inside.Way:
    """Return the way of this text through the block that is looked at; it is followed once per visitor."""
    stack, layer = choose.block(look)
    count = len(look.trace.target if stack == "decoder" else look.trace.tokens)
    stage = state.linked_value(state.STAGE) or state.STAGE.get()
    return kept.way(visitors.me(), look.model, look.trace, stack, layer, min(look.token, count - 1), stage)


def names(way: inside.Way) -> list[inside.Stage | str]:
    """Return the stages in order; those without numbers by name."""
    return [*BEGINNING, *way.stages, ORDER]


def every(attention: Attention, beginner: bool) -> str:
    """Return which blocks there are, in words: " of 6" for a beginner, else " (L0 to L5)"; where blocks without attention stand
    between, those with attention, and for a beginner nothing."""
    numbers = attention.numbers
    if numbers != tuple(range(len(numbers))):
        return "" if beginner else f" ({', '.join(f'L{number}' for number in numbers)})"
    return f" of {len(numbers)}" if beginner else f" (L0 to L{numbers[-1]})" if len(numbers) > 1 else ""


def groups(look: Look, way: inside.Way) -> list[str]:
    """Return the heading of the group of each stage: a part of the block, or ""."""
    attention, stack = look.trace.attention[way.stack], "" if way.stack == "self" else f"{way.stack.capitalize()}, "
    number = attention.numbers[way.layer]
    block = f"block {number + 1 if look.beginner else f'L{number}'}{every(attention, look.beginner)}"
    part, headings = "attention", []
    for stage in names(way):
        if isinstance(stage, str) or stage.layer is None:
            headings.append("Try it" if stage == ORDER else "")
            continue
        if stage.name.startswith("cross"):
            part = "cross-attention"
        elif stage.axes[-1] == "neuron" or stage.name.startswith(PER_TOKEN):
            part = "each token by itself" if not look.beginner else "each piece by itself"
        where = f"{stack}{block}: {part}"
        headings.append(f"{where[0].upper()}{where[1:]}")
    return headings


def lines(look: Look, way: inside.Way) -> list[Stop]:
    """Return a line for each stage."""
    stops, heads = [], look.trace.attention[way.stack].heads
    for stage, where in zip(names(way), groups(look, way), strict=True):
        name, gist = formulas.first_line(HERE, stage)
        if isinstance(stage, str):
            stops.append(Stop(stage, name, gist, group=where))
        elif not recipes.known(stage):
            stops.append(Stop(stage.name, name, gist, "", None, where))
        else:
            stops.append(
                Stop(stage.name, name, gist, naming.shape(look, stage), recipes.row(stage, look.token, look.head, heads), where)
            )
    return stops


def glance(look: Look, way: inside.Way, chosen: choose.Selection) -> Picture:
    """Return the picture of all stages at a glance."""
    stages = names(way)
    keys = [stage if isinstance(stage, str) else stage.name for stage in stages]
    options = {
        "stack": way.stack, "layer": way.layer, "head": look.head, "chosen": chosen.stage,
        "around": recipes.nearest(way.stages[0], look.token),
        "stops": [
            [key, formulas.name(HERE, stage), where]
            for key, stage, where in zip(keys, stages, groups(look, way), strict=True)
        ],
    }  # fmt: skip

    def strips() -> dict[str, Numbers]:
        heads = look.trace.attention[way.stack].heads
        each = {stage.name: recipes.row(stage, look.token, look.head, heads) for stage in way.stages}
        return {name: Numbers(np.asarray(values), (f"number of {name}",)) for name, values in each.items() if values is not None}

    return Picture(
        recipes.strip, (look,), options, "inside-strip", strips, words=look.head_name, title="All stages",
        takes=("model", "trace"), known={"way": way},
    )  # fmt: skip
