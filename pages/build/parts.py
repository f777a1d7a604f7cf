"""The parts of page "Build": functions of a config and the lengths of source and target, each of which places its pictures."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis import cost
from analysis.encodings import Encoding
from analysis.scaling import scaling
from models.numbers.sizes import count, size
from models.scratch.config import TransformerConfig
from pages.build import changes, recipes
from pages.build import state as page_state
from ui import state
from ui.choices.networks import NETWORKS
from ui.choices.widgets import one_of
from ui.escaping import plain
from ui.memory import jobs
from ui.picture.picture import Numbers, Picture
from ui.show import show, show_chart
from ui.words import say, words
from viz.figures.style import short
from viz.numbers import decimal, percent, signed
from viz.tokens import named

if TYPE_CHECKING:
    from analysis.baseline_cost import NetworkCost

LARGEST = 100_000_000  # the most parameters of a network that is built here and measured
SEEN = 64  # the most positions in a picture of masks
FEW = 4  # the most tokens that are listed in a sentence
LONGER = 8  # times the text, at which its cost is told where the context is no longer than the text
ONLY_EXPERT = ("Entropy of the softmax",)
OF = {
    "parameters": "parameters",
    "operations": "flops",
    "activations": "activations",
}  # the words on screen: those of `analysis.cost`


def diagram(here: Path, config: TransformerConfig, n: int, m: int) -> list[Picture]:
    each = cost.costs(config, n, m)
    total = {name: sum(getattr(part, of).value for part in each) for name, of in list(OF.items())[:2]}
    facts = {name: count(value) for name, value in total.items()} | parameter_shares(each)
    simple = state.level() == "beginner"
    say(here, "architecture", tokens=n, length=_length(n), time=changes.time_alone(total["operations"]), **facts)
    if simple:
        changes.say_change(here, config, n)
    options: dict[str, Any] = {"config": asdict(config), "tokens": n, "target": m, "simple": simple}

    def boxes() -> dict[str, Numbers]:
        rows = [
            (column, inside, box)
            for column, column_boxes in recipes.columns(**options)
            for box in column_boxes
            for inside, box in [("", box), *((box.name, part) for part in box.parts)]
        ]
        lists = {
            "part": [box.name for *_, box in rows],
            "shape": [box.shape for *_, box in rows],
            "note": [box.note for *_, box in rows],
            "times": [box.times for *_, box in rows],
            "inside": [inside for _, inside, _ in rows],
            "stack": [column for column, *_ in rows],
        }
        return {name: Numbers(np.array(values), ("box",)) for name, values in lists.items()}

    drawing = picture(recipes.diagram, "architecture", "Architecture", config, options, boxes)
    show(drawing.drawn, "architecture")
    say(here, "architecture below", tokens=n)
    return [drawing]


def parameter_shares(parts: list[cost.Cost]) -> dict[str, str]:
    """Return the shares of the numbers to learn that are in attention and in the feed-forward networks."""
    total = sum(part.parameters.value for part in parts)
    shares = {
        name: sum(part.parameters.value for part in parts if kind in part.part) / total
        for name, kind in (("attention", "attention"), ("feedforward", "feed-forward"))
    }
    return {name: percent(share) for name, share in shares.items()}


def picture(
    recipe: Callable, key: str, title: str, config: TransformerConfig, options: dict[str, Any], numbers: Callable
) -> Picture:
    """Return a picture of the transformer of this page."""
    kind = {"decoder": "a decoder", "encoder": "an encoder", "encoder-decoder": "an encoder-decoder"}[config.kind]
    description = f"{kind} of {config.layers} layers × {config.heads} heads, d_model {config.d_model}"
    return Picture(recipe, (), options, key, numbers, words=description if "config" in options else "", title=title)


def curves(across: str, x: np.ndarray, series: Mapping[str, Any]) -> Callable[[], dict[str, Numbers]]:
    """Return the numbers of curves over a common x."""
    names = {across: list(x), "curve": list(series)}
    return lambda: {"value": Numbers(np.array(list(series.values()), dtype=float), ("curve", across), names)}


def costs(here: Path, config: TransformerConfig, n: int, m: int) -> list[Picture]:
    """Place formulas and numbers, beside those counted in a network that was built and run."""
    parts = cost.costs(config, n, m)
    total = sum(part.parameters.value for part in parts)
    over = cost.crossing(config, "feed-forward"), cost.crossing(config)
    overtaken = {"crossing": _from(over[1]), "feedforward": _from(over[0]), "context": f"{config.context:,}"}
    reach = words(here, f"reach {reached(config.context, *over)}", **overtaken)
    say(here, "cost", **moral(config, "operations", n, m), **overtaken, reach=reach)
    left, middle, right = st.columns(3)
    left.metric("Parameters", count(total))
    operations = count(sum(part.flops.value for part in parts))
    middle.metric(f"Operations for {_length(n)}", operations)
    cache_bytes = cost.cache_bytes(config, m, n) if config.kind == "encoder-decoder" else cost.cache_bytes(config, n)
    right.metric("Keys and values kept", "none" if config.kind == "encoder" else size(cache_bytes))
    measured, each = None, list["NetworkCost"]()
    if n > config.context or m > config.context:
        st.info(
            f"This text has {max(n, m)} tokens, more than the context of {config.context}, "
            "so the cost is calculated but not measured."
        )
    elif total > LARGEST:
        st.info(
            f"It has {count(total)} parameters. Its cost is calculated but not measured, "
            f"because at most {count(LARGEST)} are built here."
        )
    else:
        key, title = ("cost", config, n, m), "Building and measuring it"
        measured, each = jobs.result(key, lambda report: measure(config, n, m), title) or (None, [])
    quantity = one_of(page_state.COST_OF, tuple(OF), "", label="Of each part")
    say(here, f"cost most {quantity}", **moral(config, quantity, n, m))
    st.table(_table(parts, measured, OF[quantity]), border="horizontal")
    symbols = _symbols([getattr(part, OF[quantity]).formula for part in parts])
    say(here, "cost legend", symbols=symbols)
    with st.expander(words(here, "cost fold")):
        say(
            here,
            "cost symbols",
            symbols=symbols,
            weights=size(cost.scores_bytes(config, n)),
            length=_length(n),
            seconds="not measured yet" if measured is None else f"{1000 * measured.seconds:,.1f} ms",
        )
    if each:
        place_beside(here, each, n)
    if config.pattern != "full":
        say(here, "pattern", pattern=config.pattern, **_pair_counts(config, n, m))
    scores = next(part.flops for part in parts if part.part == recipes.SCORES)
    square = config.pattern == "full" and config.computed == "exact"
    growth = words(here, "crossing square", scores=scores.formula) if square else ""
    say(here, "crossing", scores=scores.formula, growth=growth, reach=reach, **overtaken)
    options: dict[str, Any] = {"config": asdict(config)}
    drawing = picture(
        recipes.crossing,
        "crossing",
        "Where attention overtakes",
        config,
        options,
        lambda: curves("tokens", *recipes.operations_by_length(**options))(),
    )
    show_chart(drawing.drawn, "crossing")
    return [drawing]


def moral(config: TransformerConfig, quantity: str, n: int, m: int) -> dict[str, str]:
    """Return which part costs most for this text and for a longer one, and the share of the scores in both."""
    longer = config.context if config.context > max(n, m) else LONGER * max(n, m)
    facts = {"length": _length(n), "longer": _length(longer)}
    for when, lengths in (("now", (n, m)), ("then", (longer, longer))):
        of_part: Counter[str] = Counter()
        for part in cost.costs(config, *lengths):
            of_part[part.part] += getattr(part, OF[quantity]).value
        (name, most), whole = of_part.most_common(1)[0], of_part.total() or 1
        facts |= {f"part_{when}": name, f"share_{when}": percent(most / whole)}
        facts[f"scores_{when}"] = percent(of_part[recipes.SCORES] / whole)
    return facts


def reached(context: int, feedforward: float, crossing: float) -> str:
    """Return which crossings lie within the context: "both", "first" (that of the feed-forward alone) or "none"; "never" where
    the scores overtake nothing at any length."""
    if math.isinf(feedforward):
        return "never"
    return "both" if crossing <= context else "first" if feedforward <= context else "none"


def measure(config: TransformerConfig, n: int, m: int) -> tuple[cost.Measured, list[NetworkCost]]:
    """Return what is measured of a transformer, and the cost of networks beside it if it is a decoder."""
    from analysis.baseline_cost import side_by_side  # with torch, for which the page does not wait

    return cost.measure(config, n, m), list(side_by_side(config, n)) if config.kind == "decoder" else []


def place_beside(here: Path, each: list[NetworkCost], n: int) -> None:
    """Place the table of networks without attention, folded."""
    with st.expander(words(here, "beside fold")):
        say(here, "beside", length=_length(n))
        rows = {NETWORKS[network_cost.network]: beside_row(network_cost) for network_cost in each}
        st.table(pd.DataFrame.from_dict(rows, orient="index"), border="horizontal")


def beside_row(network_cost: NetworkCost) -> dict[str, str]:
    """Return the columns of a network in that table."""
    return {
        "width": f"{network_cost.d_model:,}",
        "parameters": count(network_cost.parameters),
        "operations": count(network_cost.flops),
        "memory to go on": size(network_cost.memory),
        "one after the other": f"{network_cost.waits:,}",
        "milliseconds": "" if network_cost.seconds is None else f"{1000 * network_cost.seconds:.2g}",
    }


def _length(tokens: int) -> str:
    return f"{tokens:,} {'token' if tokens == 1 else 'tokens'}"


def _from(length: float) -> str:
    return "at no length of text" if length == float("inf") else f"from {length:,} tokens on"


def _pair_counts(config: TransformerConfig, n: int, m: int) -> dict[str, str]:
    """Return how many pairs of tokens may see each other under the pattern, and of how many, in all stacks."""
    from models.scratch.masks import pairs

    stacks = {"decoder": [(n, False)], "encoder": [(n, True)], "encoder-decoder": [(n, True), (m, False)]}[config.kind]
    pair_count, square = sum(pairs(config, *stack) for stack in stacks), sum(length**2 for length, _ in stacks)
    return {"pairs": f"{pair_count:,}", "square": f"{square:,}"}


def masks(here: Path, config: TransformerConfig, n: int, m: int, texts: list[str]) -> list[Picture]:
    """Place the mask, which shows which tokens may see which. texts: of the tokens; only the first ones get a row."""
    options: dict[str, Any] = {"config": asdict(config), "tokens": texts[:SEEN]}
    count = len(options["tokens"])
    visible = recipes.may_see(options["config"], count)
    say(
        here,
        "masks",
        future=words(here, f"masks {config.kind}"),
        rule=pattern_rule(here, config),
        last=quote(options["tokens"][-1]),
        seen=seen_by_last(here, visible, options["tokens"]),
    )
    drawing = picture(
        recipes.mask,
        "mask",
        "Who may see whom",
        config,
        options,
        lambda: {"may_see": Numbers(visible.astype(np.uint8), ("query", "key"))},
    )
    show_chart(drawing.drawn, "mask")
    say(here, "masks below", share=percent(visible.mean()), count=count, pairs=f"{int(visible.sum()):,}")
    return [drawing]


def pattern_rule(here: Path, config: TransformerConfig) -> str:
    """Return a sentence on what the pattern of a config leaves out."""
    return words(
        here,
        f"masks {config.pattern}",
        window=config.window,
        random=config.random_keys,
        first="first token" if config.global_tokens == 1 else f"first {config.global_tokens} tokens",
    )


def seen_by_last(here: Path, visible: np.ndarray, texts: list[str]) -> str:
    """Return what the last token may see, in words."""
    seen = np.flatnonzero(visible[-1][:-1])
    case = "itself" if len(seen) == 0 else "all" if len(seen) == len(texts) - 1 else "few" if len(seen) <= FEW else "some"
    names = ", ".join(quote(texts[place]) for place in seen[:FEW])
    return words(here, f"masks sees {case}", seen=len(seen), before=len(texts) - 1, names=names)


def quote(text: str) -> str:
    """Return a token in quotation marks, for a sentence."""
    return f"“{plain(short(named(text)))}”"


def positions(here: Path, config: TransformerConfig, n: int, m: int) -> list[Picture]:
    """Place pictures of what positions do to near and far tokens, and of the vectors or rotations that do it."""
    options: dict[str, Any] = {"config": asdict(config), "length": min(max(n, 64), config.context)}
    scheme, pictures = recipes.scheme(**options), []
    facts = position_facts(scheme)
    if facts.pop("falls", ""):
        facts["moral"] = words(here, f"nearer {config.positions}")
    if scheme.by_distance:
        say(here, "positions why")
        numbers = curves("distance", scheme.distances, scheme.by_distance)
        pictures.append(picture(recipes.by_distance, "by-distance", scheme.says, config, options, numbers))
    if scheme.values is not None:

        def values() -> dict[str, Numbers]:
            return {"value": Numbers(np.asarray(scheme.values), (scheme.down, scheme.across))}

        pictures.append(picture(recipes.position_values, "encoding", scheme.title, config, options, values))
    if (waves := scheme.wavelengths) is not None:
        numbers = curves("pair", np.arange(len(waves)), {"wavelength": waves})
        pictures.append(picture(recipes.wavelengths, "wavelengths", "Tokens until it comes round", config, options, numbers))
    if not pictures:
        say(here, f"positions {config.positions}")
    for drawing in pictures:
        heading = "positions" if drawing.key == "encoding" else drawing.key
        say(here, f"{heading} {config.positions}", **facts)
        show_chart(drawing.drawn, drawing.key)
    if formula := words(here, f"formula {config.positions}"):
        with st.expander(words(here, "formula fold")):
            st.caption(formula)
    return pictures


def position_facts(scheme: Encoding) -> dict[str, str]:
    """Return what is said of a scheme of positions: numbers for neighbours and for positions far apart, and of its waves."""
    if not scheme.by_distance:
        return {}
    by_head = list(scheme.by_distance.values())
    far = len(scheme.distances) - 1
    near, half = min(1, far), far // 2 + 1
    whole = by_head[0][0] or 1.0  # a bias is 0 at distance 0
    facts = {
        "far": _length(far),
        "moral": "",
        "falls": "yes" if far and np.mean(by_head[0][:half]) > np.mean(by_head[0][half:]) else "",
        "near_half": signed(float(by_head[0][:half].mean() / whole)),
        "far_half": signed(float((by_head[0][half:] if far else by_head[0]).mean() / whole)),
        "low_share": signed(float(by_head[0].min() / whole)),
        "low_at": _length(int(by_head[0].argmin())),
        "near_share": signed(float(by_head[0][near] / whole)),
        "far_share": signed(float(by_head[0][far] / whole)),
        "near_value": decimal(float(by_head[0][near])),
        "far_value": decimal(float(by_head[0][far])),
        "last": list(scheme.by_distance)[-1],
        "last_near": decimal(float(by_head[-1][near])),
        "last_far": decimal(float(by_head[-1][far])),
    }
    if (waves := scheme.wavelengths) is not None:
        facts |= {"shortest": decimal(float(waves[0])), "longest": f"{float(waves[-1]):,.0f}"}
    return facts


def root(here: Path, config: TransformerConfig, n: int, m: int) -> list[Picture]:
    """Place curves on why the scores are divided by √d_head, each below a sentence on what it shows."""
    facts = root_facts(scaling(), config.d_head)
    say(here, "root", **facts)
    pictures = []
    table = scaling()
    for title, (_, series) in recipes.BENCH.items():
        if state.level() != "expert" and title in ONLY_EXPERT:
            continue
        numbers = curves("d_head", table["d_k"].to_numpy(), {name: table[column] for name, column in series.items()})
        pictures.append(picture(recipes.bench, title, title, config, {"title": title}, numbers))
        say(here, f"root {title.split()[0].lower()}", **facts)
        show_chart(pictures[-1].drawn, title)
    say(here, "root more", **facts)
    return pictures


def root_facts(table: pd.DataFrame, d_head: int) -> dict[str, object]:
    """Return the numbers said of softmax with and without the division: at the ends of the curves, and at a width."""
    at, first, last = scaling(sizes=(d_head,)).iloc[0], table.iloc[0], table.iloc[-1]
    less = table[table.gradient_plain < table.gradient_scaled]
    return {
        "size": d_head,
        "spread": f"{at.spread:.2f}",
        "expected": f"{at.expected:.2f}",
        "plain": f"{at.entropy_plain:.2f}",
        "scaled": f"{at.entropy_scaled:.2f}",
        "even": f"{np.log(32):.2f}",
        "largest": percent(at.largest_plain),
        "least": percent(at.largest_scaled),
        "smallest_d": f"{first.d_k:.0f}",
        "largest_d": f"{last.d_k:.0f}",
        "plain_first": percent(first.largest_plain),
        "plain_last": percent(last.largest_plain),
        "scaled_first": percent(first.largest_scaled),
        "scaled_last": percent(last.largest_scaled),
        "peak": f"{table.d_k.iloc[int(table.gradient_plain.argmax())]:.0f}",
        "peak_slope": decimal(float(table.gradient_plain.max())),
        "last_slope": decimal(float(last.gradient_plain)),
        "kept_slope": decimal(float(last.gradient_scaled)),
        "below": f"{less.d_k.min():.0f}",
        "before_below": f"{table.d_k[table.d_k < less.d_k.min()].max():.0f}",
        "even_weight": percent(1 / 32),
    }


def _table(parts: list[cost.Cost], measured: cost.Measured | None, quantity: str) -> pd.DataFrame:
    """Return a row for each part with a cost: formula, value, and the counted number."""
    write, rows = size if quantity == "activations" else _plain, []
    for part in parts:
        term, row = getattr(part, quantity), {"part": f"{part.stack} {part.part}".strip()}
        if not term.formula:
            continue
        row["formula"], row["here"] = term.formula, write(term.value)
        row["counted"] = "" if measured is None else write(getattr(measured, quantity).get((part.part, part.stack), 0))
        rows.append(row)
    return pd.DataFrame(rows).set_index("part")


def _symbols(formulas: list[str]) -> str:
    """Return what the symbols in these formulas mean."""
    letters = set(re.findall(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])", " ".join([*formulas, "n"])))
    return ", ".join(meaning for meaning in cost.SYMBOLS.split(", ") if meaning[0] in letters)


def _plain(value: int) -> str:
    return f"{value:,}" if value else "0"
