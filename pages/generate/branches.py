"""The branches of a text side by side; a press on one shows it above."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from models.generation import Step
from pages.generate import recipes
from pages.generate.grown import Grown, chance
from pages.generate.shown import what_was_said
from ui.look import Look
from ui.picture.picture import Numbers, Picture
from ui.show import choice, part, show
from ui.words import words
from viz import Card, Part, board

HERE = Path(__file__).parent


def place(grown: Grown, look: Look, pictures: list[Picture]) -> None:
    """A card for each branch, where there are several. pictures: those of the page, to add them to."""
    if len(grown.lines) < 2:
        return

    def react() -> None:
        grown.current, grown.at = int(choice("branches")["part"].removeprefix("branch ")), None

    def card(number: int) -> Card:
        name = words(HERE, "title branch shown" if number == grown.current else "title branch", number=number + 1)
        return Card([part("A branch", branch, number, grown, look, pictures)], name, 1)

    above = Card([Part("words", None, words(HERE, "branches"))], words(HERE, "title branches"))
    show(board([above, *map(card, range(len(grown.lines)))], words(HERE, "title branches")), "branches", react)


def branch(number: int, grown: Grown, look: Look, pictures: list[Picture]) -> Part:
    """What was said in a branch, shaded by the chance that the model itself gave to each token."""
    name, line = f"branch {number}", grown.lines[number]
    if not line:
        return Part(name, None, "–")
    ids = [step.token.id for step in line]
    at = min(parting(grown.lines, number), len(line) - 1)

    def numbers() -> dict[str, Numbers]:
        texts = {"token": [step.token.text for step in line]}
        return {"id": Numbers(np.array(ids), ("token",), texts), "probability": Numbers(recipes.chances(line), ("token",), texts)}

    options = {"said": what_was_said(grown, line), "at": at, "simple": look.beginner}
    made = Picture(
        recipes.branch, (look,), options, "branches",
        numbers, title=f"Branch {number + 1}", part=name, takes=("model", "trace"), known={"steps": line},
    )  # fmt: skip
    pictures.append(made)
    facts = {"count": len(line), "chance": f"{chance(line):.2f}".replace("-", "−")}
    return made.on_board(words(HERE, "branch", **facts))


def parting(lines: Sequence[Sequence[Step]], number: int) -> int:
    """The first token of a branch that the others do not share."""

    def shared(one: Sequence[Step], other: Sequence[Step]) -> int:
        pairs = zip(one, other, strict=False)
        return next((at for at, (a, b) in enumerate(pairs) if a.token.id != b.token.id), min(len(one), len(other)))

    return max(shared(lines[number], other) for at, other in enumerate(lines) if at != number)
