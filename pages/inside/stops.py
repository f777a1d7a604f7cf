"""All stages of the way, as they stand on the page: those of the text, and those of the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analysis import inside
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


def way(look: Look) -> inside.Way:
    """The way of this text through the block that is looked at, followed once."""
    stack, layer = choose.block(look)
    count = len(look.trace.target if stack == "decoder" else look.trace.tokens)
    asked = state.waits(state.STAGE) or state.STAGE.get()
    return kept.way(visitors.me(), look.model, look.trace, stack, layer, min(look.token, count - 1), asked)


def names(found: inside.Way) -> list[inside.Stage | str]:
    """The stages in their order; those without numbers by their names."""
    return [*BEGINNING, *found.stages, ORDER]


def groups(look: Look, found: inside.Way) -> list[str]:
    """What each stage belongs to: a part of the block, or nothing."""
    layers, stack = look.trace.attention[found.stack].layers, "" if found.stack == "self" else f"{found.stack.capitalize()}, "
    every = f" (L0 to L{layers - 1})" if layers > 1 else ""
    block = f"block {found.layer + 1} of {layers}" if look.beginner else f"block {look.named(found.layer)}{every}"
    part, made = "attention", []
    for stage in names(found):
        if isinstance(stage, str) or stage.layer is None:
            made.append("Try it" if stage == ORDER else "")
            continue
        if stage.name.startswith("cross"):
            part = "cross-attention"
        elif stage.axes[-1] == "neuron" or stage.name.startswith(PER_TOKEN):
            part = "each token by itself" if not look.beginner else "each piece by itself"
        where = f"{stack}{block}: {part}"
        made.append(f"{where[0].upper()}{where[1:]}")
    return made


def lines(look: Look, found: inside.Way) -> list[Stop]:
    """A line for each stage."""
    made, heads = [], look.trace.attention[found.stack].heads
    for stage, where in zip(names(found), groups(look, found), strict=True):
        name, gist = formulas.first_line(HERE, stage)
        if isinstance(stage, str):
            made.append(Stop(stage, name, gist, group=where))
        elif not recipes.known(stage):
            made.append(Stop(stage.name, name, gist, "", None, where))
        else:
            made.append(
                Stop(stage.name, name, gist, naming.shape(look, stage), recipes.row(stage, look.token, look.head, heads), where)
            )
    return made


def glance(look: Look, found: inside.Way, chosen: choose.Chosen) -> Picture:
    """All stages at a glance."""
    stages = names(found)
    keys = [one if isinstance(one, str) else one.name for one in stages]
    options = {
        "stack": found.stack, "layer": found.layer, "head": look.head, "chosen": chosen.stage,
        "around": recipes.nearest(found.stages[0], look.token),
        "stops": [
            [key, formulas.name(HERE, one), where]
            for key, one, where in zip(keys, stages, groups(look, found), strict=True)
        ],
    }  # fmt: skip

    def strips() -> dict[str, Numbers]:
        heads = look.trace.attention[found.stack].heads
        each = {one.name: recipes.row(one, look.token, look.head, heads) for one in found.stages}
        return {name: Numbers(np.asarray(values), (f"number of {name}",)) for name, values in each.items() if values is not None}

    return Picture(
        recipes.strip, (look,), options, "inside-strip", strips, words=look.head_name, title="All stages",
        takes=("model", "trace"), known={"way": found},
    )  # fmt: skip
