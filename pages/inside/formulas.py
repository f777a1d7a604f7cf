"""Words about a stage: its name, its work, and its formula with the numbers of this text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from analysis import inside
from pages.inside import recipes
from pages.inside.pieces.sentences import quantity
from ui.picture.board import Draft

SHOWN = 3  # terms of a sum that are written out
PROBES = np.linspace(-4, 4, 33, dtype=np.float32)
PLAIN = {"logits": "unembedding", "softmax": "shares"}  # headings for beginners, who do not know these words
CROSS = "cross "  # begins the names of the stages of cross-attention


def name(draft: Draft, stage: inside.Stage | str) -> str:
    """Return the name of a stage: its first line up to the colon."""
    return first_line(draft, stage)[0]


def first_line(draft: Draft, stage: inside.Stage | str) -> tuple[str, str]:
    """Return the name of a stage, and its work in a few words."""
    key = stage if isinstance(stage, str) else stage.name
    line = section(draft, stage).partition("\n")[0]
    before, colon, after = line.partition(": ")
    if not colon:
        return key.capitalize(), line
    crossing = key.startswith(CROSS) and not draft.words(f"stage {key}")
    return f"Cross: {before[0].lower()}{before[1:]}" if crossing else before, after


def explanation(draft: Draft, stage: inside.Stage | str, facts: Mapping[str, object]) -> str:
    """Explain what happens in a stage, with the names and numbers of this text."""
    key = stage if isinstance(stage, str) else stage.name
    crossing = draft.words("cross") if key.startswith(CROSS) else ""
    own = section(draft, stage, **facts).partition("\n")[2].strip()
    return "\n\n".join(filter(None, [own, function_of(draft, stage), crossing]))


def function_of(draft: Draft, stage: inside.Stage | str) -> str:
    """Return a sentence with the name and the formula of a stage's activation function; "" for other stages."""
    if isinstance(stage, str) or stage.formula != "activation" or stage.rule is None:
        return ""
    rule: Any = stage.rule
    known = activation_functions()
    values = rule.function(PROBES)
    heading = next((name for name, each in known.items() if np.allclose(each(PROBES), values, atol=1e-5, rtol=0)), "other")
    return draft.words(f"function {heading}", name=rule.name)


