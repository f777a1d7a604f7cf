"""Pictures of a training: curves over its steps, a slider of time, and the attention of a fixed example at that step."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from pages.train import by_layer, experts, one_weight, recipes
from pages.train import state as page_state
from pages.train.control import describe
from ui import shell, state
from ui.choices.widgets import tabs
from ui.escaping import plain
from ui.picture.picture import Numbers, Picture
from ui.picture.take_away import take_away
from ui.show import choice, show, show_chart
from ui.words import say, words
from viz.figures.training import over_steps
from viz.numbers import percent
from viz.views.time_slider import time_slider

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from models.training.live import Budget, Snapshot, Training
    from pages.train.choose import Plan

DRAWN = 400  # points of a planned curve
APART = 0.1  # between the right answers and the best head, from which on the page says why
LOOKS = 0.1  # share from which a head counts as one that looks at a place
SIMPLE = page_state.CURVES.values[:2]
Lines = dict[str, tuple[Sequence[float], Sequence[float]]]  # the steps and the values of each


def preview(here: Path, plan: Plan | None) -> None:
    """Draw the task's example while no training runs."""
    st.markdown("##### Nothing is trained yet")
    say(here, "before")
    if plan is None:
        return say(here, "what")
    task = plan[0]
    question, answer = task.example(np.random.default_rng(0))
    st.markdown(f"**An example.** {plain(task.says)}")
    st.code(example(task.name, question, answer), language=None)
    if state.level() == "beginner" and task.name == "repeat":
        say(here, "so the answer", given=question[-1], answer=answer[0], next=answer[1])
    say(here, "what")
    preview_rate(here, plan)


def preview_rate(here: Path, plan: Plan | None) -> None:
    """Draw the planned learning rate, at the levels that can choose it."""
    if plan is None or state.level() == "beginner":
        return
    budget, fold = plan[2], words(here, "planned rate fold")
    if budget.warmup >= budget.steps:
        say(here, "long warm-up", warmup=budget.warmup, steps=budget.steps, last=f"{budget.rate_at(budget.steps - 1):.2g}")
    with st.expander(fold) if fold else nullcontext():
        say(here, "planned rate")
        show_chart(planned_rate(budget), "train-planned-rate", config={"displayModeBar": False})


