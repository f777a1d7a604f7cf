"""Several runs side by side: what differs between them, their curves in one chart, their heads at one step, and their ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.train import beyond, control, display, experts, recipes, use
from pages.train import state as page_state
from pages.train.summary import snapshot_at, spread
from pages.train.verdicts import LEARNED, learned_at, say_verdict
from ui import shell, state
from ui.choices.networks import NETWORKS
from ui.choices.widgets import one_of, tabs
from ui.escaping import plain
from ui.memory import trainings
from ui.picture.picture import Numbers, Picture
from ui.picture.take_away import take_away
from ui.show import choice, picture, show, show_chart
from ui.words import say
from viz.numbers import percent
from viz.views.time_slider import time_slider

if TYPE_CHECKING:
    from models.training.live import Snapshot, Training

Runs = list[tuple[str, "Training"]]
Points = tuple[Sequence[float], Sequence[float]]  # steps and values

OF_HEADS = ("Induction", "Entropy")  # curves that only a network with heads has
OWN = ("seed", "every", "seconds")  # of a budget: what does not change what is learned, or only by chance
SIMPLE = page_state.COMPARED.values[:2]
SIMPLE_UP = {"Answers": {"up": "answers that are right", "shares": True}, "Loss": {"up": "how wrong its guesses are (loss)"}}
UP = {
    "Answers": {"up": "answers that are right", "shares": True},
    "Loss": {"up": "loss on fresh examples, nats"},
    "Induction": {"up": "highest induction score", "shares": True},
    "Entropy": {"up": "mean entropy of attention, nats"},
    "Gradient": {"up": "norm of the gradient", "log": True},
    "Rate": {"up": "learning rate"},
}


def states(runs: Runs) -> list[str]:
    return [training.state for _, training in runs]


def watch(here: Path, runs: Runs, drawn: list[str]) -> None:
    """Draw the runs; redrawn while one of them runs. drawn: their states when the page was drawn."""
    if states(runs) != drawn or state.WHOLE_PAGE.pop():
        st.rerun()
    names = titles(runs)
    if len(runs) > trainings.RUNS:
        rows_of_groups(runs, names)
    else:
        for (name, training), title in zip(runs, names, strict=True):
            row(name, training, title)
    begun = [(title, training) for title, (_, training) in zip(names, runs, strict=True) if training.has_begun]
    if not begun:
        st.caption("They begin …")
        return
    with picture("These runs"):
        draw(here, begun)
    if any(training.state != "running" and training.step for _, training in runs):
        with picture("The trained model"):
            place_use(here, runs, names)


def row(name: str, training: Training, title: str) -> None:
    """Draw the line of a run: its name, how far it is, and its buttons."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"run-{name}"):
        st.markdown(f"**{plain(title)}**", width="stretch")
        st.caption(plain(progress(training)), width="content")
        match training.state:
            case "running":
                button("Pause", "pause", name, training.pause)
                button("Stop", "stop", name, training.stop)
            case "paused":
                button("Continue", "play_arrow", name, partial(control.resume, training))
        with st.popover("Name", key=f"run-rename-{name}"):
            key = page_state.run_name_key(name)
            st.text_input("Its name", value=title, max_chars=60, key=key.name, on_change=rename, args=(name,))
        button("Remove", "close", name, lambda: remove(name))
    if training.state in ("diverged", "failed"):
        st.warning(plain(training.says), icon=":material/report:")


def rows_of_groups(runs: Runs, names: list[str]) -> None:
    """Draw a line for each group of runs that differ in their seed alone, and the buttons for all."""
    each = groups([(title, training) for title, (_, training) in zip(names, runs, strict=True)])
    for title, members in each.items():
        st.markdown(f"**{plain(title)}**: {plain('; '.join(map(progress, members)))}")
    with st.container(horizontal=True, gap="small", key="run-all"):
        if any(training.state in ("running", "paused") for _, training in runs):
            button("Stop all", "stop", "all", partial(for_each, [training.stop for _, training in runs]))
        button("Remove all", "close", "all", partial(for_each, [partial(remove, name) for name, _ in runs]))


def for_each(works: list[Callable[[], None]]) -> None:
    for work in works:
        work()


