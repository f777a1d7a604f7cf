"""The boards of experiment "Circuit": its graph, its table, and words on both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis import Circuit
from pages.change.circuit import recipes
from pages.change.circuit.settings import Settings
from pages.change.settings import Wired
from ui.escaping import plain
from ui.picture.board import Draft, Table
from ui.picture.picture import Numbers, Picture
from viz import percent
from viz.figures.circuit import all_lines, drawn_lines
from viz.numbers import decimal, signed
from viz.tokens import named

GRAPH, LOST = "circuit-graph", "circuit-lost"
SCALE, APART, SUM = "circuit-scale", "circuit-apart", "circuit-sum"
ENOUGH, ORDER, PATH, READING, DECODER, TABLE, WARNING = "enough", "order", "path", "graph", "decoder", "table", "warning"
MAIN = 5  # parts that the first lines name


def add(draft: Draft, reading: Wired) -> None:
    """Add what the circuit shows in words, the graph, the losses and the table; `beside` says how good the circuit is."""
    settings, wiring = reading.settings, reading.wiring
    drawings = graph(settings, wiring), losses(draft, settings, wiring)
    say_enough(draft, settings, wiring.circuit)
    say_order(draft, wiring.circuit)
    say_path(draft, settings, wiring)
    draft.add(drawings[0], GRAPH)
    say_lines(draft, settings, wiring)
    if draft.look.trace.target:
        draft.note(DECODER, "circuit decoder")
    fold = draft.words("circuit fold")
    say_verdict(draft, wiring.circuit, fold)
    draft.say("circuit search", fold, word=plain(settings.question.description))
    say_size(draft, settings, wiring.circuit, fold)
    draft.contents[TABLE] = Table(table(settings, wiring))
    say_scale(draft, settings, wiring.circuit)
    draft.add(drawings[1], LOST)
    say_apart(draft, settings, wiring)
    say_sum(draft, wiring.circuit)
    draft.note(WARNING, "circuit warning")


def say_order(draft: Draft, circuit: Circuit) -> None:
    """Name the parts without which most is lost, from the lowest layer to the highest."""
    losses = circuit.share - circuit.without
    most = [i for i in np.argsort(-losses, kind="stable")[:MAIN] if losses[i] > 0]
    if most:
        draft.note(ORDER, "circuit order", parts=", ".join(circuit.members[i].name for i in sorted(most)))


def say_scale(draft: Draft, settings: Settings, circuit: Circuit) -> None:
    """Say what the shares of the table are shares of, and why they are not those of the probability."""
    alone = settings.question.against is None
    if alone and circuit.share >= 1:
        return
    times = decimal(float(np.exp((1 - circuit.share) * (circuit.whole - circuit.nothing))))
    none, remaining, whole = (measure(circuit, share) for share in (0.0, circuit.share, 1.0))
    facts = {"share": signed(circuit.share), "rest": signed(1 - circuit.share), "times": times}
    draft.note(SCALE, "circuit scale" if alone else "circuit scale against", none=none, after=remaining, before=whole, **facts)


def say_sum(draft: Draft, circuit: Circuit) -> None:
    """Say why the losses of single parts do not add up to what the circuit has to lose."""
    total = float((circuit.share - circuit.without).sum())
    if len(circuit.members) > 1 and signed(total) != signed(circuit.share):
        over = "over" if total > circuit.share else "under"
        draft.note(SUM, f"circuit sum {over}", total=signed(total), share=signed(circuit.share))


def say_lines(draft: Draft, settings: Settings, wiring: recipes.Wiring) -> None:
    """Say how the graph is read, and how many of its lines are drawn."""
    if wiring.edges is None:
        draft.note(READING, "circuit no edges")
        return
    lines = len(all_lines(wiring.edges, wiring.direct))
    drawn = len(drawn_lines(wiring.edges, wiring.direct, settings.most, recipes.path_lines(wiring)))
    count = draft.words("circuit lines all" if drawn == lines else "circuit lines left out", drawn=drawn, left=lines - drawn)
    draft.note(READING, "circuit graph", count=count)


def say_apart(draft: Draft, settings: Settings, wiring: recipes.Wiring) -> None:
    """Say why the losses differ from what “What wrote it” shows, with the part that differs most as an example."""
    losses = wiring.circuit.share - wiring.circuit.without
    if wiring.direct is None or not len(losses):
        return
    part = int(np.argmax(losses - np.nan_to_num(wiring.direct)))
    facts = {"lost": signed(float(losses[part])), "straight": signed(float(np.nan_to_num(wiring.direct[part])))}
    word = plain(settings.question.description)
    draft.note(APART, "circuit apart", part=wiring.circuit.members[part].name, word=word, **facts)


def say_path(draft: Draft, settings: Settings, wiring: recipes.Wiring) -> None:
    """Say which parts hand on most to each other, up to the prediction."""
    if not (path := recipes.strongest_path(wiring)):
        return
    names = [node.name for node in wiring.circuit.members]
    receivers = [to for to, _ in path[1:]]
    steps = [
        draft.words("circuit path step", part=names[to], share=signed(share))
        for to, (_, share) in zip(receivers, path, strict=False)
    ]
    facts = {"word": plain(settings.question.description), "share": signed(path[-1][1])}
    comma = "" if draft.look.level == "expert" else ","
    heading = "circuit path" if steps else "circuit path straight"
    draft.note(PATH, heading, first=names[path[0][0]], steps=f"{comma} {draft.words('circuit path then')} ".join(steps), **facts)


def say_size(draft: Draft, settings: Settings, circuit: Circuit, fold: str) -> None:
    """Say how large the circuit is, and how much of the prediction it keeps. fold: what a reader unfolds to read it."""
    heads = sum(node.head is not None for node in circuit.members)
    facts = {
        "kept": len(circuit.members),
        "all": len(circuit.nodes),
        "readings": f"{circuit.readings:,}",
        "heads": heads,
        "others": len(circuit.members) - heads,
        "share": signed(circuit.share),
        "left": signed(circuit.left),
        "gain": "log-probability" if circuit.against is None else "the difference of the two logits",
        "nats": decimal(circuit.whole - circuit.nothing),
    }
    draft.say("circuit found", fold, **facts)
    if settings.question.against is None:
        draft.say("circuit logarithm", fold)
    blind = -np.log(settings.question.look.model.info.vocabulary)
    if settings.fill == "zero" and settings.question.against is None and circuit.nothing < blind - 1:
        draft.say("circuit far", fold, chance=percent(float(np.exp(circuit.nothing))))


def say_enough(draft: Draft, settings: Settings, circuit: Circuit) -> None:
    """Say whether the word still wins with only the circuit, with its probability and the likeliest word there."""
    question, position = settings.question, settings.question.position
    model, whole = question.look.model, question.trace.logits_at(position)
    assert whole is not None, "it predicts there"
    (best,), chances = model.top(circuit.alone, position, 1), model.chances(circuit.alone)
    facts = {
        "kept": len(circuit.members),
        "all": len(circuit.nodes),
        "word": plain(f"“{question.spell(circuit.token)}”"),
        "before": percent(float(model.chances(whole)[circuit.token])),
        "after": percent(float(chances[circuit.token])),
        "best": plain(named(best.text)),
        "chance": percent(best.probability),
        "share": signed(circuit.share),
    }
    case = "circuit enough" if circuit.wins else "circuit not enough"
    if circuit.against is not None:
        case = f"{case} against"
        facts |= {"rival": plain(f"“{question.spell(circuit.against)}”"), "other": percent(float(chances[circuit.against]))}
    others = ""
    if circuit.against is None and (count := len(circuit.random_shares)):
        most = measure(circuit, float(circuit.random_shares.max()))
        others = f" {draft.words('circuit others', count=count, kept=len(circuit.members), most=most)}"
    draft.note(ENOUGH, case, others=others, **facts)


def say_verdict(draft: Draft, circuit: Circuit, fold: str) -> None:
    """Say how the circuit compares with other sets of its size, and in `fold` how that was tested."""
    if not (count := len(circuit.random_shares)):
        draft.say("circuit no others")
        return
    both = {(True, True): "better", (True, False): "faithful alone", (False, True): "complete alone"}
    draft.say(f"circuit {both.get((circuit.faithful, circuit.complete), 'no verdict')}")
    facts = {"count": count, "all": count + 1, "share_rank": circuit.share_rank, "left_rank": circuit.left_rank}
    for heading in ("all others" if circuit.every_set else "drawn others", "ranks"):
        draft.say(f"circuit {heading}", fold, **facts)
    if circuit.faithful:
        draft.say("circuit head start", fold)


def measure(circuit: Circuit, share: float) -> str:
    """Return what is left with a share of the gain: the probability, or the difference of the two logits."""
    value = circuit.nothing + share * (circuit.whole - circuit.nothing)
    return percent(float(np.exp(value))) if circuit.against is None else f"{value:+.2f}".replace("-", "−")


def table(settings: Settings, wiring: recipes.Wiring) -> pd.DataFrame:
    """Return a table of what is left with only the circuit, without it, and with other sets of the same size."""
    circuit, alone = wiring.circuit, settings.question.against is None

    def spread(shares: np.ndarray) -> str:
        if not len(shares):
            return "–"
        return f"{signed(float(shares.min()))} to {signed(float(shares.max()))}"

    rows = {
        "The whole model": [measure(circuit, 1.0), signed(1.0), ""],
        "Only the circuit": [measure(circuit, circuit.share), signed(circuit.share), spread(circuit.random_shares)],
        "All but the circuit": [measure(circuit, circuit.left), signed(circuit.left), spread(circuit.random_lefts)],
        "None of the parts": [measure(circuit, 0.0), signed(0.0), ""],
    }
    first = "Probability" if alone else "Logit difference"
    columns = [first, "Share of the gain", f"Share, {len(circuit.random_shares)} other sets"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def graph(settings: Settings, wiring: recipes.Wiring) -> Picture:
    def numbers() -> dict[str, Numbers]:
        names = [node.name for node in wiring.circuit.members]
        if wiring.edges is None or wiring.direct is None:
            return {"share_lost": Numbers(wiring.circuit.share - wiring.circuit.without, ("part",), {"part": names})}
        edges = Numbers(wiring.edges, ("from", "to"), {"from": names, "to": names})
        straight = Numbers(wiring.direct, ("from",), {"from": names}, in_csv=False)
        return {"edges": edges, "shares_straight_to_the_prediction": straight}

    return settings.picture(
        recipes.graph, GRAPH, "The circuit", {"called": settings.question.description, "most": settings.most}, numbers, wiring
    )


def losses(draft: Draft, settings: Settings, wiring: recipes.Wiring) -> Picture:
    def numbers() -> dict[str, Numbers]:
        circuit = wiring.circuit
        names = {"part": [node.name for node in circuit.members]}
        sets = {"set": ["the circuit", *(f"other set {i + 1}" for i in range(len(circuit.random_shares)))]}
        return {
            "share_lost": Numbers(circuit.share - circuit.without, ("part",), names),
            "share_with_only_the_set": Numbers(np.array([circuit.share, *circuit.random_shares]), ("set",), sets, in_csv=False),
            "share_without_the_set": Numbers(np.array([circuit.left, *circuit.random_lefts]), ("set",), sets, in_csv=False),
        }

    heads: Any = (draft.words("circuit part"), draft.words("circuit lost"))
    return settings.picture(recipes.losses, LOST, "What is lost without each part", {"heads": heads}, numbers, wiring)
