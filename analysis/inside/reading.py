"""The stages of a part of a forward pass: each step on the path from its input to its output."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, count
from typing import TYPE_CHECKING

import numpy as np

from analysis.inside import steps
from analysis.inside.formulas import Activation, BiasAddition, DimensionScale, HeadConcatenation, Scale, Sum, Times
from analysis.inside.stages import Formula, Stage
from analysis.inside.stored import array

if TYPE_CHECKING:
    from models.watching.steps import Node, Section

OWN = "This model does something of its own here ({}), which is not taken apart. The numbers are its own."
NOT_EQUAL = "The formula does not give the numbers that the model has here, so it is not shown. The numbers are its own."
ADDS, PRODUCTS = frozenset({"add", "add_", "__add__", "__radd__"}), frozenset({"mul", "mul_", "__mul__", "div", "div_"})


class Reading:
    """The stages of a section, in order. count: of tokens; positions: those of the window; near: the tolerance for equality."""

    def __init__(
        self,
        section: Section,
        count: int,
        layer: int | None,
        stack: str,
        positions: np.ndarray,
        near: float,
        held: np.ndarray | None = None,
    ):
        self.section, self.count, self.layer, self.stack = section, count, layer, stack
        self.positions, self.near, self.held = positions, near, held
        self.stages: list[Stage] = []
        self.of: dict[int, Stage] = {}  # by the id of the step
        self.parts: dict[tuple[int, bytes], Stage] = {}  # of a linear map, by its columns
        self.path = on_the_way(section)
        self.composites = {
            id(node): composite for node in self.path if (composite := steps.composite_activation(node)) is not None
        }
        self.inner = frozenset[int]().union(
            *(composite.inner for composite in self.composites.values())
        )  # steps inside a composite activation
        self.users: dict[int, list[tuple[Node, Node]]] = {}  # of a step: the steps that use it, and by which view
        for node in self.path:
            for view in node.given:
                self.users.setdefault(id(view.base), []).append((node, view))

    def add(
        self,
        name: str,
        axes: tuple[str, ...],
        rule: Formula | None,
        recorded: np.ndarray | None = None,
        node: Node | None = None,
        missing: str | None = None,
        positions: np.ndarray | None = None,
    ) -> Stage:
        """Add a stage, checked against the recorded numbers."""
        names = {stage.name for stage in self.stages}
        unique = next(candidate for candidate in chain([name], (f"{name} {i}" for i in count(2))) if candidate not in names)
        positions = self.positions if positions is None else positions
        stage = Stage(unique, axes, self.layer, self.stack, rule, recorded, positions, missing, self.held)
        if rule is not None and recorded is not None and not missing and not self.follows(rule, stage):
            stage.missing = NOT_EQUAL
        self.stages.append(stage)
        if node is not None:
            self.of[id(node)] = stage
        return stage

    def follows(self, rule: Formula, stage: Stage) -> bool:
        """Return whether a formula gives the recorded numbers."""
        try:
            return steps.close(rule.rows(stage.positions), stage.values, self.near)
        except (ValueError, IndexError):  # shapes that the formula is not for
            return False

    def attempt(self, node: Node, read: Callable[[Node], None]) -> None:
        """Read a step; an unforeseen kind of step must not stop the others from being read."""
        before = len(self.stages)
        try:
            read(node)
        except Exception:  # a model family may do anything here
            del self.stages[before:]
            if (value := steps.flat(node, self.count)) is not None:
                self.add("own step", ("token", "d_model"), None, value, node, OWN.format(node.op))

    def users_of(self, node: Node) -> list[Node]:
        return [user for user, _ in self.users.get(id(node), [])]

    def stage_of(self, view: Node) -> Stage | None:
        """Return the stage whose numbers a view of a tensor has; None if there is none."""
        stage = self.of.get(id(view.base))
        if stage is None and view.base.op != "given" and (columns := self.columns(view)) is not None:
            return self.parts.get((id(view.base), columns.tobytes()))
        mine = None if stage is None else steps.flat(view, self.count)
        same = stage is not None and (len(stage.axes) != 2 or (mine is not None and np.array_equal(mine, stage.rows(None))))
        return stage if same else None

    def join(self, heads: Stage) -> Stage:
        """Return the heads' outputs side by side, as a stage that is added once."""
        name = heads.name.replace("mixed values", "joined heads")
        heads_joined = next((stage for stage in self.stages if stage.name == name), None)
        return heads_joined or self.add(name, ("token", "d_model"), HeadConcatenation(heads))

    def columns(self, view: Node) -> np.ndarray | None:
        """Return the indices of a step's outputs that a view of it contains: int [n]; None if they are unknown."""
        mine, whole = steps.flat(view, self.count), steps.flat(view.base, self.count)
        return None if mine is None or whole is None else columns_of(mine, whole)

    def plain(self, node: Node, name: str, missing: str | None = None) -> Stage | None:
        """Add a step by its operation: add, multiply, scale, a linear map, a norm or an activation.

        None for a step whose numbers are not those of tokens one by one.
        """
        value = steps.flat(node, self.count)
        rule: Formula | None = None
        axes = ("token", "d_model")
        if value is None:
            return None
        inputs = [self.stage_of(view) for view in node.given]
        if not steps.is_linear(node):
            inputs = [stage if stage is None or len(stage.axes) == 2 else self.join(stage) for stage in inputs]
        ready = [stage for stage in inputs if stage is not None]
        if missing is None and steps.is_linear(node) and inputs[0] is not None:
            rule = steps.linear(node, inputs[0])
        elif missing is None and steps.is_norm(node) and inputs[0] is not None:
            here = value if self.held is not None else value[self.positions]
            rule = steps.norm(node, inputs[0], here, self.positions, self.near)
        elif missing is None and steps.is_activation(node) and inputs[0] is not None:
            rule = steps.activation(node, inputs[0], self.positions[:1])
        elif (
            missing is None
            and id(node) in self.composites
            and (x := self.of.get(id(self.composites[id(node)].start))) is not None
        ):
            rule = Activation(x, self.composites[id(node)].function, self.composites[id(node)].name)
        elif missing is None and node.op in ADDS and len(ready) == len(inputs) > 1:
            rule = Sum(*ready)
        elif missing is None and node.op in PRODUCTS and len(ready) == 2 == len(inputs):
            rule = Times(*sorted(ready, key=lambda factor: -factor.rows(self.positions[:1]).shape[-1]))
        elif missing is None and len(ready) == 1 and (stored := stored_with(node, value.shape[-1])) is not None:
            rule = BiasAddition(ready[0], stored) if node.op in ADDS else DimensionScale(ready[0], stored)
        elif missing is None and node.op in PRODUCTS and len(ready) == 1:
            rule = self.scale(ready[0], value)
        if rule is None and missing is None:
            missing = OWN.format(node.op if node.module is None else type(node.module).__name__)
        return self.add(name, axes, rule, value, node, missing)

    def scale(self, x: Stage, value: np.ndarray) -> Scale | None:
        """Return the formula of x times one number; None if no number gives the value."""
        factor = Scale.factor_between(x.rows(None), value)
        return None if factor is None else Scale(x, factor)

    def start(self, name: str, stage: Stage) -> None:
        """Set the stage of the section's input."""
        assert self.section.start is not None, "a section that was watched"
        self.of[id(self.section.start)] = stage