def button(title: str, icon: str, name: str, work: Any) -> None:
    st.button(title, icon=f":material/{icon}:", key=f"run-{title.lower()}-{name}", type="tertiary", on_click=work)


def rename(name: str) -> None:
    title = " ".join(str(page_state.run_name_key(name).get()).replace(":", " ").split())  # which a table would read as a mark
    trainings.rename(name, title)
    state.run_whole_page_next()


def remove(name: str) -> None:
    trainings.forget(name)
    state.run_whole_page_next()


def progress(training: Training) -> str:
    """Say how far a run is."""
    step = f"step {training.step} of {training.budget.steps}"
    right = percent(training.snapshots[-1].accuracy) if training.has_begun else "–"
    ends = {
        "running": "",
        "paused": ", paused",
        "done": "",
        "stopped": ", stopped",
        "diverged": ", diverged",
        "failed": ", failed",
    }
    return f"{step}, {right} right{ends[training.state]}"


# ---------------------------------------------------------------- what differs between them


def titles(runs: Runs) -> list[str]:
    """Return a name for each run: its visitor's, or else what differs between the runs."""
    given = differences([training for _, training in runs])
    return make_distinct([trainings.title(name) or title for (name, _), title in zip(runs, given, strict=True)])


def make_distinct(names: list[str]) -> list[str]:
    """Return the names, with a number behind each that came before."""
    return [name if name not in names[:i] else f"{name} ({names[: i + 1].count(name)})" for i, name in enumerate(names)]


def differences(runs: Sequence[Training]) -> list[str]:
    """Return for each run what it has and not all others have, in words."""
    facts = [facts_of(training) for training in runs]
    common = [name for name in facts[0] if all(name in each for each in facts)]  # a network without attention has fewer
    differing = [name for name in common if len({str(each[name]) for each in facts}) > 1]
    texts = [
        ", ".join(f"{NAMES.get(name, name.replace('_', ' '))} {format_value(each[name])}" for name in differing) for each in facts
    ]
    return [text or f"run {number}" for number, text in enumerate(texts, 1)] if differing else numbered(len(facts))


def numbered(count: int) -> list[str]:
    return [f"run {number}" for number in range(1, count + 1)]


NAMES = {
    "d_model": "width",
    "d_ff": "feed-forward",
    "kv_heads": "key heads",
    "norm_place": "norm placed",
    "feedforward": "activation",
    "tied": "tied unembedding",
    "qk_norm": "q and k normalised",
    "rows": "examples a step",
    "rate": "learning rate",
    "warmup": "warm-up",
    "decay": "weight decay",
    "clip": "clipping at",
    "smoothing": "label smoothing",
    "balance": "balance loss",
}
QUOTED = 20  # characters of a text that are shown of it


def format_value(value: object) -> str:
    """Format what is chosen for a run."""
    match value:
        case bool():
            return "on" if value else "off"
        case float():
            return f"{value:g}"
        case None:
            return "usual"
    text = str(value)
    return text if len(text) <= QUOTED else f"{text[:QUOTED]}…"


def facts_of(training: Training) -> dict[str, Any]:
    """Return all that is chosen for a run, and what it is trained on. network: the kind of it, as people read it."""
    budget = {name: value for name, value in asdict(training.budget).items() if name not in ("every", "seconds")}
    network = {"network": NETWORKS[control.network_of(training)]}
    return {"task": training.task.name, "text": training.task.text, **asdict(training.config), **network, **budget}


def groups(runs: Sequence[tuple[str, Training]]) -> dict[str, list[Training]]:
    """Return the runs that differ in their seed alone, together, under the name of what they share. Of runs that are the same in
    everything, the first stands for all."""
    keys = [str({name: value for name, value in facts_of(training).items() if name not in OWN}) for _, training in runs]
    together: dict[str, list[tuple[str, Training]]] = {}
    for key, run in zip(keys, runs, strict=True):
        members = together.setdefault(key, [])
        if run[1].budget.seed not in [training.budget.seed for _, training in members]:
            members.append(run)
    firsts = [members[0][1] for members in together.values()]
    shared = differences(firsts) if len(firsts) > 1 else ["all runs"]
    names = [
        members[0][0] if len(members) == 1 else f"{title} ({len(members)} seeds)"
        for title, members in zip(shared, together.values(), strict=True)
    ]
    each = [[training for _, training in members] for members in together.values()]
    return dict(zip(make_distinct(names), each, strict=True))


