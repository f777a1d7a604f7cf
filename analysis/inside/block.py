"""The stages of one block: norms, attention head by head, the feed-forward, and their additions to the stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.inside import experts, steps
from analysis.inside.attention_calls import end_of, parts_of, values
from analysis.inside.formulas import Sum
from analysis.inside.heads import Heads
from analysis.inside.reading import ADDS, PRODUCTS, Reading, operands, stored_with
from analysis.inside.stages import Stage

if TYPE_CHECKING:
    from models.attention.recorded_call import Call
    from models.attention.undo_rotary import Rotary
    from models.watching.steps import Node, Section


class Block:
    """Reads the stages of a block. stream: its input; memory: what cross-attention looks at, or None."""

    def __init__(
        self,
        reading: Reading,
        stream: Stage,
        memory: Stage | None,
        rotary: Rotary | None,
        weights: list[np.ndarray],
        keys: np.ndarray,
    ):
        """weights: of each attention call, as in the trace; keys: the shown positions of the source."""
        self.reading, self.stream, self.memory, self.rotary, self.keys = reading, stream, memory, rotary, keys
        self.weights = weights
        section = reading.section
        self.section: Section = section
        reading.of[id(section.start)] = stream
        ends = [end_of(section, call) for call in section.calls]
        self.calls = {
            id(end): (i, call) for i, (end, call) in enumerate(zip(ends, section.calls, strict=True)) if end is not None
        }
        self.hidden: set[int] = set()  # steps that are inside an attention
        self.maps: set[int] = set()  # linear maps that make queries, keys and values
        for end in ends:
            if end is not None:
                self.fence(end)
        self.latents = {id(node) for node in map(self.latent_of, reading.path) if node is not None}
        self.routers = {id(node): self.fence_router(node) for node in reading.path if experts.is_mixture(node)}
        self.hidden |= reading.inner
        self.sums = self.inner_sums()
        self.fired: int | None = None  # the step whose output the neurons hand on
        self.done = ""  # the last part of the block that was read

    # Which step is what

    def fence(self, end: Node) -> None:
        """Hide the steps between queries, keys and values and the heads' output."""
        ahead = list(end.given)
        for view in ahead:  # the list grows while it is walked
            node = view.base
            if id(node) in self.hidden or node is self.section.start or node.op == "given":
                continue
            if steps.is_linear(node):
                self.maps.add(id(node))
                continue
            if steps.is_norm(node) and self.flat_norm(node):
                continue
            self.hidden.add(id(node))
            ahead.extend(node.given)

    def latent_of(self, node: Node) -> Node | None:
        """Return the map to the latent numbers that a map of queries, keys or values reads, if there is one."""
        before = node
        if id(node) in self.maps and node.given:
            before = node.given[0].base
            while steps.is_norm(before):
                before = before.given[0].base
        return before if before is not node and steps.is_linear(before) else None

    def fence_router(self, mixture: Node) -> Node | None:
        """Hide the steps that distribute tokens among experts; return the step that computed the router's scores."""
        router, count = None, len(self.reading.section.nodes)
        ahead = list(mixture.given[1:])
        stream = {id(mixture.given[0].base)}
        for view in ahead:  # the list grows while it is walked
            base = view.base
            if id(base) in stream or base.op in ("given", "start"):
                continue
            stream.add(id(base))
            self.hidden.add(id(base))
            same = [node for node in self.section.nodes[:count] if base.module is not None and node.module is base.module]
            for node in [base, *same]:
                self.hidden.add(id(node))
                if steps.is_linear(node) and node.options.get("part", 0) == 0:
                    router = router or node
            ahead.extend(base.given)
        return router

    def flat_norm(self, node: Node) -> bool:
        """Return whether a norm is one of the stream, not of queries or keys, which a linear map makes from it."""
        return node.given[0].base is self.section.start

    def inner_sums(self) -> set[int]:
        """Return the ids of additions whose sum is used only by another addition: x + a + b is one stage."""
        ids = set()
        for node in self.reading.path:
            users = self.reading.users_of(node)
            if node.op in ADDS and len(users) == 1 and users[0].op in ADDS and not self.adds_stored(node):
                ids.add(id(node))
        return ids

    def adds_stored(self, node: Node) -> bool:
        """Return whether a step adds numbers that are stored in the model."""
        return stored_with(node, node.value.shape[-1]) is not None

    # The stages

    def read(self) -> None:
        for node in self.reading.path:
            if id(node) in self.calls:
                self.reading.attempt(node, lambda node: self.attend(node, *self.calls[id(node)]))
            elif id(node) in self.latents:
                self.reading.attempt(node, self.latent)
            elif id(node) not in self.hidden | self.maps | self.sums:
                self.reading.attempt(node, self.step)

    def step(self, node: Node) -> None:
        reading = self.reading
        last = node is self.section.end.base  # type: ignore[union-attr]
        for view in node.given:
            self.add_gate(view)
        if id(node) in self.routers:
            self.done = "feed-forward"
            experts.read(reading, node, self.routers[id(node)])
        elif node.op in ADDS:
            part = f"biased {self.done}" if self.adds_stored(node) and self.done else f"{self.done or 'first'} stream"
            name = "output" if last else part
            addends = [reading.stage_of(view) for view in operands(node, self.sums)]
            value = steps.flat(node, reading.count)
            if value is not None and all(stage is not None for stage in addends):
                reading.add(name, ("token", "d_model"), Sum(*[stage for stage in addends if stage is not None]), value, node)
                return
            reading.plain(node, name)
        elif steps.is_linear(node):
            self.linear(node, last)
        elif steps.is_norm(node):
            reading.plain(node, "output" if last else self.norm_name(node))
        elif steps.is_activation(node) or id(node) in reading.composites:
            self.width(reading.plain(node, "output" if last else "activation"))
        elif node.op in PRODUCTS:
            has_two = len([view for view in node.given if reading.stage_of(view) is not None]) == 2
            stage = reading.plain(node, "output" if last else "gated" if has_two else f"scaled {self.done}".strip())
            self.width(stage)
        else:
            reading.plain(node, "output" if last else "own step")

    def add_gate(self, view: Node) -> None:
        """Add the part of a map of queries, keys or values that goes elsewhere: a gate for the heads' output (Qwen3-Next)."""
        node, reading = view.base, self.reading
        if id(node) not in self.maps or reading.stage_of(view) is not None:
            return
        x, value, columns = reading.stage_of(node.given[0]), steps.flat(node, reading.count), reading.columns(view)
        if x is not None and value is not None and columns is not None:
            rule = steps.linear(node, x, columns)
            stage = reading.add("attention gate", ("token", "d_model"), rule, value[:, columns])
            reading.parts[id(node), columns.tobytes()] = stage

    def width(self, stage: Stage | None) -> None:
        """Name the last axis "neuron" inside the feed-forward."""
        if (
            stage is not None
            and stage.rule is not None
            and any(input_stage.axes[-1] == "neuron" for input_stage in stage.rule.inputs)
        ):
            stage.axes = (*stage.axes[:-1], "neuron")

    def linear(self, node: Node, last: bool) -> None:
        """Add a map that makes no queries, keys or values: W_O, or one of the feed-forward."""
        reading = self.reading
        before = node.given[0].base
        if any(before is end or self.leads(end, before) for end in self.of_attention()):
            reading.plain(node, self.done)
            return
        if not self.wide(node):
            self.done = "feed-forward"
            self.fired = reading.path.index(before) if before in reading.path else None
            reading.plain(node, "output" if last else "feed-forward")
            return
        x, value = reading.stage_of(node.given[0]), steps.flat(node, reading.count)
        halves = self.halves(node)
        if halves is None or x is None or value is None:
            stage = reading.plain(node, self.up_name(node))
            if stage is not None:
                stage.axes = ("token", "neuron")
            return
        for name, columns in halves:
            rule = steps.linear(node, x, columns)
            reading.parts[id(node), columns.tobytes()] = reading.add(name, ("token", "neuron"), rule, value[:, columns])

    def latent(self, node: Node) -> None:
        """Add the map to the latent numbers of queries, or of keys and values; its remaining outputs belong to them too."""
        reading, value = self.reading, steps.flat(node, self.reading.count)
        x = reading.stage_of(node.given[0])
        views = [view for user, view in reading.users[id(node)] if steps.is_norm(user) or id(user) in self.maps]
        columns = reading.columns(views[0]) if views else None
        if x is None or value is None or columns is None or len(columns) == value.shape[-1]:
            reading.plain(node, "latent")
            return
        rule = steps.linear(node, x, columns)
        reading.parts[id(node), columns.tobytes()] = reading.add("latent", ("token", "d_model"), rule, value[:, columns])

    def of_attention(self) -> list[Node]:
        return [node for node in self.reading.path if id(node) in self.calls]

    def leads(self, start: Node, node: Node) -> bool:
        """Return whether only norms and products stand between the heads' output and a step."""
        while node is not start and node.given and (steps.is_norm(node) or node.op in PRODUCTS):
            node = node.given[0].base
        return node is start

    def wide(self, node: Node) -> bool:
        """Return whether a map leads into the neurons: its output goes through an activation, or is a factor of a gate."""
        users = self.reading.users_of(node)
        return any(steps.is_activation(user) or gates(user) or id(user) in self.reading.inner for user in users) and not any(
            user.op in ADDS for user in users
        )

    def up_name(self, node: Node) -> str:
        """Return "gate" for a map whose output goes through an activation and multiplies another map's output, else "up"."""
        for user in self.reading.users_of(node):
            if steps.is_activation(user) and any(gates(later) for later in self.reading.users_of(user)):
                return "gate"
        return "up"

    def halves(self, node: Node) -> list[tuple[str, np.ndarray]] | None:
        """Return the name and columns of each part of a map with several uses (gate and up in one); None for a single use."""
        parts: list[tuple[str, np.ndarray]] = []
        for user, view in self.reading.users[id(node)]:
            columns = self.reading.columns(view)
            if columns is None or len(columns) == node.value.shape[-1]:
                return None
            parts.append(("gate" if steps.is_activation(user) else "up", columns))
        return parts

    def norm_name(self, node: Node) -> str:
        users, before = self.reading.users_of(node), node.given[0].base
        if any(user.op in ADDS for user in users):  # its output goes on as the stream, or is added to it
            return f"{self.done} norm after" if before.op not in ADDS else f"{self.done} stream norm"
        if id(before) in self.latents:
            return "latent norm"
        for end in self.of_attention():
            if any(id(user) in self.maps | self.latents and self.feeds(user, end) for user in users):
                return self.prefix(self.calls[id(end)][0]) + "attention norm"
        if any(before is end for end in self.of_attention()):
            return f"{self.done} inner norm"
        return "feed-forward norm"

    def feeds(self, node: Node, end: Node) -> bool:
        """Return whether a map of queries, keys or values belongs to this attention."""
        visited: set[int] = set()
        ahead = list(end.given)
        for view in ahead:  # the list grows while it is walked
            base = view.base
            if base is node:
                return True
            if id(base) in self.hidden and id(base) not in visited:
                visited.add(id(base))
                ahead.extend(base.given)
        return False

    def prefix(self, call: int) -> str:
        return "cross " if self.memory is not None and call > 0 else ""

    # Attention

    def attend(self, node: Node, number: int, call: Call) -> None:
        prefix = self.prefix(number)
        self.done = f"{prefix}attention"
        heads = Heads(self.reading, prefix, self.memory if prefix else None, self.keys, self.rotary)
        parts = parts_of(self.section, call, node)
        if parts is None:
            heads.read_weights(node, self.weights[number], values(self.section, call, node))
        else:
            heads.read(parts, self.weights[number])


def gates(node: Node) -> bool:
    """Return whether a step multiplies two streams."""
    return node.op in PRODUCTS and sum(view.base.op != "given" and view.value.numel() > 1 for view in node.given) == 2
