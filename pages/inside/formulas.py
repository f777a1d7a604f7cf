"""What is said of a stage: its name, what happens there, and its formula with this sentence's numbers put in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from analysis import inside
from pages.inside import recipes
from ui.words import headed, words

SHOWN = 3  # terms of a sum that are written out
PLAIN = {"logits": "unembedding", "softmax": "shares"}  # under which names beginners, who know no such words, find them
CROSS = "cross "  # begins the names of the stages of cross-attention


def name(folder: Path, stage: inside.Stage | str) -> str:
    """What a stage is called: what its first line says before the colon."""
    return first_line(folder, stage)[0]


def first_line(folder: Path, stage: inside.Stage | str) -> tuple[str, str]:
    """What a stage is called, and what happens in it in a few words."""
    key = stage if isinstance(stage, str) else stage.name
    line = section(folder, stage).partition("\n")[0]
    before, colon, after = line.partition(": ")
    if not colon:
        return key.capitalize(), line
    crossing = key.startswith(CROSS) and not words(folder, f"stage {key}")
    return f"Cross: {before[0].lower()}{before[1:]}" if crossing else before, after


def told(folder: Path, stage: inside.Stage | str, said: Mapping[str, object]) -> str:
    """What happens in a stage, with the names and numbers of this text."""
    key = stage if isinstance(stage, str) else stage.name
    crossing = words(folder, "cross") if key.startswith(CROSS) else ""
    return "\n\n".join(filter(None, [section(folder, stage, **said).partition("\n")[2].strip(), crossing]))


def section(folder: Path, stage: inside.Stage | str, **said: object) -> str:
    """The words of a stage, whichever of its name it is and in whichever attention; else those of all stages with its formula."""
    key = stage if isinstance(stage, str) else stage.name
    plain = re.sub(r" \d+$", "", key)
    for one in (key, plain, PLAIN.get(plain, plain), plain.removeprefix(CROSS)):
        heading = f"stage {one}" if isinstance(stage, str) else headed(folder, f"stage {one}", case(stage))
        if found := words(folder, heading, **said):
            return found
    return "" if isinstance(stage, str) else words(folder, f"kind {stage.formula}", **said)


def case(stage: inside.Stage) -> str:
    """Which case of the words a stage is: "labels" where labels are scored in the place of tokens."""
    of = [stage, *(stage.rule.inputs if stage.rule is not None else ())]
    return "labels" if any(one.axes[-1] == "label" for one in of) else ""


def factors(folder: Path, stage: inside.Stage) -> tuple[str, str]:
    """What the two numbers are that are multiplied in a stage."""
    left, _, right = words(folder, f"factors {PLAIN.get(stage.formula, stage.formula)}").partition(" | ")
    return left, right


def put_in(folder: Path, cell: inside.Cell, stage: inside.Stage, said: Mapping[str, object]) -> str:
    """The formula of a stage with the numbers of the one that is looked at; for beginners what a norm divided by."""
    if not cell.terms:
        return ""
    shown, others = recipes.largest(cell)
    rest = [*shown[SHOWN:], *others]
    parts = [f"({figure(one.left)} × {figure(one.right)})" for one in shown[:SHOWN]]
    if rest:
        parts.append(f"{figure(sum(one.product for one in rest))} ({len(rest):,} more)")
    facts = cell.facts
    known = {fact: figure(value) for fact, value in facts.items()}
    left = (facts["x"] - facts.get("mean", 0.0)) / facts["spread"] if "spread" in facts else shown[0].left
    own = {"terms": " + ".join(parts).replace("+ −", "− "), "value": figure(cell.value), "left": figure(left)}
    return words(folder, f"formula {PLAIN.get(stage.formula, stage.formula)}", **{**said, **known, **own})


def figure(value: float) -> str:
    """A number with the digits that it has in the table of the terms, so that who calculates with them gets the same."""
    size = abs(value)
    if not np.isfinite(value) or value == int(value):
        return recipes.written(value)
    places = 0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 1 else 3 if size >= 0.1 else 4 if size >= 0.01 else 5
    places = 5 if 0.9995 <= size < 0.999995 else places  # what is less than 1 is not rounded up to it
    return f"{value:z.{places}f}".replace("-", "−")