@cache
def activation_functions() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Return the activation functions that have words of their own, by their names there."""
    import torch

    def on_arrays(function: Callable) -> Callable[[np.ndarray], np.ndarray]:
        return lambda x: function(torch.from_numpy(x)).numpy()

    gelu_tanh = partial(torch.nn.functional.gelu, approximate="tanh")
    functions: dict[str, Callable] = {
        "SiLU": torch.nn.functional.silu,
        "GELU": torch.nn.functional.gelu,
        "GELU by tanh": gelu_tanh,
        "ReLU": torch.relu,
    }
    return {name: on_arrays(function) for name, function in functions.items()}


def section(draft: Draft, stage: inside.Stage | str, **facts: object) -> str:
    """Return the words of a stage: by its name, without its number or its attention; else those of its formula."""
    key = stage if isinstance(stage, str) else stage.name
    plain = re.sub(r" \d+$", "", key)
    if not isinstance(stage, str) and plain == "blocks":
        facts |= {"layers": quantity(draft.look.trace.attention[stage.stack].layers, "layer")}
    for candidate in (key, plain, PLAIN.get(plain, plain), plain.removeprefix(CROSS)):
        kind = draft.look.model.info.kind if candidate == "choice" else ""
        heading = f"stage {candidate}" if isinstance(stage, str) else draft.heading_for(f"stage {candidate}", case(stage) or kind)
        if text := draft.words(heading, **facts):
            return text
    return "" if isinstance(stage, str) else draft.words(f"kind {stage.formula}", **facts)


def case(stage: inside.Stage) -> str:
    """Return the variant of the words: "labels" if labels are scored in place of tokens, else ""."""
    stages = [stage, *(stage.rule.inputs if stage.rule is not None else ())]
    return "labels" if any(part.axes[-1] == "label" for part in stages) else ""


def factors(draft: Draft, stage: inside.Stage) -> tuple[str, str]:
    """Return the names of the two factors that are multiplied in a stage."""
    heading = "outcome" if stage.name == "choice" else PLAIN.get(stage.formula, stage.formula)
    left, _, right = draft.words(f"factors {heading}").partition(" | ")
    return left, right


def put_in(draft: Draft, cell: inside.Cell, stage: inside.Stage, names: Mapping[str, object]) -> str:
    """Fill in the formula of a stage with the numbers of the chosen cell; for beginners say what a norm divided by."""
    if not cell.terms:
        return ""
    if stage.formula == "rotary":
        return put_in_turn(draft, cell, stage)
    terms, others = recipes.largest(cell)
    rest = others or terms[SHOWN:]  # the same as in the table of terms, where that has a rest
    parts = [f"({figure(term.left)} × {figure(term.right)})" for term in terms[: len(terms) if others else SHOWN]]
    if rest:
        what = " neurons" if stage.rule is not None and stage.rule.inputs[0].axes[-1] == "neuron" else ""
        parts.append(f"{figure(sum(term.product for term in rest))} ({len(rest):,} more{what})")
    facts = cell.facts
    known = {fact: figure(value) for fact, value in facts.items()}
    if stage.formula == "softmax":
        known["sum"] = f"{facts['sum']:.4g}"  # so that whoever divides by it gets the share
    left = (facts["x"] - facts.get("mean", 0.0)) / facts["spread"] if "spread" in facts else terms[0].left
    own = {"terms": " + ".join(parts).replace("+ −", "− "), "value": figure(cell.value), "left": figure(left)}
    own["bias"] = " + b" if any(term.label == "bias" for term in cell.terms) else ""
    return draft.words(f"formula {PLAIN.get(stage.formula, stage.formula)}", **{**names, **known, **own})


def put_in_turn(draft: Draft, cell: inside.Cell, stage: inside.Stage) -> str:
    """Fill in the formula of rotary positions, its two terms in the order of the formula."""
    value = figure(cell.value)
    if len(cell.terms) < 2:
        return draft.words("formula not turned", value=value)
    by_cos, by_sin = cell.terms
    name = turn_name(stage, by_sin)
    sign, sin = ("−", -by_sin.right) if name.startswith("−") else ("+", by_sin.right)
    four = {"cos": figure(by_cos.right), "sin": figure(sin), "first": figure(by_cos.left), "second": figure(by_sin.left)}
    return draft.words("formula rotary", sign=sign, value=value, angle=angle(draft, cell, stage), **four)


def turn_name(stage: inside.Stage, term: inside.Term) -> str:
    """Return the name of the factor in a term of rotary positions: "cos θ", "sin θ" or "−sin θ"."""
    if term.label.endswith("the cosine") or term.source is None:
        return "cos θ"
    rule: Any = stage.rule
    return "−sin θ" if term.source.at[-1] in rule.pairs[:, 1] else "sin θ"


def angle(draft: Draft, cell: inside.Cell, stage: inside.Stage) -> str:
    """Return words on the angle of rotary positions: position times frequency, less whole turns, where the frequency is known."""
    rule: Any = stage.rule
    _, position, dimension = cell.place.at
    pair, modulo = rule.partner[dimension][0], cell.facts["angle"]
    attention = draft.look.trace.attention.get(stage.stack)
    rotary = attention.rotary(stage.layer) if attention is not None and stage.layer is not None else None
    frequency = float(rotary.frequencies[pair]) if rotary is not None and pair < len(rotary.frequencies) else np.nan
    whole = position * frequency
    if not np.allclose([np.cos(whole), np.sin(whole)], [np.cos(modulo), np.sin(modulo)], atol=1e-3):
        return draft.words("angle alone", angle=radians(modulo))
    heading = "angle" if abs(whole - modulo) < 1 else "angle less turns"
    figures = {"position": str(position), "frequency": radians(frequency), "whole": radians(whole), "angle": radians(modulo)}
    return draft.words(heading, **figures)


def radians(value: float) -> str:
    """Format an angle with four significant digits."""
    return f"{value:.4g}".replace("-", "−")


def figure(value: float) -> str:
    """Format a number with the digits that it has in the table of terms, so that readers who check the sum get the same."""
    size = abs(value)
    if not np.isfinite(value) or value == int(value):
        return recipes.written(value)
    places = 0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 1 else 3 if size >= 0.1 else 4 if size >= 0.01 else 5
    places = 5 if 0.9995 <= size < 0.999995 else places  # what is less than 1 is not rounded up to it
    return f"{value:z.{places}f}".replace("-", "−")