# ---------------------------------------------------------------- the pictures


def draw(here: Path, runs: list[tuple[str, Training]]) -> None:
    """Draw the curves, the slider of steps, each run's heads at that step, and a table of where each has ended."""
    above = shell.above()
    with above:
        look = tabs(page_state.COMPARED, "the curve", SIMPLE if state.level() == "beginner" else None)
    slot = st.container()
    at = at_step([training for _, training in runs])
    pictures = [curves(runs, look, at)]
    with slot:
        show_chart(pictures[0].drawn, pictures[0].key, config={"displayModeBar": False})
    each = groups(runs)
    say_verdict(here, each)
    say(here, "compared", step=at)
    maps = runs if len(runs) <= trainings.RUNS else [(title, members[0]) for title, members in each.items()]
    for number, (place, (title, training)) in enumerate(zip(st.columns(len(maps)), maps, strict=True)):
        with place:
            if training.config.heads:
                pictures.append(heads(title, training, at, f"compared-heads-{number}"))
            else:
                st.markdown(f"**{plain(title)}**")
                say(here, "no heads")
    st.table(end_table(each), border="horizontal")
    beyond.place(here, each)
    experts.place(here, each, at)
    with above:
        take_away("runs", lambda: pictures)


def at_step(runs: Sequence[Training]) -> int:
    """Place the slider of steps, and return the step at which all runs are shown; the newest until somebody moves it."""
    steps = sorted({snapshot.step for training in runs for snapshot in list(training.snapshots)})
    chosen = page_state.COMPARED_AT.get()
    at = len(steps) - 1 if chosen is None else max(i for i, step in enumerate(steps) if step <= max(chosen, steps[0]))

    def move() -> None:
        to = choice("compared-time")
        page_state.COMPARED_AT.set(None if to is None or to >= len(steps) - 1 else steps[int(to)])

    if len(steps) > 1:
        show(time_slider([f"step {step}" for step in steps], len(steps) - 1, at, "Step that is shown"), "compared-time", move)
    return steps[at]


def points(training: Training, look: str) -> Points:
    """Return the steps and values of a curve of a run."""
    if look in ("Gradient", "Rate"):
        values = (training.curves.norm if look == "Gradient" else training.curves.rate)[:]
        return list(range(1, len(values) + 1)), values
    snapshots = list(training.snapshots)
    of = {
        "Answers": lambda snapshot: snapshot.accuracy,
        "Loss": lambda snapshot: snapshot.loss,
        "Induction": lambda snapshot: float(snapshot.induction.max()),
        "Entropy": lambda snapshot: float(snapshot.entropy.mean()),
    }[look]
    return [snapshot.step for snapshot in snapshots], [of(snapshot) for snapshot in snapshots]


def combine(runs: Sequence[Training], look: str) -> tuple[Points, tuple[Sequence[float], Sequence[float]] | None]:
    """Return the mean curve of runs over the steps that all have, with their lowest and highest values; None for a single run."""
    each = [points(training, look) for training in runs]
    if len(each) == 1:
        return each[0], None
    known = [dict(zip(steps, values, strict=True)) for steps, values in each]
    steps = [step for step in known[0] if all(step in others for others in known)]
    values = np.array([[run[step] for step in steps] for run in known])
    return (steps, values.mean(0).tolist()), (values.min(0).tolist(), values.max(0).tolist())


