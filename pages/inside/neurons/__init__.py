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
from pages.inside.detail import OpenStage
from pages.inside.neurons import recipes
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
NeuronKey = tuple[int | None, int]  # a neuron by its expert, None without a mixture, and its number


def draw(here: OpenStage) -> list[Picture]:
    """Draw the list of neurons and the chosen neuron, and return their pictures."""
    look, way, position = here.look, here.way, here.place[0]
    st.markdown(f"##### {words(HERE, 'title')}")
    try:
        listed = recipes.strongest(way, position, TOP[look.level], wanted_neuron())
    except ValueError as error:
        st.info(plain(str(error)), icon=":material/visibility_off:")
        return []
    mine = chosen_neuron(listed)
    neuron = recipes.one_of(way, position, *mine)
    pictures = draw_list(here, listed, neuron)
    with picture("The curve"):
        pictures += draw_curve(here, listed, neuron)
    with picture("Where else it fires"):
        pictures += draw_sample(here, neuron)
    if listed.experts:
        with picture("The experts"):
            pictures += draw_experts(here, listed)
    return pictures


def key_of(neuron: inside.Neuron) -> NeuronKey:
    return neuron.expert, neuron.number


def parse(text: str | None) -> NeuronKey | None:
    """Return the neuron that a link names: "321", or "2.321" for expert 2; None for anything else."""
    match = re.fullmatch(r"(?:(\d{1,6})\.)?(\d{1,7})", text or "")
    return (None if match[1] is None else int(match[1]), int(match[2])) if match else None


def wanted_neuron() -> NeuronKey | None:
    """Return the neuron that is chosen, or that the link asks for."""
    return parse(state.linked_value(state.NEURON) or state.NEURON.get())


def chosen_neuron(listed: inside.Neurons) -> NeuronKey:
    """Return the neuron that is looked at: the clicked one, where this token has it; else the one that fires most."""
    there = {key_of(neuron) for neuron in listed.neurons}
    if (link := state.take_linked_value(state.NEURON)) is not None:
        if parse(link) in there:
            state.NEURON.set(link)
        else:
            state.complain(state.NEURON, link, "the neuron")
    state.keep(state.NEURON, state.NEURON.get(), None)
    mine = parse(state.NEURON.get())
    return mine if mine is not None and mine in there else key_of(listed.neurons[0])


def choose_row(listed: inside.Neurons) -> None:
    """Choose the neuron of a row."""
    match choice(BOARD):
        case {"part": "neurons", "value": {"index": int(row)}} if row < len(listed.neurons):
            expert, number = key_of(listed.neurons[row])
            state.NEURON.set(str(number) if expert is None else f"{expert}.{number}")


def draw_list(here: OpenStage, listed: inside.Neurons, neuron: inside.Neuron) -> list[Picture]:
    """Draw the neurons that fire most, and what the chosen one does with this token."""
    names = facts(here, listed, neuron)
    expert, number = key_of(neuron)
    rows = {"neuron": [recipes.name_of(*key_of(candidate)) for candidate in listed.neurons]}

    def numbers() -> dict[str, Numbers]:
        columns = {name: [getattr(candidate, name) for candidate in listed.neurons] for name in ("before", "after", "fires")}
        return {name: Numbers(np.array(values, np.float32), ("neuron",), rows) for name, values in columns.items()}

    heads = (words(HERE, "column neuron"), words(HERE, "column fires"))
    options = {"position": listed.position, "top": TOP[here.look.level], "also": (expert, number), "heads": heads}
    bars = picture_of(here, recipes.bars, options, numbers, "neurons", "The neurons that fire most", {"way": here.way})
    cards = [Card([bars.on_board(words(HERE, "list", **names))], "", 5)]
    pushed = [pushes_picture(here, neuron, listed.position, away) for away in (False, True)] if neuron.towards else []
    does = words(HERE, "gated" if neuron.factor is not None else "plain", **names)
    parts = [drawing.on_board(words(HERE, drawing.part, **names)) for drawing in pushed]
    why = "encoder" if here.look.trace.unembed else "labels" if here.look.model.info.labels else "no head"
    missing = words(HERE, why) if not pushed else ""
    parts = [Part("words", None, does), *parts, *([Part("words", None, missing)] if missing else [])]
    cards.append(Card(parts, words(HERE, "one", **names), 6))
    show(board(cards, "The neurons"), BOARD, lambda: choose_row(listed))
    return [bars, *pushed]