def planned_rate(budget: Budget) -> go.Figure:
    """Draw the learning rate over the steps that a training will take."""
    steps = sorted({*range(0, budget.steps, max(1, budget.steps // DRAWN)), budget.steps - 1})
    rates = [budget.rate_at(step) for step in steps]
    return over_steps({"learning rate": ([step + 1 for step in steps], rates)}, budget.steps, height=180)


def example(task: str, question: str, answer: str, guess: bytes = b"") -> str:
    """Write an example so that each token is below its partner: answer below question, or letters below the letters that they
    repeat; with the model's guess below the answer."""
    prompt, right, guesses = (columns(part) for part in (question.encode("latin-1"), answer.encode("latin-1"), guess))
    if task != "repeat":
        goes_on = [" "] * len(prompt) if task == "text" else []  # there the answer follows in the same line
        rows = [("given", prompt), ("answer", goes_on + right), ("it says", goes_on + guesses)]
    else:
        whole, period = prompt + right, len(prompt) - 1  # the second round has begun with the last letter that is given
        says = [" "] * len(prompt) + guesses
        rows = [("first", whole[:period])]
        for at in range(period, len(whole), period):
            rows += [("again", whole[at : at + period]), ("it says", says[at : at + period])]
    return "\n".join(f"{name:9}{''.join(row)}".rstrip() for name, row in rows if guesses or name != "it says")


def picture(here: Path, training: Training) -> None:
    above = shell.above()
    with above:
        look = tabs(page_state.CURVES, "the curves", offered_curves(training))
    slot = st.container()
    snapshot = at_step(training)
    with slot:
        if look == page_state.CURVES.values[-1]:
            pictures = by_layer.place(here, training)
        elif look == page_state.CURVES.values[-2]:
            pictures = one_weight.place(here, training, snapshot.step)
        else:
            pictures = [curves(training, look, snapshot.step)]
            show_chart(
                pictures[0].drawn, pictures[0].key, config={"displayModeBar": False}
            )  # it lies over the names of the lines
    best = {name: place(getattr(snapshot, name)) for name in ("previous", "induction")}
    from models.training.live import PROBES

    facts = {"examples": f"{PROBES} fresh examples" if training.task.fresh else f"{PROBES} passages of the text that it learns"}
    facts |= facts_of(snapshot, best) | {"copied": percent(training.copied)}
    if training.config.heads:
        say(here, "at", **facts)
        say(here, "induction" if best["induction"] else "no induction", **facts)
        if state.level() == "beginner":
            say_shared(here, training, snapshot)
        elif best["induction"] and training.task.name == "copy":
            say(here, "same distance")
    else:
        say(here, "at without heads", **facts)
    experts.say_use(here, training, snapshot)
    if state.level() == "beginner" and training.task.name == "repeat":
        say(here, "it says")
    question, answer = (part.decode("latin-1") for part in training.example)
    st.code(example(training.task.name, question, answer, snapshot.answer), language=None)
    if training.config.heads:
        pictures += heads(here, training, snapshot)
    else:
        say(here, "no heads")
    with above:
        take_away("training", lambda: pictures)


def say_shared(here: Path, training: Training, snapshot: Snapshot) -> None:
    """Say why more answers can be right than the best head looks at what followed last time, where a measure of the example says
    so: the head looks there more than anywhere else, and other heads look there too."""
    best = place(snapshot.induction)
    if best is None or snapshot.accuracy - snapshot.induction[best] < APART:
        return
    first, asked = first_choices(snapshot.attention[best], training.read)
    others = [where for where in np.argwhere(snapshot.induction >= LOOKS).tolist() if tuple(where) != best]
    others.sort(key=lambda where: -snapshot.induction[tuple(where)])
    facts = {"right": percent(snapshot.accuracy), "induction": f"L{best[0]} H{best[1]}", "first": first, "asked": asked}
    each = ", ".join(f"L{layer} H{head} ({percent(snapshot.induction[layer, head])})" for layer, head in others)
    if 2 * first > asked:
        say(here, "shared first" if not others else "shared", others=each, **facts)
    elif others:
        say(here, "shared others", others=each, **facts)


def first_choices(weights: np.ndarray, read: list[int]) -> tuple[int, int]:
    """Return for how many letters a head looks most at what followed the same letter before, and how many letters have such a
    place. weights: [query, key] between the letters `read`."""
    from models.reading.repeats import what_followed

    followed = what_followed(read)
    asked = np.flatnonzero(followed.any(-1))
    return int(followed[asked, weights[asked].argmax(-1)].sum()), len(asked)


def offered_curves(training: Training) -> tuple[str, ...]:
    """Return the curves that this level has, and this network: without heads there is no entropy."""
    every = SIMPLE if state.level() == "beginner" else page_state.CURVES.values
    return tuple(name for name in every if training.config.heads or name != "Entropy")


def at_step(training: Training) -> Snapshot:
    """Return the snapshot at the slider's position; the newest until somebody moves it."""
    snapshots = list(training.snapshots)
    every, last = training.budget.every, training.budget.steps
    goes_on = training.state in ("running", "paused")
    steps = [*range(0, last, every), last] if goes_on else [snapshot.step for snapshot in snapshots]
    newest = len(snapshots) - 1
    at = page_state.TRAINED_AT.get()
    at = newest if at is None else min(at, newest)

    def move() -> None:
        to = choice("trained-time")
        page_state.TRAINED_AT.set(None if to is None or to >= len(training.snapshots) - 1 else int(to))

    if len(steps) > 1:
        show(time_slider([f"step {step}" for step in steps], newest, at, "Step that is shown"), "trained-time", move)
    return snapshots[at]


def curves(training: Training, look: str, at: int) -> Picture:
    """Return the picture of the chosen curves, with a line at a step."""
    series, options = curve_series(training, look)
    data: dict[str, np.ndarray] = {}
    for i, (steps, values) in enumerate(series.values()):
        data |= {f"x{i}": np.array(steps, dtype=np.int64), f"y{i}": np.array(values, dtype=np.float64)}
    chosen = {"names": list(series), "total": training.budget.steps, "at": at, "options": options}

    def numbers() -> dict[str, Numbers]:
        each = [(name, *point) for name, points in series.items() for point in zip(*points, strict=True)]
        columns = zip(("curve", "step", "value"), zip(*each, strict=True), strict=True)
        return {name: Numbers(np.array(values), ("point",)) for name, values in columns}

    return Picture(recipes.curves, (), chosen, f"train-curves-{look}", numbers, words=describe(training), title=look, data=data)


def curve_series(training: Training, look: str) -> tuple[Lines, dict[str, Any]]:
    """Return the steps and values of each curve, and the options for drawing."""
    snapshots, done = list(training.snapshots), len(training.curves.norm)
    seen, steps = [snapshot.step for snapshot in snapshots], list(range(1, done + 1))
    layers, simple = len(snapshots[0].entropy), state.level() == "beginner"
    series: Lines
    match look:
        case "Loss":
            fresh = "fresh examples" if training.task.fresh else "the same text"
            series = {
                "examples it learns from": (steps, training.curves.loss[:done]),
                fresh: (seen, [snapshot.loss for snapshot in snapshots]),
            }
            return series, {"up": "how wrong its guesses are (loss)" if simple else "loss, nats"}
        case "Entropy":
            series = {f"layer {i}": (seen, [snapshot.entropy[i].mean() for snapshot in snapshots]) for i in range(layers)}
            return series, {"up": "entropy of attention, nats"}
        case "Rate and gradient":
            gradient, rate = training.curves.norm[:done], training.curves.rate[:done]
            lines: Lines = {"norm of the gradient": (steps, gradient), "learning rate": (steps, rate)}
            if training.budget.clip and done:
                lines["clipped above"] = ([1, done], [training.budget.clip] * 2)
            return lines, {"log": True}
        case _:
            previous = "a head looks one letter back" if simple else "best previous-token head"
            induction = "a head looks at what came next last time" if simple else "best head on what followed last time"
            series = {"answers that are right": (seen, [snapshot.accuracy for snapshot in snapshots])}
            if not training.config.heads:
                return series, {"shares": True}
            series[previous] = (seen, [snapshot.previous.max() for snapshot in snapshots])
            if np.isfinite(snapshots[0].induction).all():
                series[induction] = (seen, [snapshot.induction.max() for snapshot in snapshots])
            return series, {"shares": True}


def heads(here: Path, training: Training, snapshot: Snapshot) -> list[Picture]:
    """Draw every head as a thumbnail, and the chosen one large; by default the one that looks most at what followed last time."""
    layers, count = snapshot.entropy.shape
    newest = training.snapshots[-1]
    layer, head = first = place(newest.induction) or place(newest.previous) or (0, 0)
    if chosen := page_state.TRAIN_HEAD.get():
        layer, head = chosen if chosen[0] < layers and chosen[1] < count else first

    beginner = state.level() == "beginner"

    def react() -> None:
        page_state.TRAIN_HEAD.set(tuple(choice("trained-heads") or ()))

    notes = [[note(snapshot, i, j) for j in range(count)] for i in range(layers)]
    maps, texts, of = snapshot.attention.astype(np.float32), signs(training.read), f"step {snapshot.step}, {describe(training)}"
    name, sides = f"L{layer} H{head}", {"from": texts, "to": texts}
    small = Picture(
        recipes.thumbnails,
        (),
        {"chosen": (layer, head), "notes": notes, "simple": beginner},
        "trained-heads",
        lambda: {"weights": Numbers(maps, ("layer", "head", "from", "to"), sides)},
        words=of,
        title="All heads",
        data={"weights": maps},
    )
    large = Picture(
        recipes.large,
        (),
        {"label": f"Attention of {name}", "texts": texts, "simple": beginner},
        "trained-map",
        lambda: {"weights": Numbers(maps[layer][head], ("from", "to"), sides)},
        words=of,
        title=f"Attention of {name}",
        data={"weights": maps[layer][head]},
    )
    left, right = st.columns([4, 8], gap="medium")
    with left:
        show(small.drawn, "trained-heads", react)
        say(here, "heads")
    with right:
        st.markdown(f"**{name} at step {snapshot.step}**: {notes[layer][head]}.")
        show(large.drawn, "trained-map")
    return [small, large]


def note(snapshot: Snapshot, layer: int, head: int) -> str:
    beginner = state.level() == "beginner"
    before, after = ("letter", "the same letter before") if beginner else ("token", "earlier copies")
    sentence = f"{percent(snapshot.previous[layer, head])} on the {before} before"
    if np.isfinite(snapshot.induction[layer, head]):
        sentence += f", {percent(snapshot.induction[layer, head])} on what followed {after}"
    return sentence


def place(scores: np.ndarray) -> tuple[int, int] | None:
    """Return layer and head of the highest score; None where scores are missing."""
    if not scores.size or not np.isfinite(scores).all():
        return None
    layer, head = np.unravel_index(scores.argmax(), scores.shape)
    return int(layer), int(head)


def facts_of(snapshot: Snapshot, best: dict[str, tuple[int, int] | None]) -> dict[str, str]:
    """Return a snapshot's numbers, formatted for sentences."""
    facts = {"step": f"{snapshot.step}", "right": percent(snapshot.accuracy), "loss": f"{snapshot.loss:.3g}"}
    for name, where in best.items():
        if where:
            facts[name] = f"L{where[0]} H{where[1]}"
            facts[f"{name}_share"] = percent(getattr(snapshot, name)[where])
    return facts


def signs(read: list[int]) -> list[str]:
    """Return the label of each token: a byte that is no character by itself as its number."""
    return ["start" if code > 255 else chr(code) if 32 < code < 127 else "␣" if code == 32 else f"{code:02X}" for code in read]


def columns(text: bytes) -> list[str]:
    """Return a column for each byte: a character stands in its first column, and � is a byte that is no character."""
    cells = []
    for character in text.decode("utf-8", "surrogateescape"):
        size = 1 if "\udc80" <= character <= "\udcff" else len(character.encode())
        wide = unicodedata.east_asian_width(character) in "WF" and size > 1
        cells += [character if character.isprintable() else "�", *[" "] * (size - 1 - wide), *[""] * wide]
    return cells
