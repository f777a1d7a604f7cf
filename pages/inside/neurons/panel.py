"""The neurons of the feed-forward part: the chosen one, and the job that looks where else it fires."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from analysis import inside
from pages.inside import state as page_state
from pages.inside.boards.neurons import BOARD, TOP, NeuronKey, key_of
from pages.inside.compose import compose
from pages.inside.neurons import recipes
from pages.inside.opened import OpenStage
from pages.inside.settings import Experts, Firings, Neurons, NoNeurons, Settings
from ui import state
from ui.memory import jobs
from ui.picture.mount import composed, mount_all
from ui.picture.picture import Picture
from ui.show import choice, picture


def draw(here: OpenStage) -> Sequence[Picture]:
    """Draw the list of neurons and the chosen neuron, and return their pictures."""
    look, way, position = here.look, here.way, here.place[0]
    try:
        listed = recipes.strongest(way, position, TOP[look.level], wanted_neuron())
    except ValueError as error:
        return mount_all(composed(compose, look, Settings(), NoNeurons(str(error))))
    neuron = recipes.one_of(way, position, *chosen_neuron(listed))
    board = composed(compose, look, Settings(), Neurons(here, listed, neuron))
    pictures = [*mount_all(board, {BOARD: partial(choose_row, listed)})]
    with picture("Where else it fires"):
        pictures += draw_firings(here, neuron)
    if listed.experts:
        with picture("The experts"):
            pictures += mount_all(composed(compose, look, Settings(), Experts(here, listed)))
    return pictures


def parse(text: str | None) -> NeuronKey | None:
    """Return the neuron that a link names: "321", or "2.321" for expert 2; None for anything else."""
    match = re.fullmatch(r"(?:(\d{1,6})\.)?(\d{1,7})", text or "")
    return (None if match[1] is None else int(match[1]), int(match[2])) if match else None


def wanted_neuron() -> NeuronKey | None:
    """Return the neuron that is chosen, or that the link asks for."""
    return parse(state.linked_value(page_state.NEURON) or page_state.NEURON.get())


def chosen_neuron(listed: inside.Neurons) -> NeuronKey:
    """Return the neuron that is looked at: the clicked one, where this token has it; else the one that fires most."""
    there = {key_of(neuron) for neuron in listed.neurons}
    if (link := state.take_linked_value(page_state.NEURON)) is not None:
        if parse(link) in there:
            page_state.NEURON.set(link)
        else:
            state.complain(page_state.NEURON, link, "the neuron")
    state.keep(page_state.NEURON, page_state.NEURON.get(), None)
    mine = parse(page_state.NEURON.get())
    return mine if mine is not None and mine in there else key_of(listed.neurons[0])


def choose_row(listed: inside.Neurons) -> None:
    """Choose the neuron of a row."""
    match choice(BOARD):
        case {"part": "neurons", "value": {"index": int(row)}} if row < len(listed.neurons):
            expert, number = key_of(listed.neurons[row])
            page_state.NEURON.set(str(number) if expert is None else f"{expert}.{number}")


def draw_firings(here: OpenStage, neuron: inside.Neuron) -> Sequence[Picture]:
    """Draw the tokens of the sample at which the neuron fires most."""
    model, way, fired = here.look.model, here.way, here.way.fired
    if fired is None:
        return []

    def work(report: jobs.Report) -> inside.Sampled:
        return inside.sampled(model, way.stack, way.layer, fired, report)

    key = ("neurons", model.info.name, model.condition, way.stack, way.layer, fired)
    sampled = jobs.result(key, work, "Reading the sample of texts")
    if sampled is None:
        return []
    return mount_all(composed(compose, here.look, Settings(), Firings(here, neuron, sampled)))
