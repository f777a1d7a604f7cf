"""The first look at an open stage for beginners: a sentence or two about the chosen token, and one small picture."""

from __future__ import annotations

import re

import numpy as np

from analysis import inside
from pages.inside import formulas, morals, naming, recipes, stops
from pages.inside.detail import ALREADY_DRAWN, GLIMPSE, drawings, map_hidden
from pages.inside.neurons import recipes as neurons
from pages.inside.opened import OpenStage
from ui.escaping import starred
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz import Card
from viz.numbers import whole_percent
from viz.tokens import label, named

FIRST = next(names for names, _ in stops.STATIONS if "embeddings" in names)  # the first stages with a row for each token


def add(draft: Draft, here: OpenStage) -> None:
    """Add the words about the stage, with the strongest number of the token, and its small picture."""
    stage = here.stage
    index = strongest(here)
    facts = naming.facts(here.look, stage, index) | computed(draft, here, index)
    about = f"{sentences(draft, here, facts)} {morals.of_stage(draft, here)}".rstrip()
    if stops.stations(here.way)[stage.name] != stage.name:  # the open station has another name
        about = f"**{formulas.name(draft, stage)}.** {about}"
    if stage.name in ALREADY_DRAWN:
        below_map = f"{draft.words('map')} {map_hidden(draft, here)}".rstrip()
        part = draft.picture(map_of(draft, here), about, below_map)
    else:
        part = draft.picture(strip(draft, here), about, below(draft, here, facts))
    draft.add_cards(GLIMPSE, [Card([part])], formulas.name(draft, stage))


def strongest(here: OpenStage) -> tuple[int, ...]:
    """Return the index of the strongest number in the token's row; of scores of tokens or labels, of the largest."""
    row = here.place[0]
    values = recipes.plane(here.stage, [row], here.head)[0]
    sizes = values if here.stage.axes[-1] in recipes.OUTCOMES else np.abs(values)
    return here.at(row, int(np.argmax(np.where(np.isfinite(values), sizes, -np.inf))))


def sentences(draft: Draft, here: OpenStage, facts: dict[str, str]) -> str:
    """Return the words about a stage: its own short ones, or its explanation and a sentence about its strongest number."""
    if heading := own_heading(draft, here.stage, facts):
        return draft.words(heading, **facts)
    axis = here.stage.axes[-1]
    if axis in recipes.OUTCOMES:
        kind = "outcome"
    elif axis == naming.row_axis(here.stage):
        kind = "single"
    else:
        kind = "pair" if axis in naming.TOKENS else "row"
    return f"{formulas.explanation(draft, here.stage, facts)} {draft.words(f'strongest {kind}', **facts)}"


def own_heading(draft: Draft, stage: inside.Stage, facts: dict[str, str]) -> str:
    """Return the heading of a stage's own short words, for which every fact is known; "" without such words."""
    plain = re.sub(r" \d+$", "", stage.name)
    needed = {"mixed values": "most", "feed-forward": "neuron", "blocks": "layers"}
    for candidate in (plain, plain.removeprefix(formulas.CROSS)):
        is_known = candidate not in needed or needed[candidate] in facts
        if is_known and draft.words(heading := f"glimpse {candidate}", **facts):
            return heading
    return ""


def computed(draft: Draft, here: OpenStage, index: tuple[int, ...]) -> dict[str, str]:
    """Return the numbers of this text that only some stages have in their words."""
    stage, way, row = here.stage, here.way, here.place[0]
    if stage.name in ALREADY_DRAWN:
        return {"share": whole_percent(float(stage.at(index)))}
    if stage.name.endswith("mixed values"):
        return attended(here, stage.name.replace("mixed values", "weights"))
    if stage.name == "feed-forward":
        return firing(way, row)
    if stage.name == "blocks" and first_stage(here):
        return {"layers": str(here.look.trace.attention[way.stack].layers)}
    return {}


