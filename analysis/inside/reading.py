"""Steps of a part of a forward pass turned into stages: each step on the way from what the part is given to what it hands on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, count
from typing import TYPE_CHECKING

import numpy as np

from analysis.inside import steps
from analysis.inside.formulas import Activation, Joined, Scale, Shifted, Sum, Times, Weighed
from analysis.inside.stages import Formula, Stage
from analysis.inside.stored import array

if TYPE_CHECKING:
    from models.watching import Node, Section

OWN = "This model does something of its own here ({}), which is not taken apart. The numbers are its own."
NOT_EQUAL = "The formula does not give the numbers that the model has here, so it is not shown. The numbers are its own."
ADDS, PRODUCTS = frozenset({"add", "add_", "__add__", "__radd__"}), frozenset({"mul", "mul_", "__mul__", "div", "div_"})


class Reading:
    """The stages of a section, in order. count: tokens; shown: the positions of the window; near: how close is equal."""

    def __init__(
        self,
        section: Section,
        count: int,
        layer: int | None,
        stack: str,
        shown: np.ndarray,
        near: float,
        held: np.ndarray | None = None,
    ):
        self.section, self.count, self.layer, self.stack = section, count, layer, stack
        self.shown, self.near, self.held = shown, near, held
        self.stages: list[Stage] = []
        self.of: dict[int, Stage] = {}  # by the id of the step
        self.parts: dict[tuple[int, bytes], Stage] = {}  # of a linear map, by its columns
        self.path = on_the_way(section)
        self.written = {id(node): found for node in self.path if (found := steps.written_out(node)) is not None}
        self.inner = frozenset[int]().union(*(one.inner for one in self.written.values()))  # steps that are a part of another
        self.users: dict[int, list[tuple[Node, Node]]] = {}  # of a step: who takes it, and by which view
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
        """A stage more, checked against what was recorded."""
        names = {one.name for one in self.stages}
        unique = next(one for one in chain([name], (f"{name} {i}" for i in count(2))) if one not in names)
        shown = self.shown if positions is None else positions
        stage = Stage(unique, axes, self.layer, self.stack, rule, recorded, shown, missing, self.held)
        if rule is not None and recorded is not None and not missing and not self.follows(rule, stage):
            stage.missing = NOT_EQUAL
        self.stages.append(stage)
        if node is not None:
            self.of[id(node)] = stage
        return stage

    def follows(self, rule: Formula, stage: Stage) -> bool:
        """Whether a formula gives what was recorded."""
        try:
            return steps.close(rule.rows(stage.positions), stage.values, self.near)
        except (ValueError, IndexError):  # other shapes than it is for
            return False

    def tried(self, node: Node, read: Callable[[Node], None]) -> None:
        """Read a step; one that is made in a way that nobody thought of must not take the others with it."""
        before = len(self.stages)
        try:
            read(node)
        except Exception:  # what a step of some family may be is without end
            del self.stages[before:]
            if (value := steps.flat(node, self.count)) is not None:
                self.add("own step", ("token", "d_model"), None, value, node, OWN.format(node.op))

    def users_of(self, node: Node) -> list[Node]:
        return [user for user, _ in self.users.get(id(node), [])]

    def taken(self, view: Node) -> Stage | None:
        """The stage whose numbers a step is given; None where there is none."""
        found = self.of.get(id(view.base))
        if found is None and view.base.op != "given" and (columns := self.columns(view)) is not None:
            return self.parts.get((id(view.base), columns.tobytes()))
        mine = None if found is None else steps.flat(view, self.count)
        whole = found is not None and (len(found.axes) != 2 or (mine is not None and np.array_equal(mine, found.rows(None))))
        return found if whole else None

    def joined(self, heads: Stage) -> Stage:
        """What heads brought, side by side."""
        name = heads.name.replace("mixed values", "joined heads")
        known = next((one for one in self.stages if one.name == name), None)
        return known or self.add(name, ("token", "d_model"), Joined(heads))

    def columns(self, view: Node) -> np.ndarray | None:
        """Which outputs of a step a view of it has: int [n]; None where that cannot be said."""
        mine, whole = steps.flat(view, self.count), steps.flat(view.base, self.count)
        return None if mine is None or whole is None else columns_of(mine, whole)

    def plain(self, node: Node, name: str, missing: str | None = None) -> Stage | None:
        """A step that is read by what it does: add, multiply, scale, a linear map, a norm or an activation.

        None for a step whose numbers are not those of tokens one by one.
        """
        value = steps.flat(node, self.count)
        rule: Formula | None = None
        axes = ("token", "d_model")
        if value is None:
            return None
        inputs = [self.taken(view) for view in node.given]
        if not steps.is_linear(node):
            inputs = [one if one is None or len(one.axes) == 2 else self.joined(one) for one in inputs]
        ready = [one for one in inputs if one is not None]
        if missing is None and steps.is_linear(node) and inputs[0] is not None:
            rule = steps.linear(node, inputs[0])
        elif missing is None and steps.is_norm(node) and inputs[0] is not None:
            here = value if self.held is not None else value[self.shown]
            rule = steps.norm(node, inputs[0], here, self.shown, self.near)
        elif missing is None and steps.is_activation(node) and inputs[0] is not None:
            rule = steps.activation(node, inputs[0], self.shown[:1])
        elif missing is None and id(node) in self.written and (x := self.of.get(id(self.written[id(node)].start))) is not None:
            rule = Activation(x, self.written[id(node)].function, self.written[id(node)].name)
        elif missing is None and node.op in ADDS and len(ready) == len(inputs) > 1:
            rule = Sum(*ready)
        elif missing is None and node.op in PRODUCTS and len(ready) == 2 == len(inputs):
            rule = Times(*sorted(ready, key=lambda one: -one.rows(self.shown[:1]).shape[-1]))
        elif missing is None and len(ready) == 1 and (stored := stored_with(node, value.shape[-1])) is not None:
            rule = Shifted(ready[0], stored) if node.op in ADDS else Weighed(ready[0], stored)
        elif missing is None and node.op in PRODUCTS and len(ready) == 1:
            rule = self.scaled(ready[0], value)
        if rule is None and missing is None:
            missing = OWN.format(node.op if node.module is None else type(node.module).__name__)
        return self.add(name, axes, rule, value, node, missing)

    def scaled(self, x: Stage, value: np.ndarray) -> Scale | None:
        """x times one number."""
        factor = Scale.factor_between(x.rows(None), value)
        return None if factor is None else Scale(x, factor)

    def start(self, name: str, stage: Stage) -> None:
        """What the section is given, as a stage of another one or of its own."""
        assert self.section.start is not None, "a section that was watched"
        self.of[id(self.section.start)] = stage


def on_the_way(section: Section) -> list[Node]:
    """The steps that what is handed on was calculated from, in order; views and numbers of positions or tokens aside."""
    assert section.end is not None, "a section that was watched"
    seen, ahead = set(), [section.end.base]
    for node in ahead:  # the list grows while it is walked
        if id(node) not in seen:
            seen.add(id(node))
            if node is not section.start:
                ahead.extend(node.given)
    return [node for node in section.nodes if id(node) in seen and not node.view and node.value.is_floating_point()]


def stored_with(node: Node, width: int) -> np.ndarray | None:
    """The numbers [width], one for each dimension and the same for all tokens, that a step adds or multiplies by."""
    plain = [one for one in node.inputs[1:] if isinstance(one, int | float)]
    stored = [view.base.value for view in node.given if view.base.op == "given" and view.base.value.dim() == 1]
    if node.op in ADDS and plain and len(node.given) == 1:
        return np.full(width, plain[0], np.float32)
    if node.op not in (*ADDS, "mul", "mul_") or len(stored) != 1 or len(node.given) != 2 or len(stored[0]) != width:
        return None
    return array(stored[0])


def columns_of(part: np.ndarray, whole: np.ndarray) -> np.ndarray | None:
    """For each column of [token, n] which column of another array it is; None where one is none of them."""
    if part.shape == whole.shape and np.array_equal(part, whole):
        return np.arange(part.shape[1])
    known: dict[bytes, int] = {}
    for i, column in enumerate(whole.T):
        known.setdefault(column.tobytes(), i)
    found = [known.get(column.tobytes(), -1) for column in part.T]
    return np.array(found) if found and min(found) >= 0 else None


def operands(node: Node, inside: set[int]) -> Iterable[Node]:
    """What a chain of additions adds up, where the sums between serve nothing else (`inside`: their ids)."""
    for view in node.given:
        if id(view.base) in inside:
            yield from operands(view.base, inside)
        else:
            yield view
