"""The list of all stages on the page: those of the text, and those of the model."""

from __future__ import annotations

import numpy as np

from analysis import inside
from models.trace import Attention
from pages.inside import formulas, naming, recipes
from pages.inside.settings import Settings
from ui.look import Look
from ui.picture.board import Draft, Note
from ui.picture.picture import Numbers, Picture
from ui.text import plain
from viz.tokens import named
from viz.views.way_view import Stop, way_view

FOLLOWED, STRIP, BEFORE, AFTER = "inside-followed", "inside-strip", "inside-before", "inside-after"
BEGINNING = ("text", "pieces")
ORDER = "order"  # no stage, but something to try with all of them
PER_TOKEN = ("feed-forward", "router", "expert", "output")  # begin the names of stages of the feed-forward part


def add(draft: Draft, settings: Settings, way: inside.Way) -> None:
    """Add the list of all stages, in two halves where one is open, and above it all at a glance."""
    draft.contents[FOLLOWED] = Note(followed(draft, way))
    open_stage = settings.selection.stage
    draft.add(glance(draft, way, open_stage), STRIP)
    stages = lines(draft, way)
    at = next((i for i, line in enumerate(stages) if line.key == open_stage), len(stages) - 1)
    draft.contents[BEFORE] = way_view(stages[: at + 1], open_stage)
    if rest := stages[at + 1 :]:
        draft.contents[AFTER] = way_view(rest)


def add_labels(draft: Draft, way: inside.Way) -> None:
    """Say how a classifier goes on after the last stage that has numbers."""
    look = draft.look
    if (labels := look.model.info.labels) and way.stages[-1].name != "choice":
        token = named(look.spell_tokens(look.trace.read)[look.predicted_at].text)
        head = f"`{type(look.model.network).__name__}`"
        draft.note("inside-labels", "labels of all" if labels.pooled else "labels", token=plain(token), head=head)


def followed(draft: Draft, way: inside.Way) -> str:
    """Say which token is followed, and for beginners, who did not choose it, through which head."""
    look = draft.look
    token = plain(named(look.spell_tokens(look.attention.queries)[look.token].text))
    attention = look.trace.attention[way.stack]
    where = {"heads": attention.heads, "block": attention.numbers[way.layer] + 1, "of_all": every(attention, beginner=True)}
    which = draft.words("searchlight", **where) if attention.heads > 1 else ""
    return " ".join(filter(None, [draft.words("followed", token=token, head=look.head_name), which]))


def names(way: inside.Way) -> list[inside.Stage | str]:
    """Return the stages in order; those without numbers by name."""
    return [*BEGINNING, *way.stages, ORDER]


def stage_name(draft: Draft, way: inside.Way, key: str) -> str:
    """Return the name of a stage as the list has it."""
    return formulas.name(draft, next(stage for stage in names(way) if key == (stage if isinstance(stage, str) else stage.name)))


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


def lines(draft: Draft, way: inside.Way) -> list[Stop]:
    """Return a line for each stage."""
    look = draft.look
    stops, heads = [], look.trace.attention[way.stack].heads
    for stage, where in zip(names(way), groups(look, way), strict=True):
        name, gist = formulas.first_line(draft, stage)
        if isinstance(stage, str):
            stops.append(Stop(stage, name, gist, group=where))
        elif not recipes.known(stage):
            stops.append(Stop(stage.name, name, gist, "", None, where))
        else:
            stops.append(
                Stop(stage.name, name, gist, naming.shape(look, stage), recipes.row(stage, look.token, look.head, heads), where)
            )
    return stops


def glance(draft: Draft, way: inside.Way, open_stage: str) -> Picture:
    """Return the picture of all stages at a glance. open_stage: the name of the open one, "" for none."""
    look = draft.look
    stages = names(way)
    keys = [stage if isinstance(stage, str) else stage.name for stage in stages]
    options = {
        "stack": way.stack, "layer": way.layer, "head": look.head, "chosen": open_stage,
        "around": recipes.nearest(way.stages[0], look.token),
        "stops": [
            [key, formulas.name(draft, stage), where]
            for key, stage, where in zip(keys, stages, groups(look, way), strict=True)
        ],
    }  # fmt: skip

    def strips() -> dict[str, Numbers]:
        heads = look.trace.attention[way.stack].heads
        each = {stage.name: recipes.row(stage, look.token, look.head, heads) for stage in way.stages}
        return {name: Numbers(np.asarray(values), (f"number of {name}",)) for name, values in each.items() if values is not None}

    return Picture(
        recipes.strip, (look,), options, STRIP, strips, words=look.head_name, title="All stages",
        takes=("model", "trace"), known={"way": way},
    )  # fmt: skip