def attended(here: OpenStage, name: str) -> dict[str, str]:
    """Return the token that the chosen token attends to most, and its share; nothing where the weights are not known."""
    weights = next((stage for stage in here.way.stages if stage.name == name and recipes.known(stage)), None)
    if weights is None:
        return {}
    shares = recipes.plane(weights, [here.place[0]], here.head)[0]
    best = int(np.nanargmax(shares))
    return {"most": naming.along(here.look, weights, weights.axes[-1], best), "share": whole_percent(float(shares[best]))}


def firing(way: inside.Way, position: int) -> dict[str, str]:
    """Return the neuron that fires most at a position; nothing where the neurons are not known."""
    try:
        listed = neurons.strongest(way, position, 1, None)
    except ValueError:
        return {}
    neuron = listed.neurons[0]
    count = listed.count * max(1, len(listed.experts))
    return {"neuron": neurons.name_of(neuron.expert, neuron.number), "count": f"{count:,}"}


def add_passage(draft: Draft, here: OpenStage) -> None:
    """Say how the chosen token passes through a feed-forward, from its input to its output."""
    if known := firing(here.way, here.place[0]):
        draft.note("inside-passage", "passage", **naming.facts(here.look, here.stage, here.index), **known)


def first_stage(here: OpenStage) -> inside.Stage | None:
    """Return the first stage with a row for each token, if it can stand beside the open one; else None."""
    first = next((stage for name in FIRST for stage in here.way.stages if stage.name == name), None)
    same = first is not None and recipes.known(first) and naming.sizes(here.look, first) == naming.sizes(here.look, here.stage)
    return first if same else None


def rows_of(here: OpenStage) -> list[inside.Stage]:
    """Return the stages whose rows of the token the small picture shows: the open one, after all layers also the first."""
    first = first_stage(here) if here.stage.name == "blocks" else None
    return [first, here.stage] if first else [here.stage]


def compared(here: OpenStage) -> list[int]:
    """Return the places of the tokens whose embeddings are most and least like the chosen token's; [] for other stages."""
    if here.stage.name != "embeddings" or not recipes.in_squares(here.stage, naming.sizes(here.look, here.stage)[-1]):
        return []
    places, cosines = morals.other_rows(here)
    return [places[int(cosines.argmax())], places[int(cosines.argmin())]] if len(places) > 1 else []


def handed(here: OpenStage) -> list[tuple[str, int, int]]:
    """Return the stage, the position and the head of the row that the chosen token mixes most of; [] for other stages."""
    known = {stage.name: stage for stage in here.way.stages if recipes.known(stage)}
    if here.stage.name != "mixed values" or not {"weights", "values"} <= known.keys():
        return []
    values, heads = known["values"], here.look.trace.attention[here.way.stack].heads
    if values.sizes[-1] != here.stage.sizes[-1] or not recipes.in_squares(here.stage, here.stage.sizes[-1]):
        return []
    best = int(np.nanargmax(recipes.plane(known["weights"], [here.place[0]], here.head)[0]))
    return [("values", best, recipes.layer_of(values, here.head, heads))]


def below(draft: Draft, here: OpenStage, facts: dict[str, str]) -> str:
    """Return the words below the small picture."""
    row = recipes.plane(here.stage, [here.place[0]], here.head)[0]
    whole, has_signs = len(row), bool((row < 0).any())
    if recipes.in_squares(here.stage, whole):
        sizes = sorted({len(part) for part in recipes.members(whole)})
        again = "" if here.stage.name in FIRST else " again"
        parts = [draft.words(f"squares{again}", each=" or ".join(map(str, sizes)), squares=str(recipes.SQUARES), **facts)]
        if others := compared(here):
            tokens = naming.tokens(here.look, here.stage, "token")
            like, unlike = (starred(f"“{named(tokens[place].text)}”") for place in others)
            parts.append(draft.words("squares compared", like=like, unlike=unlike))
        if handed(here):
            parts.append(draft.words("squares handed", **{**facts, "most": starred(facts["most"])}))
        parts.append(draft.words("squares press"))
        if here.place[1] == strongest(here)[-1]:
            parts.append(draft.words(f"squares strongest{again}", **facts))
        return " ".join(parts)
    parts = [draft.words("strip signed" if has_signs else "strip", **facts)]
    if len(here.columns) < whole:
        parts.append(draft.words("strip part", part=f"{len(here.columns):,}", whole=f"{whole:,}"))
    return " ".join(parts)


