"""The neurons of the feed-forward part: which fire most on a token, what one of them does, and where else it fires."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from analysis import inside
from pages.inside import naming
from pages.inside.neurons import recipes
from pages.inside.opened import Opened
from ui import state
from ui.look import Look
from ui.memory import jobs
from ui.picture.picture import Numbers, Picture
from ui.show import choice, picture, show, show_chart
from ui.text import plain
from ui.words import say, words
from viz import Card, Part, board

HERE = Path(__file__).parent
BOARD, CURVE, SAMPLE = "inside-neurons", "inside-curve", "inside-sample"
TOP = {"beginner": 6, "intermediate": 10, "expert": 20}
WRITTEN = {"silu": "SiLU", "gelu": "GELU", "relu": "ReLU"}  # as papers write what torch calls so
Named = tuple[int | None, int]  # a neuron by its expert, None without a mixture, and its number


def draw(here: Opened) -> list[Picture]:
    """The list of neurons, and the one that is chosen; gives their pictures."""
    look, way, position = here.look, here.way, here.place[0]
    st.markdown(f"##### {words(HERE, 'title')}")
    try:
        listed = recipes.strongest(way, position, TOP[look.level], asked())
    except ValueError as error:
        st.info(plain(str(error)), icon=":material/visibility_off:")
        return []
    mine = chosen(listed)
    neuron = recipes.one_of(way, position, *mine)
    pictures = the_list(here, listed, neuron)
    with picture("The curve"):
        pictures += the_curve(here, listed, neuron)
    with picture("Where else it fires"):
        pictures += elsewhere(here, neuron)
    if listed.experts:
        with picture("The experts"):
            pictures += experts(here, listed)
    return pictures


def called(neuron: inside.Neuron) -> Named:
    return neuron.expert, neuron.number


def read(text: str | None) -> Named | None:
    """A neuron by what a link says of it: "321", or "2.321" of expert 2; None of anything else."""
    match = re.fullmatch(r"(?:(\d{1,6})\.)?(\d{1,7})", text or "")
    return (None if match[1] is None else int(match[1]), int(match[2])) if match else None


def asked() -> Named | None:
    """The neuron that is chosen, or that the link asks for."""
    return read(state.waits(state.NEURON) or state.NEURON.get())


def chosen(listed: inside.Neurons) -> Named:
    """The neuron that is looked at: the one that was pressed, where this token has it; else the one that fires most."""
    there = {called(neuron) for neuron in listed.neurons}
    if (link := state.once(state.NEURON)) is not None:
        if read(link) in there:
            state.NEURON.set(link)
        else:
            state.complain(state.NEURON, link, "the neuron")
    state.keep(state.NEURON, state.NEURON.get(), None)
    mine = read(state.NEURON.get())
    return mine if mine is not None and mine in there else called(listed.neurons[0])


def press(listed: inside.Neurons) -> None:
    """Choose the neuron of a row."""
    match choice(BOARD):
        case {"part": "neurons", "value": {"index": int(row)}} if row < len(listed.neurons):
            expert, number = called(listed.neurons[row])
            state.NEURON.set(str(number) if expert is None else f"{expert}.{number}")


def the_list(here: Opened, listed: inside.Neurons, neuron: inside.Neuron) -> list[Picture]:
    """The neurons that fire most, and what the chosen one does with this token."""
    said = facts(here, listed, neuron)
    expert, number = called(neuron)
    rows = {"neuron": [recipes.name_of(*called(one)) for one in listed.neurons]}

    def numbers() -> dict[str, Numbers]:
        columns = {name: [getattr(one, name) for one in listed.neurons] for name in ("before", "after", "fires")}
        return {name: Numbers(np.array(values, np.float32), ("neuron",), rows) for name, values in columns.items()}

    heads = (words(HERE, "column neuron"), words(HERE, "column fires"))
    options = {"position": listed.position, "top": TOP[here.look.level], "also": (expert, number), "heads": heads}
    bars = made(here, recipes.bars, options, numbers, "neurons", "The neurons that fire most", {"way": here.way})
    cards = [Card([bars.on_board(words(HERE, "list", **said))], "", 5)]
    pushed = [the_pushes(here, neuron, listed.position, away) for away in (False, True)] if neuron.towards else []
    does = words(HERE, "gated" if neuron.factor is not None else "plain", **said)
    parts = [one.on_board(words(HERE, one.part, **said)) for one in pushed]
    why = "encoder" if here.look.trace.unembed else "labels" if here.look.model.info.labels else "no head"
    missing = words(HERE, why) if not pushed else ""
    parts = [Part("words", None, does), *parts, *([Part("words", None, missing)] if missing else [])]
    cards.append(Card(parts, words(HERE, "one", **said), 6))
    show(board(cards, "The neurons"), BOARD, lambda: press(listed))
    return [bars, *pushed]


def the_pushes(here: Opened, neuron: inside.Neuron, position: int, away: bool) -> Picture:
    listed = neuron.away if away else neuron.towards

    def numbers() -> dict[str, Numbers]:
        scores = np.array([push.score for push in listed], np.float32)
        return {"score": Numbers(scores, ("token",), {"token": [push.text for push in listed]})}

    heads = (words(HERE, "column token"), words(HERE, "column push"))
    options = {"position": position, "expert": neuron.expert, "number": neuron.number, "away": away, "heads": heads}
    title = f"What the neuron pushes {'away from' if away else 'towards'}"
    return made(here, recipes.pushes, options, numbers, "away" if away else "towards", title, {"neuron": neuron})


def the_curve(here: Opened, listed: inside.Neurons, neuron: inside.Neuron) -> list[Picture]:
    """The activation, with the number of this token on it."""
    say(HERE, "curve gated" if neuron.factor is not None else "curve", **facts(here, listed, neuron))
    options = {
        "position": listed.position, "expert": neuron.expert, "number": neuron.number, "across": words(HERE, "axis before"),
        "up": words(HERE, "axis after"),
    }  # fmt: skip

    def numbers() -> dict[str, Numbers]:
        return {name: Numbers(np.array([getattr(neuron, name)], np.float32), ("neuron",)) for name in ("before", "after")}

    chart = made(here, recipes.curve, options, numbers, "", "The activation curve", {"way": here.way}, CURVE)
    show_chart(chart.drawn, CURVE)
    return [chart]


def elsewhere(here: Opened, neuron: inside.Neuron) -> list[Picture]:
    """The tokens of the sample at which the neuron fires most."""
    model, way, fired = here.look.model, here.way, here.way.fired
    st.markdown(f"##### {words(HERE, 'title sample')}")
    if fired is None:
        say(HERE, "no sample")
        return []

    def work(report: jobs.Report) -> inside.Sampled:
        return inside.sampled(model, way.stack, way.layer, fired, report)

    key = ("neurons", model.info.name, model.condition, way.stack, way.layer, fired)
    sampled = jobs.result(key, work, "Reading the sample of texts")
    if sampled is None:
        return []
    firings = sampled.of(neuron.number)
    say(HERE, "sample", name=recipes.name_of(*called(neuron)), tokens=f"{sampled.tokens:,}")

    def numbers() -> dict[str, Numbers]:
        tokens = {"place": [firing.texts[firing.at] for firing in firings]}
        return {"fires": Numbers(np.array([firing.value for firing in firings], np.float32), ("place",), tokens)}

    options = {"number": neuron.number}
    grid = made(here, recipes.sample, options, numbers, "", "Where the neuron fires most", {"firings": firings}, SAMPLE)
    show(grid.drawn, SAMPLE)
    return [grid]


def experts(here: Opened, listed: inside.Neurons) -> list[Picture]:
    """Which expert took which token."""
    look, stage = here.look, here.stage
    say(HERE, "experts", taken=" and ".join(str(expert) for expert, _ in listed.experts))
    names = naming.rows(look, stage, here.rows)
    near = here.rows.index(listed.position) if listed.position in here.rows else -1
    options = {
        "rows": here.rows, "names": names, "down": naming.axis_word(look, "token"), "across": words(HERE, "expert"),
        "chosen": (near, listed.experts[0][0]),
    }  # fmt: skip

    def numbers() -> dict[str, Numbers]:
        shares = here.way.stage("router shares").rows(np.array(here.rows))
        return {"share": Numbers(shares, ("token", "expert"), {"token": names})}

    key = "inside-experts"
    grid = made(here, recipes.experts, options, numbers, "", "Which expert took which token", {"way": here.way}, key)
    show(grid.drawn, key)
    return [grid]


def facts(here: Opened, listed: inside.Neurons, neuron: inside.Neuron) -> dict[str, str]:
    """Names and numbers that the words are about."""
    token = naming.along(here.look, here.stage, naming.row_axis(here.stage), listed.position)
    figures = {name: getattr(neuron, name) for name in ("before", "after", "fires", "factor")}
    found = {name: "–" if value is None else f"{value:.2f}".replace("-", "−") for name, value in figures.items()}
    function = WRITTEN.get(listed.function, listed.function)
    whose = len(listed.experts) if listed.experts else 1
    return {
        **found, "token": naming.starred(token), "name": recipes.name_of(*called(neuron)), "function": function,
        "count": f"{listed.count * whose:,}", "layer": here.look.named(listed.layer),
    }  # fmt: skip


def made(
    here: Opened, recipe: Callable, options: dict[str, Any], numbers: Callable, part: str, title: str, known: dict[str, Any],
    key: str = BOARD,
) -> Picture:  # fmt: skip
    base = {name: value for name, value in here.base.items() if name != "stage"}
    look: Look = here.look
    return Picture(
        recipe, (look,), base | options, key, numbers, words=f"in {look.layer_name}", title=title, part=part,
        takes=("model", "trace"), known=known,
    )  # fmt: skip
