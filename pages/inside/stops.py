"""The list of all stages on the page: those of the text, and those of the model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis import inside
from models.trace import Attention
from pages.inside import formulas, happened, morals, naming, recipes
from pages.inside.settings import Settings
from ui.escaping import starred
from ui.look import Look
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz.tokens import named
from viz.views.way_view import ONE_SIDE, Stop, way_view

FOLLOWED, STRIP, BEFORE, AFTER = "inside-followed", "inside-strip", "inside-before", "inside-after"
BEGINNING = ("text", "pieces")
ORDER = "order"  # no stage, but something to try with all of them
# Where a beginner stops: the stages of which the first that there is opens, and how the names of the stages begin with which its
# part of the way begins.
STATIONS = (
    (("pieces",), ("text",)),
    (("embeddings", "embedding sum", "stream"), ("embeddings", "embedding sum", "stream")),
    (("weights",), ("queries", "keys", "values", "latent", "products", "scores", "weights")),
    (("mixed values",), ("mixed values",)),
    (("cross weights",), ("cross",)),
    (("feed-forward", "expert answers"), ("feed-forward", "gate", "up", "router", "expert")),
    (("blocks", "output"), ("output", "blocks")),
    (("choice", "probabilities", "logits", "unembedding"), ("unembedding", "logits", "probabilities", "choice")),
)
# The numbered stages, which intermediate readers see before they unfold the others: of each group, the first that there is.
MAIN = (
    ("embeddings", "embedding sum", "stream"),
    ("queries",),
    ("keys",),
    ("values",),
    ("scores",),
    ("weights",),
    ("mixed values",),
    ("attention stream",),
    ("cross weights",),
    ("feed-forward", "expert answers"),
    ("output",),
    ("choice", "probabilities", "logits", "unembedding"),
)
PER_TOKEN = ("feed-forward", "router", "expert", "output")  # begin the names of stages of the feed-forward part


def add(draft: Draft, settings: Settings, way: inside.Way) -> None:
    """Add the list of all stages, in two halves around the open one, with an overview of all stages above it."""
    draft.add_words(FOLLOWED, followed(draft, settings, way))
    open_stage = settings.selection.stage
    if draft.look.beginner:
        open_stage = stations(way).get(open_stage, open_stage)
    if open_stage or draft.look.level == "expert":  # a short list is seen at a glance by itself
        draft.add(glance(draft, way, open_stage), STRIP)
    stages = lines(draft, way, open_stage, settings.every_stage)
    at = next((i for i, line in enumerate(stages) if line.key == open_stage), len(stages) - 1)
    ends = ("looks little", "looks a lot") if draft.look.beginner else ONE_SIDE  # beginners see no other such strip
    draft.contents[BEFORE] = way_view(stages[: at + 1], open_stage, explained=stages, ends=ends)
    if rest := stages[at + 1 :]:
        draft.contents[AFTER] = way_view(rest)


def add_labels(draft: Draft, way: inside.Way) -> None:
    """Say what a classifier does after the last stage with numbers."""
    look = draft.look
    if (labels := look.model.info.labels) and way.stages[-1].name != "choice":
        token = named(look.spell_tokens(look.trace.read)[look.predicted_at].text)
        head = f"`{type(look.model.network).__name__}`"
        heading = "labels of all" if labels.pooled else "labels"
        draft.add_words("inside-labels", draft.words(heading, token=starred(token), head=head))


def followed(draft: Draft, settings: Settings, way: inside.Way) -> str:
    """Say what the model guesses after the followed token, through which head it is followed, and where it looks most there."""
    look = draft.look
    token = starred(named(look.spell_tokens(look.attention.queries)[look.token].text))
    attention = look.trace.attention[way.stack]
    layer = attention.numbers[way.layer]  # a beginner may have followed a number into another one
    where = {"heads": attention.heads, "head": f"L{layer} H{look.head}", "layer": layer, "number": look.head}
    first = look.favourite
    chosen_by = f" {draft.words(f'why {first.does}')}".rstrip() if (first.layer, first.head) == (way.layer, look.head) else ""
    which = draft.words("through", **where) if attention.heads > 1 else ""
    if which and chosen_by:
        which = f"{which} {draft.words('through why', why=chosen_by)}".rstrip()
    facts = morals.answer(draft, way)
    guess = draft.words("followed guess", token=token, **facts) if facts else ""
    weights = next((stage for stage in way.stages if stage.name == "weights" and recipes.known(stage)), None)
    most = (
        ""
        if weights is None or look.level != "intermediate"
        else morals.scored_most(draft, way, weights, recipes.nearest(weights, look.token))
    )
    how = draft.words("followed press", main=len(main(way)))
    if settings.every_stage:
        how = draft.words("followed press all", main=len(main(way))) or how
    return " ".join(
        filter(None, [guess, draft.words("followed", token=token, head=look.head_name, why=chosen_by), which, most, how])
    )


def names(way: inside.Way) -> list[inside.Stage | str]:
    """Return the stages in order; those without numbers by name."""
    return [*BEGINNING, *way.stages, ORDER]


def key_of(stage: inside.Stage | str) -> str:
    return stage if isinstance(stage, str) else stage.name


def stations(way: inside.Way) -> dict[str, str]:
    """Return, by the name of each stage, the one of a beginner's seven steps that contains it."""
    keys = [key_of(stage) for stage in names(way)]
    opens = [next((name for name in offered if name in keys), "") for offered, _ in STATIONS]
    under, at = {}, 0
    for key in keys:
        later = [i for i, (_, begins) in enumerate(STATIONS) if i > at and opens[i] and key.startswith(begins)]
        at = later[0] if later else at
        under[key] = key if key == ORDER else opens[at]
    return under