def map_of(draft: Draft, here: OpenStage) -> Picture:
    """Return the whole map of a stage, as a part of this board."""
    return drawings(draft, here, GLIMPSE)["matrix"]


def column_at(here: OpenStage, stage: inside.Stage, place: int, row: int | None = None) -> int:
    """Return the number of a place of the strip; of a square, its strongest. row: by default the chosen token's."""
    values = recipes.plane(stage, [here.place[0] if row is None else row], here.head)[0]
    if not recipes.in_squares(stage, len(values)):
        return here.columns[place]
    part = recipes.members(len(values))[place]
    return part[int(np.abs(values[part]).argmax())]


def pressed(here: OpenStage, line: int, place: int) -> tuple[inside.Stage, int, int]:
    """Return the stage, the row and the column of a place in a line of the strip."""
    stages = rows_of(here)
    if handed(here):  # both rows lead to the number that arrives
        return here.stage, here.place[0], column_at(here, here.stage, place)
    stage, row = stages[min(line, len(stages) - 1)], [*[here.place[0]] * len(stages), *compared(here)][line]
    return stage, row, column_at(here, stage, place, row)


def strip(draft: Draft, here: OpenStage) -> Picture:
    """Return the row of the token as a strip of colours; after all layers, below the row with which it began."""
    look, stage, row = here.look, here.stage, here.place[0]
    row_stages = rows_of(here)
    column = here.place[1]  # the one that is explained: the strongest, where none was pressed
    ends = [draft.words("row first"), draft.words("row last")]
    others, sources = compared(here), handed(here)
    names = ends if len(row_stages) > 1 else naming.rows(look, stage, [row, *others])
    if sources:
        tokens = naming.tokens(look, stage, "token")
        names = [draft.words("row mixed"), draft.words("row handed", most=label(tokens[sources[0][1]].text))]
    whole = naming.sizes(look, stage)[-1]
    if joined := recipes.in_squares(stage, whole):
        parts = recipes.members(whole)
        columns, column_names = list(range(len(parts))), [f"{part[0]} to {part[-1]}" for part in parts]
        chosen = next(i for i, part in enumerate(parts) if column in part)
    else:
        columns, column_names = here.columns, naming.columns(look, stage, here.columns)
        chosen = columns.index(column) if column in columns else -1
    options = {
        "head": here.head,
        "stages": [each.name for each in row_stages],
        "at": row,
        "columns": columns,
        "names": names,
        "column_names": column_names,
        "across": "numbers" if joined else naming.axes(look, stage)[1],
        "chosen": chosen,
        "joined": joined,
        "others": others,
        "sources": sources,
    }

    def values() -> dict[str, Numbers]:
        rows = [recipes.plane(each, [row], here.head) for each in row_stages]
        rows += [recipes.plane(stage, [other], here.head) for other in others]
        rows += [recipes.plane(recipes.stage_of(here.way, name), [at], head) for name, at, head in sources]
        arrays = [(recipes.peaks(values) if joined else values)[0, columns] for values in rows]
        return {"value": Numbers(np.array(arrays), ("row", "number"), {"row": names, "number": column_names})}

    return Picture(
        recipes.glimpse,
        (look,),
        {name: value for name, value in here.base.items() if name != "stage"} | options,
        GLIMPSE,
        values,
        words=f"{formulas.name(draft, stage)} in {look.head_name}",
        title="The row at a glance",
        part="strip",
        takes=("model", "trace"),
        known={"way": here.way},
    )