def pushes_picture(here: OpenStage, neuron: inside.Neuron, position: int, away: bool) -> Picture:
    listed = neuron.away if away else neuron.towards

    def numbers() -> dict[str, Numbers]:
        scores = np.array([push.score for push in listed], np.float32)
        return {"score": Numbers(scores, ("token",), {"token": [push.text for push in listed]})}

    heads = (words(HERE, "column token"), words(HERE, "column push"))
    options = {"position": position, "expert": neuron.expert, "number": neuron.number, "away": away, "heads": heads}
    title = f"What the neuron pushes {'away from' if away else 'towards'}"
    return picture_of(here, recipes.pushes, options, numbers, "away" if away else "towards", title, {"neuron": neuron})


def draw_curve(here: OpenStage, listed: inside.Neurons, neuron: inside.Neuron) -> list[Picture]:
    """Draw the activation function, with the number of this token on it."""
    say(HERE, "curve gated" if neuron.factor is not None else "curve", **facts(here, listed, neuron))
    options = {
        "position": listed.position, "expert": neuron.expert, "number": neuron.number, "across": words(HERE, "axis before"),
        "up": words(HERE, "axis after"),
    }  # fmt: skip

    def numbers() -> dict[str, Numbers]:
        return {name: Numbers(np.array([getattr(neuron, name)], np.float32), ("neuron",)) for name in ("before", "after")}

    chart = picture_of(here, recipes.curve, options, numbers, "", "The activation curve", {"way": here.way}, CURVE)
    show_chart(chart.drawn, CURVE)
    return [chart]


def draw_sample(here: OpenStage, neuron: inside.Neuron) -> list[Picture]:
    """Draw the tokens of the sample at which the neuron fires most."""
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
    say(HERE, "sample", name=recipes.name_of(*key_of(neuron)), tokens=f"{sampled.tokens:,}")

    def numbers() -> dict[str, Numbers]:
        tokens = {"place": [firing.texts[firing.at] for firing in firings]}
        return {"fires": Numbers(np.array([firing.value for firing in firings], np.float32), ("place",), tokens)}

    options = {"number": neuron.number}
    grid = picture_of(here, recipes.sample, options, numbers, "", "Where the neuron fires most", {"firings": firings}, SAMPLE)
    show(grid.drawn, SAMPLE)
    return [grid]


def draw_experts(here: OpenStage, listed: inside.Neurons) -> list[Picture]:
    """Draw which expert took which token."""
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
    grid = picture_of(here, recipes.experts, options, numbers, "", "Which expert took which token", {"way": here.way}, key)
    show(grid.drawn, key)
    return [grid]


def facts(here: OpenStage, listed: inside.Neurons, neuron: inside.Neuron) -> dict[str, str]:
    """Return the names and numbers that stand in the words."""
    token = naming.along(here.look, here.stage, naming.row_axis(here.stage), listed.position)
    figures = {name: getattr(neuron, name) for name in ("before", "after", "fires", "factor")}
    texts = {name: "–" if value is None else f"{value:.2f}".replace("-", "−") for name, value in figures.items()}
    function = WRITTEN.get(listed.function, listed.function)
    whose = len(listed.experts) if listed.experts else 1
    return {
        **texts, "token": naming.starred(token), "name": recipes.name_of(*key_of(neuron)), "function": function,
        "count": f"{listed.count * whose:,}", "layer": here.look.named(listed.layer),
    }  # fmt: skip


def picture_of(
    here: OpenStage, recipe: Callable, options: dict[str, Any], numbers: Callable, part: str, title: str, known: dict[str, Any],
    key: str = BOARD,
) -> Picture:  # fmt: skip
    base = {name: value for name, value in here.base.items() if name != "stage"}
    look: Look = here.look
    return Picture(
        recipe, (look,), base | options, key, numbers, words=f"in {look.layer_name}", title=title, part=part,
        takes=("model", "trace"), known=known,
    )  # fmt: skip