def main(way: inside.Way) -> list[str]:
    """Return the names of the main stages."""
    keys = {key_of(stage) for stage in names(way)}
    return [next(name for name in offered if name in keys) for offered in MAIN if keys.intersection(offered)]


def small(way: inside.Way) -> int:
    """Return how many stages are neither main ones nor the trial of another order."""
    return len(names(way)) - len(main(way)) - 1


def folds(look: Look) -> bool:
    """Return whether the small stages are folded until a reader unfolds them."""
    return look.level == "intermediate"


def listed_stages(
    look: Look, way: inside.Way, open_stage: str = "", every_stage: bool = False
) -> list[tuple[inside.Stage | str, str]]:
    """Return the stages that are listed, with the headings of their groups: all; for a beginner the stations; at intermediate,
    until all are unfolded, the main ones and the open one."""
    stages = list(zip(names(way), groups(look, way), strict=True))
    if look.level == "expert" or (every_stage and folds(look)):
        return stages
    listed = {*main(way), open_stage, ORDER} if folds(look) else set(stations(way).values())
    return [(stage, where) for stage, where in stages if key_of(stage) in listed]


def next_stop(draft: Draft, way: inside.Way, open_stage: str, every_stage: bool = False) -> tuple[str, str] | None:
    """Return the key and the name of the listed stage after the open one; None after the last."""
    listed = [stage for stage, _ in listed_stages(draft.look, way, open_stage, every_stage)]
    keys = [key_of(stage) for stage in listed]
    at = keys.index(open_stage) + 1 if open_stage in keys else len(keys)
    return (keys[at], formulas.name(draft, listed[at])) if at < len(keys) else None


def numbered(look: Look, way: inside.Way) -> dict[str, str]:
    """Return the numbers of the stages that have one, as "3. ", by their names."""
    counted = main(way) if folds(look) else []
    return {name: f"{number}. " for number, name in enumerate(counted, 1)}


def stage_name(draft: Draft, way: inside.Way, key: str) -> str:
    """Return the name of a stage in the list."""
    return formulas.name(draft, next(stage for stage in names(way) if key == (stage if isinstance(stage, str) else stage.name)))


def every(attention: Attention) -> str:
    """Return the layers as " (of L0 to L5)"; if some layers have no attention, those with attention."""
    numbers = attention.numbers
    if numbers != tuple(range(len(numbers))):
        return f" (of {', '.join(f'L{number}' for number in numbers)})"
    return f" (of L0 to L{numbers[-1]})" if len(numbers) > 1 else ""


