"""The branches of a text, side by side; a click on a branch shows it above."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from models.generation import Step
from pages.generate import recipes
from pages.generate.continuation import Continuation, chance
from pages.generate.parts import replay
from ui.look import Look
from ui.parts import part
from ui.picture.picture import Numbers, Picture
from ui.show import choice, show
from ui.words import words
from viz import Card, Part, board

HERE = Path(__file__).parent


def place(continuation: Continuation, look: Look, pictures: list[Picture]) -> None:
    """Place a card for each branch, where there are several. pictures: the page's, to which theirs are added."""
    if len(continuation.lines) < 2:
        return

    def react() -> None:
        continuation.current, continuation.at = int(choice("branches")["part"].removeprefix("branch ")), None

    def card(number: int) -> Card:
        name = words(HERE, "title branch shown" if number == continuation.current else "title branch", number=number + 1)
        return Card([part("A branch", branch, number, continuation, look, pictures)], name, 1)

    above = Card([Part("words", None, words(HERE, "branches"))], words(HERE, "title branches"))
    show(board([above, *map(card, range(len(continuation.lines)))], words(HERE, "title branches")), "branches", react)


def branch(number: int, continuation: Continuation, look: Look, pictures: list[Picture]) -> Part:
    """The text of a branch, shaded by the probability that the model itself gave to each token."""
    name, line = f"branch {number}", continuation.lines[number]
    if not line:
        return Part(name, None, "–")
    ids = [step.token.id for step in line]
    at = min(parting(continuation.lines, number), len(line) - 1)

    def numbers() -> dict[str, Numbers]:
        texts = {"token": [step.token.text for step in line]}
        return {"id": Numbers(np.array(ids), ("token",), texts), "probability": Numbers(recipes.chances(line), ("token",), texts)}

    options = {"answer": replay(continuation, line), "at": at, "simple": look.beginner}
    picture = Picture(
        recipes.branch, (look,), options, "branches",
        numbers, title=f"Branch {number + 1}", part=name, takes=("model", "trace"), known={"steps": line},
    )  # fmt: skip
    pictures.append(picture)
    facts = {"count": len(line), "chance": f"{chance(line):.2f}".replace("-", "−")}
    return picture.on_board(words(HERE, "branch", **facts))


def parting(lines: Sequence[Sequence[Step]], number: int) -> int:
    """Return the number of the first token of a branch that no other branch shares."""

    def shared_length(line: Sequence[Step], other: Sequence[Step]) -> int:
        pairs = zip(line, other, strict=False)
        return next((at for at, (a, b) in enumerate(pairs) if a.token.id != b.token.id), min(len(line), len(other)))

    return max(shared_length(lines[number], other) for at, other in enumerate(lines) if at != number)