def on_the_way(section: Section) -> list[Node]:
    """Return the steps that a section's output was calculated from, in order, without views and whole numbers."""
    assert section.end is not None, "a section that was watched"
    visited, ahead = set(), [section.end.base]
    for node in ahead:  # the list grows while it is walked
        if id(node) not in visited:
            visited.add(id(node))
            if node is not section.start:
                ahead.extend(node.given)
    return [node for node in section.nodes if id(node) in visited and not node.view and node.value.is_floating_point()]


def stored_with(node: Node, width: int) -> np.ndarray | None:
    """Return the stored numbers [width], the same for all tokens, that a step adds or multiplies by; else None."""
    numbers = [value for value in node.inputs[1:] if isinstance(value, int | float)]
    stored = [view.base.value for view in node.given if view.base.op == "given" and view.base.value.dim() == 1]
    if node.op in ADDS and numbers and len(node.given) == 1:
        return np.full(width, numbers[0], np.float32)
    if node.op not in (*ADDS, "mul", "mul_") or len(stored) != 1 or len(node.given) != 2 or len(stored[0]) != width:
        return None
    return array(stored[0])


def columns_of(part: np.ndarray, whole: np.ndarray) -> np.ndarray | None:
    """Return the index in another array of each column of [token, n]; None if a column is not in it."""
    if part.shape == whole.shape and np.array_equal(part, whole):
        return np.arange(part.shape[1])
    column_of: dict[bytes, int] = {}
    for i, column in enumerate(whole.T):
        column_of.setdefault(column.tobytes(), i)
    columns = [column_of.get(column.tobytes(), -1) for column in part.T]
    return np.array(columns) if columns and min(columns) >= 0 else None


def operands(node: Node, inside: set[int]) -> Iterable[Node]:
    """Yield the addends of a chain of additions whose intermediate sums (`inside`: their ids) have no other use."""
    for view in node.given:
        if id(view.base) in inside:
            yield from operands(view.base, inside)
        else:
            yield view