def groups(look: Look, way: inside.Way) -> list[str]:
    """Return the heading of the group of each stage: a part of the block, or ""."""
    attention, stack = look.trace.attention[way.stack], "" if way.stack == "self" else f"{way.stack.capitalize()}, "
    layer = f"layer L{attention.numbers[way.layer]}{every(attention)}"
    part, headings = "attention", []
    for stage in names(way):
        if isinstance(stage, str) or stage.layer is None:
            headings.append("Try it" if stage == ORDER else "")
            continue
        if stage.name.startswith("cross"):
            part = "cross-attention"
        elif stage.axes[-1] == "neuron" or stage.name.startswith(PER_TOKEN):
            part = "each token by itself"
        where = f"{stack}{layer}: {part}"
        headings.append(f"{where[0].upper()}{where[1:]}")
    return headings


def lines(draft: Draft, way: inside.Way, open_stage: str = "", every_stage: bool = False) -> list[Stop]:
    """Return a line for each listed stage."""
    look = draft.look
    stops, heads, numbers = [], look.trace.attention[way.stack].heads, numbered(look, way)
    earlier, later, is_inside = earlier_layers(draft, way), later_layers(draft, way), False
    listed = listed_stages(look, way, open_stage, every_stage)
    first_group = next((group for _, group in listed if group), "")
    for stage, group in listed:
        is_inside = is_inside or bool(group)
        where = f"{group}{earlier}" if group == first_group else group
        where = where or (later if is_inside else "")
        if look.beginner and where == later:  # the guess, which comes next, is not made by these layers alone
            later = ""
        name, gist = formulas.first_line(draft, stage)
        gist = (happened.line(draft, way, stage) if look.beginner else "") or gist
        name = f"{numbers.get(key_of(stage), '')}{name}"
        if isinstance(stage, str):
            stops.append(Stop(stage, name, gist, group=where))
        elif not recipes.known(stage):
            stops.append(Stop(stage.name, name, gist, "", None, where))
        else:
            stops.append(
                Stop(
                    stage.name,
                    name,
                    gist,
                    "" if look.beginner else naming.shape(look, stage),
                    recipes.row(stage, look.token, look.head, heads, look.beginner),
                    where,
                )
            )
    return stops


def later_layers(draft: Draft, way: inside.Way) -> str:
    """Return a heading that says which layers do the same after the one that is listed; "" after the last one."""
    if way.layer is None:
        return ""
    later = draft.look.trace.attention[way.stack].numbers[way.layer + 1 :]
    return draft.words("same again", layers=layer_names(later)) if later else ""


def earlier_layers(draft: Draft, way: inside.Way) -> str:
    """Return what is added to the first heading of a layer: which layers did the same before; "" for the first one."""
    earlier = draft.look.trace.attention[way.stack].numbers[: way.layer or 0]
    words = draft.words("same before", layers=layer_names(earlier)) if earlier else ""
    return f". {words}" if words else ""


def layer_names(numbers: Sequence[int]) -> str:
    """Return the names of layers as a list in words."""
    names = [f"L{number}" for number in numbers]
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) < 5 else f"{names[0]} to {names[-1]}"


def glance(draft: Draft, way: inside.Way, open_stage: str) -> Picture:
    """Return the picture of all stages at a glance. open_stage: the name of the open one, "" for none."""
    look, numbers = draft.look, numbered(draft.look, way)
    listed = [(key_of(stage), formulas.name(draft, stage), where) for stage, where in listed_stages(look, way, open_stage)]
    options = {
        "stack": way.stack,
        "layer": way.layer,
        "head": look.head,
        "chosen": open_stage,
        "around": recipes.nearest(way.stages[0], look.token),
        "stops": [[key, f"{numbers.get(key, '')}{name}", where] for key, name, where in listed],
        "joined": look.beginner,
    }

    def strips() -> dict[str, Numbers]:
        heads = look.trace.attention[way.stack].heads
        each = {stage.name: recipes.row(stage, look.token, look.head, heads) for stage in way.stages}
        return {name: Numbers(np.asarray(values), (f"number of {name}",)) for name, values in each.items() if values is not None}

    return Picture(
        recipes.strip,
        (look,),
        options,
        STRIP,
        strips,
        words=look.head_name,
        title="All stages",
        takes=("model", "trace"),
        known={"way": way},
    )
