"""Guided examples: each says what to look for, and sets the page on which to see it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ui import state
from ui.escaping import plain
from ui.memory import trainings
from viz import percent

if TYPE_CHECKING:
    from models.info import ModelInfo

FILE = Path(__file__).with_suffix(".toml")
FOUND = "Repetition"  # of the writer: where its induction head is seen
LOOKS = {  # at what the head of a task looks, by the name of the task
    "repeat": "what followed the same letter the last time",
    "dates": "the sign that is to come, where the date has it",
    "text": "the letter just before",
}
LETTER = "the letter that is to come, where it was given"


@dataclass(frozen=True)
class Example:
    """An example. look: what to look for, in one sentence; text: to be read; model, page: their names; link: the choices on that
    page, as an address writes them; then: the name of a lesson that continues the example."""

    title: str
    look: str
    text: str
    model: str
    page: str
    link: Mapping[str, str] = field(default_factory=dict)
    then: str = ""

    @property
    def level(self) -> str:
        """The lowest level that can show it: beginners choose no head."""
        return state.LEVELS[1] if state.LAYER.name in self.link else state.LEVELS[0]


@cache
def guided_examples() -> tuple[Example, ...]:
    """Return the examples for the models that ship, in the order of their file."""
    return tuple(Example(**each) for each in tomllib.loads(FILE.read_text(encoding="utf-8"))["example"])


def for_model(info: ModelInfo) -> list[Example]:
    """Return the examples for a model; for a model that was trained here, the example of its own task."""
    own = trained_example(info.name)
    return [own] if own else [example for example in guided_examples() if example.model == info.name]


def for_menu(info: ModelInfo) -> list[Example]:
    """Return the examples for a model that the chosen level can show."""
    here = state.LEVELS.index(state.level())
    return [example for example in for_model(info) if state.LEVELS.index(example.level) <= here]


def trained_example(name: str) -> Example | None:
    """Return the example of a model that was trained here: its own sequence, seen through the head that its task needs; None for
    others.
    """
    trained_model = trainings.find(name)
    if not trained_model or not trained_model.reads:
        return None
    layer, head, share = trained_model.reads
    target = LOOKS.get(trained_model.task, LETTER)
    look = f"Look for {target}: L{layer} H{head} gives it {percent(share)} of its weight."
    through = {"view": "Head", "layer": f"L{layer}", "head": f"H{head}"}
    return Example(trained_model.task.capitalize(), look, trained_model.examples[0], name, "attention", through)


def as_markdown(example: Example) -> str:
    return f"**{plain(example.title)}.** {plain(example.look)}"


def open_example(example: Example) -> None:
    """Open an example, with all its choices, in the next run."""
    level = max(state.level(), example.level, key=state.LEVELS.index)
    link = {**example.link, state.TEXT.name: example.text, state.LEVEL.name: level, state.MODEL.name: example.model}
    state.COVERED.set([])
    state.SAID.set(example.link.get(state.TARGET.name))
    state.LESSON_NEXT.set((example.page, link))


def example_on_page(info: ModelInfo, page: str, text: str) -> Example | None:
    """Return the example that this page shows with this text and head; None where it shows something else."""
    here = {key.name: f"{key.name[0].upper()}{key.get()}" for key in (state.LAYER, state.HEAD)}
    for example in for_model(info):
        head = {name: value for name, value in example.link.items() if name in here}
        if (example.page, example.text) == (page, text) and head.items() <= here.items():
            return example if state.LEVELS.index(state.level()) >= state.LEVELS.index(example.level) else None
    return None


def find_counterpart(example: Example) -> Example | None:
    """For a model that learned here to repeat letters, return the example of a writer's head that does the same; else None."""
    return (
        next((candidate for candidate in guided_examples() if candidate.title == FOUND), None)
        if example.title == "Repeat"
        else None
    )
