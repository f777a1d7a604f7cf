"""Recipes for the pictures of neurons: each takes a model, a trace, a stack, a layer, and options with literal values.

A downloaded notebook contains these functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from analysis import inside
from models.language_model import LanguageModel
from models.trace import Trace
from viz import View, grid_view
from viz.figures.activation import activation_curve
from viz.tokens import label
from viz.views.prediction_bars import value_bars


def way_of(model: LanguageModel, trace: Trace, stack: str, layer: int, around: int) -> inside.Way:
    return inside.follow(model, trace, layer, stack=stack, around=around, ends=[around])


def strongest(way: inside.Way, position: int, top: int, also: tuple[int | None, int] | None) -> inside.Neurons:
    """Return the neurons that fire most on a token, and the one in `also`."""
    return inside.neurons(way, position, top, elsewhere=False, also=also, pushed=False)


def one_of(way: inside.Way, position: int, expert: int | None, number: int) -> inside.Neuron:
    """Return a neuron on a token, with what it pushes towards and away from."""
    few = inside.neurons(way, position, 1, elsewhere=False, also=(expert, number)).neurons
    return next(neuron for neuron in few if (neuron.expert, neuron.number) == (expert, number))


def bars(
    model: LanguageModel,
    trace: Trace,
    *,
    stack: str,
    layer: int,
    around: int,
    position: int,
    top: int,
    also: tuple[int | None, int],
    heads: tuple[str, str],
    way: inside.Way | None = None,
) -> View:
    """Draw the neurons that fire most, the strongest first. also: the one that is marked; heads: of the columns."""
    listed = strongest(way or way_of(model, trace, stack, layer, around), position, top, also).neurons
    names = [name_of(neuron.expert, neuron.number) for neuron in listed]
    marked = names.index(name_of(*also))
    return value_bars(names, [neuron.fires for neuron in listed], heads, marked, label="The neurons that fire most")


def name_of(expert: int | None, number: int) -> str:
    return f"{number}" if expert is None else f"expert {expert}: {number}"


def pushes(
    model: LanguageModel,
    trace: Trace,
    *,
    stack: str,
    layer: int,
    around: int,
    position: int,
    expert: int | None,
    number: int,
    away: bool,
    heads: tuple[str, str],
    neuron: inside.Neuron | None = None,
) -> View:
    """Draw the tokens that a neuron makes likelier as it fires here, or less likely, by how much their logits change."""
    neuron = neuron or one_of(way_of(model, trace, stack, layer, around), position, expert, number)
    listed = neuron.away if away else neuron.towards
    title = f"What neuron {name_of(expert, number)} pushes {'away from' if away else 'towards'}"
    return value_bars([push.text for push in listed], [push.score for push in listed], heads, label=title, still=True)


def curve(
    model: LanguageModel,
    trace: Trace,
    *,
    stack: str,
    layer: int,
    around: int,
    position: int,
    expert: int | None,
    number: int,
    across: str,
    up: str,
    way: inside.Way | None = None,
) -> go.Figure:
    """Draw the model's activation function, with this neuron's input on this token."""
    listed = strongest(way or way_of(model, trace, stack, layer, around), position, 1, (expert, number))
    here = next(neuron.before for neuron in listed.neurons if (neuron.expert, neuron.number) == (expert, number))
    return activation_curve(listed.curve, listed.function, here, across, up)


def sample(
    model: LanguageModel,
    trace: Trace,
    *,
    stack: str,
    layer: int,
    around: int,
    number: int,
    firings: tuple[inside.Firing, ...] | None = None,
) -> View:
    """Draw where a neuron fires most in the built-in sample of texts: a row for each place, the highest number first, with the
    tokens around it."""
    if firings is None:
        way = way_of(model, trace, stack, layer, around)
        assert way.fired is not None, "of a mixture the sample is not read"
        firings = highest_first(inside.sampled(model, stack, layer, way.fired).of(number))
    values = np.array([firing.near for firing in firings])
    reach = values.shape[1] // 2
    texts = [[word_at(firing, firing.at + step) for step in range(-reach, reach + 1)] for firing in firings]
    values[[[not text for text in row] for row in texts]] = np.nan
    limit = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    columns = [f"{step:+d}".replace("-", "−") if step else "here" for step in range(-reach, reach + 1)]
    return grid_view(
        values,
        [f"{firing.value:.2f}".replace("-", "−") for firing in firings],
        columns,
        texts=texts,
        signed=True,
        scale=(-limit, limit),
        cell=(64, 90),
        height=26,
        row_names=[f"place {i + 1}" for i in range(len(firings))],
        label=f"Where neuron {number} fires most in the sample",
    )


def highest_first(firings: Sequence[inside.Firing]) -> tuple[inside.Firing, ...]:
    """Return the strongest firings in the order of their numbers: those above zero come before those below."""
    return tuple(sorted(firings, key=lambda firing: -firing.value))


def word_at(firing: inside.Firing, at: int) -> str:
    """Return a token of the passage, "" where there is none."""
    return label(firing.texts[at]) if 0 <= at < len(firing.texts) else ""


def experts(
    model: LanguageModel,
    trace: Trace,
    *,
    stack: str,
    layer: int,
    around: int,
    rows: list[int],
    names: list[str],
    down: str,
    across: str,
    chosen: tuple[int, int],
    way: inside.Way | None = None,
) -> View:
    """Draw which expert took which token, by its share. rows: positions; names: of their tokens."""
    shares = (way or way_of(model, trace, stack, layer, around)).stage("router shares").rows(np.array(rows))
    columns = [str(expert) for expert in range(shares.shape[1])]
    return grid_view(
        shares,
        names,
        columns,
        unit="%",
        scale=(0.0, 1.0),
        chosen=chosen,
        cell=(22, 46),
        height=20,
        down=down,
        across=across,
        column_names=[f"{across} {expert}" for expert in columns],
        label="Which expert took which token",
    )
