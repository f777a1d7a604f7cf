"""The branches of a text, side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.generation.generate import Step
from models.numbers.softmax import log_softmax
from pages.generate import recipes
from pages.generate.parts import replay
from pages.generate.settings import Grown
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz import Card, Part

KEY = "branches"


def add(draft: Draft, grown: Grown) -> None:
    """Add a card for each branch, if there are several."""
    if len(grown.lines) < 2:
        return

    def card(number: int) -> Card:
        name = draft.words("title branch shown" if number == grown.current else "title branch", number=number + 1)
        return Card([draft.part("A branch", branch, number, grown)], name, 1)

    above = Card([Part("words", None, draft.words("branches"))], draft.words("title branches"))
    draft.add_cards(KEY, [above, *map(card, range(len(grown.lines)))], draft.words("title branches"))


def branch(draft: Draft, number: int, grown: Grown) -> Part:
    """Return the text of a branch, shaded by the probability that the model itself gave to each token."""
    name, line = f"branch {number}", grown.lines[number]
    if not line:
        return Part(name, None, "–")
    ids = [step.token.id for step in line]
    at = min(parting(grown.lines, number), len(line) - 1)

    def numbers() -> dict[str, Numbers]:
        texts = {"token": [step.token.text for step in line]}
        return {"id": Numbers(np.array(ids), ("token",), texts), "probability": Numbers(recipes.chances(line), ("token",), texts)}

    options = {"answer": replay(grown, line), "at": at, "simple": draft.look.beginner}
    picture = Picture(
        recipes.branch,
        (draft.look,),
        options,
        KEY,
        numbers,
        title=f"Branch {number + 1}",
        part=name,
        takes=("model", "trace"),
        known={"steps": line},
    )
    facts = {"count": len(line), "chance": f"{chance(line):.2f}".replace("-", "−")}
    return draft.picture(picture, draft.words("branch", **facts))


def chance(steps: Sequence[Step]) -> float:
    """Return the log-probability, in nats, that the model gives to all of these tokens together, without any control."""
    return float(sum(log_softmax(step.logits)[step.token.id] for step in steps))


def parting(lines: Sequence[Sequence[Step]], number: int) -> int:
    """Return the number of the first token of a branch that no other branch shares."""

    def shared_length(line: Sequence[Step], other: Sequence[Step]) -> int:
        pairs = zip(line, other, strict=False)
        return next((at for at, (a, b) in enumerate(pairs) if a.token.id != b.token.id), min(len(line), len(other)))

    return max(shared_length(lines[number], other) for at, other in enumerate(lines) if at != number)
