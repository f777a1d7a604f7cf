"""Experiment "Circuit": the fewest heads and feed-forwards that keep a prediction, drawn, beside other sets of its size."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis import Circuit
from pages.change import changes
from pages.change.circuit import recipes
from pages.change.circuit.settings import HERE, Settings, ask_circuit, search
from ui import state
from ui.look import Look
from ui.picture.picture import Numbers, Picture
from ui.show import show, show_chart
from ui.text import plain
from ui.words import paragraph, say, words
from viz import percent
from viz.numbers import decimal, signed
from viz.tokens import named

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


def panel(look: Look, above: DeltaGenerator) -> list[Picture]:
    look = replace(look, options={})
    if changes.load():
        say(HERE, "circuit without changes")
    settings = ask_circuit(look)
    if settings is None:
        return []
    say(HERE, "circuit question", word=plain(settings.question.description))
    try:
        wiring = search(settings)
    except ValueError as refused:
        st.info(plain(str(refused)), icon=":material/info:")
        return []
    if wiring is None:
        return []
    pictures = [graph(settings, wiring), losses(settings, wiring)]
    left, right = st.columns([6, 5])
    with left:
        show_chart(pictures[0].drawn, "circuit-graph")
        say(HERE, "circuit graph" if wiring.edges is not None else "circuit no edges")
        if look.trace.target:
            say(HERE, "circuit decoder")
    with right:
        say_size(settings, wiring)
        st.table(table(settings, wiring))
        say(HERE, "circuit measures", readings=f"{wiring.circuit.readings:,}", verdict=verdict(wiring.circuit))
        place_open_button(settings, wiring)
        show(pictures[1].drawn, "circuit-lost")
    say(HERE, "circuit warning")
    return pictures


def say_size(settings: Settings, wiring: recipes.Wiring) -> None:
    circuit = wiring.circuit
    heads = sum(node.head is not None for node in circuit.kept)
    facts = {
        "kept": len(circuit.kept), "all": len(circuit.nodes), "heads": heads, "others": len(circuit.kept) - heads,
        "share": signed(circuit.share), "left": signed(circuit.left),
        "gain": "log-probability" if circuit.against is None else "the difference of the two logits",
        "nats": decimal(circuit.whole - circuit.nothing),
    }  # fmt: skip
    say(HERE, "circuit found", **facts)
    say_enough(settings, circuit)
    if settings.question.against is None:
        say(HERE, "circuit logarithm")
    blind = -np.log(settings.question.look.model.info.vocabulary)
    if settings.fill == "zero" and settings.question.against is None and circuit.nothing < blind - 1:
        say(HERE, "circuit far", chance=percent(float(np.exp(circuit.nothing))))


def say_enough(settings: Settings, circuit: Circuit) -> None:
    """Say whether the word still wins with only the circuit, with its probability and the likeliest word there."""
    question, position = settings.question, settings.question.position
    model, whole = question.look.model, question.trace.logits_at(position)
    assert whole is not None, "it predicts there"
    (best,), chances = model.top(circuit.alone, position, 1), model.chances(circuit.alone)
    facts = {
        "word": plain(f"“{question.spell(circuit.token)}”"), "before": percent(float(model.chances(whole)[circuit.token])),
        "after": percent(float(chances[circuit.token])), "best": plain(named(best.text)), "chance": percent(best.probability),
    }  # fmt: skip
    if circuit.against is None:
        say(HERE, "circuit enough" if circuit.wins else "circuit not enough", **facts)
    else:
        facts |= {"rival": plain(f"“{question.spell(circuit.against)}”"), "other": percent(float(chances[circuit.against]))}
        say(HERE, "circuit enough against" if circuit.wins else "circuit not enough against", **facts)


def verdict(circuit: Circuit) -> str:
    """Return a sentence on how the circuit compares with other sets of its size."""
    if not (count := len(circuit.random_shares)):
        return words(HERE, "circuit no others")
    both = {(True, True): "better", (True, False): "faithful alone", (False, True): "complete alone"}
    facts = {"count": count, "all": count + 1, "share_rank": circuit.share_rank, "left_rank": circuit.left_rank}
    names = (
        "all others" if circuit.every_set else "drawn others", "ranks",
        both.get((circuit.faithful, circuit.complete), "no verdict"),
    )  # fmt: skip
    return paragraph(HERE, *(f"circuit {name}" for name in names), **facts)


def table(settings: Settings, wiring: recipes.Wiring) -> pd.DataFrame:
    """Return a table of what is left with only the circuit, without it, and with other sets of the same size."""
    circuit, alone = wiring.circuit, settings.question.against is None

    def format_measure(share: float) -> str:
        value = circuit.nothing + share * (circuit.whole - circuit.nothing)
        return percent(float(np.exp(value))) if alone else f"{value:+.2f}".replace("-", "−")

    def spread(shares: np.ndarray) -> str:
        if not len(shares):
            return "–"
        return f"{signed(float(shares.min()))} to {signed(float(shares.max()))}"

    rows = {
        "The whole model": [signed(1.0), "", format_measure(1.0)],
        "Only the circuit": [signed(circuit.share), spread(circuit.random_shares), format_measure(circuit.share)],
        "All but the circuit": [signed(circuit.left), spread(circuit.random_lefts), format_measure(circuit.left)],
        "None of the parts": [signed(0.0), "", format_measure(0.0)],
    }
    last = "Probability" if alone else "Logit difference"
    sets = f"{len(circuit.random_shares)} other sets"
    return pd.DataFrame.from_dict(rows, orient="index", columns=["What is left", sets, last])


def place_open_button(settings: Settings, wiring: recipes.Wiring) -> None:
    """Place a button that removes all other parts under "Switch off"."""
    if settings.fill == "other text":
        return
    (head, feedforward), look = "hf" if settings.fill == "zero" else "mg", settings.question.look
    removed = [node for node in wiring.circuit.nodes if node not in wiring.circuit.kept]
    removals = [
        changes.qualify(look, f"{feedforward}{node.layer}" if node.head is None else f"{head}{node.layer}.{node.head}", node.kind)
        for node in removed
    ]

    def open_experiment() -> None:
        changes.change(removals)
        state.EXPERIMENT.set(state.EXPERIMENT.default)

    st.button(
        words(HERE, "circuit open"), icon=":material/toggle_off:", on_click=open_experiment, help=words(HERE, "circuit open help")
    )


def graph(settings: Settings, wiring: recipes.Wiring) -> Picture:
    def numbers() -> dict[str, Numbers]:
        names = [node.name for node in wiring.circuit.kept]
        if wiring.edges is None or wiring.direct is None:
            return {"share_lost": Numbers(wiring.circuit.share - wiring.circuit.without, ("part",), {"part": names})}
        edges = Numbers(wiring.edges, ("from", "to"), {"from": names, "to": names})
        straight = Numbers(wiring.direct, ("from",), {"from": names}, in_csv=False)
        return {"edges": edges, "shares_straight_to_the_prediction": straight}

    return settings.picture(
        recipes.graph, "circuit-graph", "The circuit", {"called": settings.question.description}, numbers, wiring
    )


def losses(settings: Settings, wiring: recipes.Wiring) -> Picture:
    def numbers() -> dict[str, Numbers]:
        circuit = wiring.circuit
        names = {"part": [node.name for node in circuit.kept]}
        sets = {"set": ["the circuit", *(f"other set {i + 1}" for i in range(len(circuit.random_shares)))]}
        return {
            "share_lost": Numbers(circuit.share - circuit.without, ("part",), names),
            "share_with_only_the_set": Numbers(np.array([circuit.share, *circuit.random_shares]), ("set",), sets, in_csv=False),
            "share_without_the_set": Numbers(np.array([circuit.left, *circuit.random_lefts]), ("set",), sets, in_csv=False),
        }

    heads: Any = (words(HERE, "circuit part"), words(HERE, "circuit lost"))
    return settings.picture(recipes.losses, "circuit-lost", "What is lost without each part", {"heads": heads}, numbers, wiring)