def curves(runs: list[tuple[str, Training]], look: str, at: int) -> Picture:
    """Return the picture of one curve of all runs; those that differ in their seed alone are a line with a band."""
    data: dict[str, np.ndarray] = {}
    each = {title: members for title, members in groups(runs).items() if look not in OF_HEADS or members[0].config.heads}
    for i, members in enumerate(each.values()):
        (steps, values), band = combine(members, look)
        data |= {f"x{i}": np.array(steps, dtype=np.int64), f"y{i}": np.array(values, dtype=np.float64)}
        if band is not None:
            data |= {f"low{i}": np.array(band[0]), f"high{i}": np.array(band[1])}
    total = max(training.budget.steps for _, training in runs)
    options = (SIMPLE_UP if state.level() == "beginner" else UP)[look]
    if look == "Loss" and state.level() != "beginner" and not all(training.task.fresh for _, training in runs):
        options = {"up": "loss, nats"}  # that of a text is no loss on other texts
    chosen = {"names": list(each), "total": total, "at": at, "options": options}

    def numbers() -> dict[str, Numbers]:
        drawn = [(title, training) for title, training in runs if look not in OF_HEADS or training.config.heads]
        rows = [(title, *point) for title, training in drawn for point in zip(*points(training, look), strict=True)]
        columns = zip(("run", "step", "value"), zip(*rows, strict=True), strict=True)
        return {name: Numbers(np.array(values), ("point",)) for name, values in columns}

    words = " | ".join(title for title, _ in runs)
    return Picture(recipes.curves, (), chosen, f"compared-{look}", numbers, words=words, title=look, data=data)


def heads(title: str, training: Training, step: int, key: str) -> Picture:
    """Draw a run's heads as thumbnails at a step; return the picture."""
    snapshot = snapshot_at(training, step)
    layers, count = snapshot.entropy.shape
    maps, texts = snapshot.attention.astype(np.float32), display.signs(training.read)
    sides = {"from": texts, "to": texts}
    best = display.place(snapshot.induction) or display.place(snapshot.previous) or (0, 0)
    small = Picture(
        recipes.thumbnails,
        (),
        {
            "chosen": best,
            "notes": [[display.note(snapshot, i, j) for j in range(count)] for i in range(layers)],
            "simple": state.level() == "beginner",
        },
        key,
        lambda: {"weights": Numbers(maps, ("layer", "head", "from", "to"), sides)},
        words=f"step {snapshot.step}, {title}",
        title=f"All heads, {title}",
        data={"weights": maps},
    )
    st.markdown(f"**{plain(title)}**, step {snapshot.step}")
    show(small.drawn, key)
    return small


def end_table(each: dict[str, list[Training]]) -> pd.DataFrame:
    """Return a table of where runs have ended: a row for each group, the mean of its runs with the lowest and the highest."""
    columns = {
        "Right answers": lambda runs: spread([snapshot.accuracy for snapshot in common_snapshots(runs)], percent),
        "Loss, nats": lambda runs: spread([snapshot.loss for snapshot in common_snapshots(runs)], lambda value: f"{value:.3g}"),
        f"Steps to {LEARNED * 100:.0f}\u00a0% right": steps_to_learn,
        "Parameters": lambda runs: f"{runs[0].parameters:,}",
        "Seconds of computing": lambda runs: spread([training.seconds for training in runs], lambda value: f"{value:.1f}"),
    }
    if state.level() == "beginner":
        del columns["Loss, nats"], columns["Parameters"]
    cells = {}
    for title, runs in each.items():
        over = all(training.state not in ("running", "paused") for training in runs)
        cells[plain(title if over else f"{title}, so far")] = [write(runs) for write in columns.values()]
    return pd.DataFrame.from_dict(cells, orient="index", columns=list(columns))


def common_snapshots(runs: Sequence[Training]) -> list[Snapshot]:
    """Return the snapshots of the last step that all of these runs have reached: those of their ends, once they have ended."""
    if all(training.state not in ("running", "paused") for training in runs):
        return [training.snapshots[-1] for training in runs]
    step = min(training.snapshots[-1].step for training in runs)
    return [snapshot_at(training, step) for training in runs]


def steps_to_learn(runs: Sequence[Training]) -> str:
    """Format the steps after which runs had learned their task, and how many of them have."""
    steps = [step for training in runs if (step := learned_at(training)) is not None]
    if not steps:
        return "not yet"
    return spread(steps, lambda value: f"{value:.0f}") + (f", in {len(steps)} of {len(runs)} runs" if len(runs) > 1 else "")


def place_use(here: Path, runs: Runs, names: list[str]) -> None:
    """Place what can be done with the model of a run that has stopped, and the choice of that run."""
    ready = {
        name: title for (name, training), title in zip(runs, names, strict=True) if training.state != "running" and training.step
    }
    chosen = one_of(
        page_state.RUN_USED, list(ready), "the run", label="Use the model of", menu=True, format_option=ready.__getitem__
    )
    use.place(here, chosen, dict(runs)[chosen])
