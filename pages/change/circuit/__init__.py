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
from pages.change.circuit.asked import HERE, Asked, ask_circuit, search
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
    if changes.kept():
        say(HERE, "circuit without changes")
    asked = ask_circuit(look)
    if asked is None:
        return []
    say(HERE, "circuit question", word=plain(asked.question.called))
    try:
        found = search(asked)
    except ValueError as refused:
        st.info(plain(str(refused)), icon=":material/info:")
        return []
    if found is None:
        return []
    pictures = [graph(asked, found), lost(asked, found)]
    left, right = st.columns([6, 5])
    with left:
        show_chart(pictures[0].drawn, "circuit-graph")
        say(HERE, "circuit graph" if found.edges is not None else "circuit no edges")
        if look.trace.target:
            say(HERE, "circuit decoder")
    with right:
        say_found(asked, found)
        st.table(table(asked, found))
        say(HERE, "circuit measures", readings=f"{found.circuit.readings:,}", verdict=verdict(found.circuit))
        open_it(asked, found)
        show(pictures[1].drawn, "circuit-lost")
    say(HERE, "circuit warning")
    return pictures


def say_found(asked: Asked, found: recipes.Found) -> None:
    circuit = found.circuit
    heads = sum(one.head is not None for one in circuit.kept)
    facts = {
        "kept": len(circuit.kept), "all": len(circuit.nodes), "heads": heads, "others": len(circuit.kept) - heads,
        "share": signed(circuit.share), "left": signed(circuit.left),
        "gain": "log-probability" if circuit.against is None else "the difference of the two logits",
        "nats": decimal(circuit.whole - circuit.nothing),
    }  # fmt: skip
    say(HERE, "circuit found", **facts)
    say_enough(asked, circuit)
    if asked.question.against is None:
        say(HERE, "circuit logarithm")
    blind = -np.log(asked.question.look.model.info.vocabulary)
    if asked.fill == "zero" and asked.question.against is None and circuit.nothing < blind - 1:
        say(HERE, "circuit far", chance=percent(float(np.exp(circuit.nothing))))


def say_enough(asked: Asked, circuit: Circuit) -> None:
    """Whether the word still wins with only the circuit, with its probability and the likeliest word there."""
    question, position = asked.question, asked.question.position
    model, whole = question.look.model, question.trace.logits_at(position)
    assert whole is not None, "it predicts there"
    (best,), chances = model.top(circuit.alone, position, 1), model.chances(circuit.alone)
    facts = {
        "word": plain(f"“{question.spelt(circuit.token)}”"), "before": percent(float(model.chances(whole)[circuit.token])),
        "after": percent(float(chances[circuit.token])), "best": plain(named(best.text)), "chance": percent(best.probability),
    }  # fmt: skip
    if circuit.against is None:
        say(HERE, "circuit enough" if circuit.wins else "circuit not enough", **facts)
    else:
        facts |= {"rival": plain(f"“{question.spelt(circuit.against)}”"), "other": percent(float(chances[circuit.against]))}
        say(HERE, "circuit enough against" if circuit.wins else "circuit not enough against", **facts)


def verdict(circuit: Circuit) -> str:
    """How the circuit stands among other sets of its size."""
    if not (count := len(circuit.random_shares)):
        return words(HERE, "circuit no others")
    both = {(True, True): "better", (True, False): "faithful alone", (False, True): "complete alone"}
    facts = {"count": count, "all": count + 1, "share_rank": circuit.share_rank, "left_rank": circuit.left_rank}
    names = (
        "all others" if circuit.every_set else "drawn others", "ranks",
        both.get((circuit.faithful, circuit.complete), "no verdict"),
    )  # fmt: skip
    return paragraph(HERE, *(f"circuit {name}" for name in names), **facts)


def table(asked: Asked, found: recipes.Found) -> pd.DataFrame:
    """What is left with only the circuit, without it, and of other sets of the same size."""
    circuit, alone = found.circuit, asked.question.against is None

    def measured(share: float) -> str:
        value = circuit.nothing + share * (circuit.whole - circuit.nothing)
        return percent(float(np.exp(value))) if alone else f"{value:+.2f}".replace("-", "−")

    def spread(shares: np.ndarray) -> str:
        if not len(shares):
            return "–"
        return f"{signed(float(shares.min()))} to {signed(float(shares.max()))}"

    rows = {
        "The whole model": [signed(1.0), "", measured(1.0)],
        "Only the circuit": [signed(circuit.share), spread(circuit.random_shares), measured(circuit.share)],
        "All but the circuit": [signed(circuit.left), spread(circuit.random_lefts), measured(circuit.left)],
        "None of the parts": [signed(0.0), "", measured(0.0)],
    }
    last = "Probability" if alone else "Logit difference"
    sets = f"{len(circuit.random_shares)} other sets"
    return pd.DataFrame.from_dict(rows, orient="index", columns=["What is left", sets, last])


def open_it(asked: Asked, found: recipes.Found) -> None:
    """A button that takes all other parts away under "Switch off"."""
    if asked.fill == "other text":
        return
    (head, feedforward), look = "hf" if asked.fill == "zero" else "mg", asked.question.look
    gone = [one for one in found.circuit.nodes if one not in found.circuit.kept]
    each = [
        changes.at(look, f"{feedforward}{one.layer}" if one.head is None else f"{head}{one.layer}.{one.head}", one.kind)
        for one in gone
    ]

    def open_experiment() -> None:
        changes.change(each)
        state.EXPERIMENT.set(state.EXPERIMENT.default)

    st.button(
        words(HERE, "circuit open"), icon=":material/toggle_off:", on_click=open_experiment, help=words(HERE, "circuit open help")
    )


def graph(asked: Asked, found: recipes.Found) -> Picture:
    def numbers() -> dict[str, Numbers]:
        names = [one.name for one in found.circuit.kept]
        if found.edges is None or found.direct is None:
            return {"share_lost": Numbers(found.circuit.share - found.circuit.without, ("part",), {"part": names})}
        edges = Numbers(found.edges, ("from", "to"), {"from": names, "to": names})
        straight = Numbers(found.direct, ("from",), {"from": names}, in_csv=False)
        return {"edges": edges, "shares_straight_to_the_prediction": straight}

    return asked.picture(recipes.graph, "circuit-graph", "The circuit", {"called": asked.question.called}, numbers, found)


def lost(asked: Asked, found: recipes.Found) -> Picture:
    def numbers() -> dict[str, Numbers]:
        circuit = found.circuit
        kept = {"part": [one.name for one in circuit.kept]}
        sets = {"set": ["the circuit", *(f"other set {i + 1}" for i in range(len(circuit.random_shares)))]}
        return {
            "share_lost": Numbers(circuit.share - circuit.without, ("part",), kept),
            "share_with_only_the_set": Numbers(np.array([circuit.share, *circuit.random_shares]), ("set",), sets, in_csv=False),
            "share_without_the_set": Numbers(np.array([circuit.left, *circuit.random_lefts]), ("set",), sets, in_csv=False),
        }

    heads: Any = (words(HERE, "circuit part"), words(HERE, "circuit lost"))
    return asked.picture(recipes.lost, "circuit-lost", "What goes with each part", {"heads": heads}, numbers, found)
