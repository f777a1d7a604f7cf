"""The boards of the neurons: which fire most on a token, what one of them does, and where else it fires."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from analysis import inside
from pages.inside import naming
from pages.inside.neurons import recipes
from pages.inside.opened import OpenStage
from pages.inside.settings import Experts, Firings, Neurons, NoNeurons
from ui.escaping import plain, starred
from ui.look import Look
from ui.picture.board import Draft, Note
from ui.picture.picture import Numbers, Picture
from viz import Card, Part

BOARD, CURVE, SAMPLE = "inside-neurons", "inside-curve", "inside-sample"
TOP = {"beginner": 6, "intermediate": 10, "expert": 20}
WRITTEN = {"silu": "SiLU", "gelu": "GELU", "relu": "ReLU"}  # as papers write what torch calls so
NeuronKey = tuple[int | None, int]  # a neuron by its expert, None without a mixture, and its number


def add(draft: Draft, reading: Neurons | NoNeurons) -> None:
    """Add the list of neurons, the chosen one, its curve, and the title of where else it fires."""
    draft.contents["inside-neurons-title"] = Note(f"##### {draft.words('title')}", "text")
    if isinstance(reading, NoNeurons):
        draft.contents["inside-no-neurons"] = Note(plain(reading.sentence), "info", ":material/visibility_off:")
        return
    add_list(draft, reading)
    with draft.attempt("The curve", CURVE):
        add_curve(draft, reading)
    draft.contents["inside-sample-title"] = Note(f"##### {draft.words('title sample')}", "text")
    if reading.here.way.fired is None:
        draft.note("inside-no-sample", "no sample")


def key_of(neuron: inside.Neuron) -> NeuronKey:
    return neuron.expert, neuron.number


def add_list(draft: Draft, reading: Neurons) -> None:
    """Add the neurons that fire most, and what the chosen one does with this token."""
    here, listed, neuron = reading.here, reading.listed, reading.neuron
    names = facts(here, listed, neuron)
    expert, number = key_of(neuron)
    rows = {"neuron": [recipes.name_of(*key_of(candidate)) for candidate in listed.neurons]}

    def numbers() -> dict[str, Numbers]:
        columns = {name: [getattr(candidate, name) for candidate in listed.neurons] for name in ("before", "after", "fires")}
        return {name: Numbers(np.array(values, np.float32), ("neuron",), rows) for name, values in columns.items()}

    heads = (draft.words("column neuron"), draft.words("column fires"))
    options = {"position": listed.position, "top": TOP[here.look.level], "also": (expert, number), "heads": heads}
    bars = picture_of(here, recipes.bars, options, numbers, "neurons", "The neurons that fire most", {"way": here.way})
    cards = [Card([draft.picture(bars, draft.words("list", **names))], "", 5)]
    pushed = [pushes_picture(draft, here, neuron, listed.position, away) for away in (False, True)] if neuron.towards else []
    does = draft.words("gated" if neuron.factor is not None else "plain", **names)
    parts = [draft.picture(drawing, draft.words(drawing.part, **names)) for drawing in pushed]
    why = "encoder" if here.look.trace.unembed else "labels" if here.look.model.info.labels else "no head"
    missing = draft.words(why) if not pushed else ""
    parts = [Part("words", None, does), *parts, *([Part("words", None, missing)] if missing else [])]
    cards.append(Card(parts, draft.words("one", **names), 6))
    draft.add_cards(BOARD, cards, "The neurons")


def pushes_picture(draft: Draft, here: OpenStage, neuron: inside.Neuron, position: int, away: bool) -> Picture:
    listed = neuron.away if away else neuron.towards

    def numbers() -> dict[str, Numbers]:
        scores = np.array([push.score for push in listed], np.float32)
        return {"score": Numbers(scores, ("token",), {"token": [push.text for push in listed]})}

    heads = (draft.words("column token"), draft.words("column push"))
    options = {"position": position, "expert": neuron.expert, "number": neuron.number, "away": away, "heads": heads}
    title = f"What the neuron pushes {'away from' if away else 'towards'}"
    return picture_of(here, recipes.pushes, options, numbers, "away" if away else "towards", title, {"neuron": neuron})


def add_curve(draft: Draft, reading: Neurons) -> None:
    """Add the activation function, with the number of this token on it."""
    here, listed, neuron = reading.here, reading.listed, reading.neuron
    draft.note("inside-curve-words", "curve gated" if neuron.factor is not None else "curve", **facts(here, listed, neuron))
    options = {
        "position": listed.position,
        "expert": neuron.expert,
        "number": neuron.number,
        "across": draft.words("axis before"),
        "up": draft.words("axis after"),
    }

    def numbers() -> dict[str, Numbers]:
        return {name: Numbers(np.array([getattr(neuron, name)], np.float32), ("neuron",)) for name in ("before", "after")}

    chart = picture_of(here, recipes.curve, options, numbers, "", "The activation curve", {"way": here.way}, CURVE)
    draft.add(chart, CURVE)


def add_firings(draft: Draft, reading: Firings) -> None:
    """Add the tokens of the sample at which the neuron fires most."""
    here, neuron, firings = reading.here, reading.neuron, recipes.highest_first(reading.sampled.of(reading.neuron.number))
    draft.note("inside-sample-words", "sample", name=recipes.name_of(*key_of(neuron)), tokens=f"{reading.sampled.tokens:,}")

    def numbers() -> dict[str, Numbers]:
        tokens = {"place": [firing.texts[firing.at] for firing in firings]}
        return {"fires": Numbers(np.array([firing.value for firing in firings], np.float32), ("place",), tokens)}

    options = {"number": neuron.number}
    grid = picture_of(here, recipes.sample, options, numbers, "", "Where the neuron fires most", {"firings": firings}, SAMPLE)
    draft.add(grid, SAMPLE)


def add_experts(draft: Draft, reading: Experts) -> None:
    """Add which expert took which token."""
    here, listed = reading.here, reading.listed
    look, stage = here.look, here.stage
    draft.note("inside-experts-words", "experts", taken=" and ".join(str(expert) for expert, _ in listed.experts))
    names = naming.rows(look, stage, here.rows)
    near = here.rows.index(listed.position) if listed.position in here.rows else -1
    options = {
        "rows": here.rows,
        "names": names,
        "down": naming.axis_word(look, "token"),
        "across": draft.words("expert"),
        "chosen": (near, listed.experts[0][0]),
    }

    def numbers() -> dict[str, Numbers]:
        shares = here.way.stage("router shares").rows(np.array(here.rows))
        return {"share": Numbers(shares, ("token", "expert"), {"token": names})}

    key = "inside-experts"
    grid = picture_of(here, recipes.experts, options, numbers, "", "Which expert took which token", {"way": here.way}, key)
    draft.add(grid, key)


def facts(here: OpenStage, listed: inside.Neurons, neuron: inside.Neuron) -> dict[str, str]:
    """Return the names and numbers that stand in the words."""
    token = naming.along(here.look, here.stage, naming.row_axis(here.stage), listed.position)
    figures = {name: getattr(neuron, name) for name in ("before", "after", "fires", "factor")}
    texts = {name: "–" if value is None else f"{value:.2f}".replace("-", "−") for name, value in figures.items()}
    function = WRITTEN.get(listed.function, listed.function)
    whose = len(listed.experts) if listed.experts else 1
    return {
        **texts,
        "token": starred(token),
        "name": recipes.name_of(*key_of(neuron)),
        "function": function,
        "count": f"{listed.count * whose:,}",
        "layer": here.look.named(listed.layer),
    }


def picture_of(
    here: OpenStage,
    recipe: Callable,
    options: dict[str, Any],
    numbers: Callable,
    part: str,
    title: str,
    known: dict[str, Any],
    key: str = BOARD,
) -> Picture:
    base = {name: value for name, value in here.base.items() if name != "stage"}
    look: Look = here.look
    return Picture(
        recipe,
        (look,),
        base | options,
        key,
        numbers,
        words=f"in {look.layer_name}",
        title=title,
        part=part,
        takes=("model", "trace"),
        known=known,
    )
