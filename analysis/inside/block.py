"""One block taken apart: norms, attention head by head, the feed-forward, and what each adds to the stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.inside import steps
from analysis.inside.attending import Biased, Capped, Masked, Mixed, Products, Turn
from analysis.inside.formulas import Linear, Norm, Probabilities, Scale, Sum
from analysis.inside.reading import ADDS, OWN, PRODUCTS, Reading, columns_of, operands
from analysis.inside.stages import Stage

if TYPE_CHECKING:
    from models.recorder import Call
    from models.rotary import Rotary
    from models.watching import Node, Section

HEADS = ("head", "token", "d_head")
UNSEEN = "This model multiplies queries and keys in a form of its own: its weights are known, how they came about is not."
ELSEWHERE = "This model puts its {} together in a way of its own, which is not taken apart. The numbers are its own."


class Block:
    """Reads the stages of a block. stream: what it is given; memory: what cross-attention looks at, or None."""

    def __init__(
        self,
        reading: Reading,
        stream: Stage,
        memory: Stage | None,
        rotary: Rotary | None,
        weights: list[np.ndarray],
        keys: np.ndarray,
    ):
        """weights: of each attention call, as the trace has them; keys: the positions of the source that are shown."""
        self.reading, self.stream, self.memory, self.rotary, self.keys = reading, stream, memory, rotary, keys
        self.weights = weights
        section = reading.section
        self.section: Section = section
        reading.of[id(section.start)] = stream
        self.calls = {id(self.out(call)): (i, call) for i, call in enumerate(section.calls) if self.out(call) is not None}
        self.hidden: set[int] = set()  # steps that are inside an attention
        self.maps: set[int] = set()  # linear maps that make queries, keys and values
        for call in section.calls:
            self.fence(call)
        self.sums = self.inner_sums()
        self.done = ""  # the last part of the block that was read

    # Where things are

    def out(self, call: Call) -> Node | None:
        """The step that gave what the heads brought."""
        section = self.reading.section
        if call.out is not None and section.knows(call.out):
            return section.node(call.out).base
        if call.given is not None and section.knows(call.given):  # weights: what multiplies values by them
            base = section.node(call.given).base
            users = [node for node in self.reading.users_of(base) if node.op in ("matmul", "bmm", "__matmul__", "baddbmm")]
            return users[0] if users else None
        return None

    def fence(self, call: Call) -> None:
        """Keep what happens between queries, keys and values and what heads bring out of the list of steps."""
        out = self.out(call)
        if out is None:
            return
        ahead = [view for view in out.given]
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

    def flat_norm(self, node: Node) -> bool:
        """Whether a norm is one of the stream, not of queries or keys: a linear map of it makes them."""
        return node.given[0].base is self.section.start

    def inner_sums(self) -> set[int]:
        """Additions whose sum serves one other addition alone: x + a + b is one stage."""
        found = set()
        for node in self.reading.path:
            users = self.reading.users_of(node)
            if node.op in ADDS and len(users) == 1 and users[0].op in ADDS:
                found.add(id(node))
        return found

    # The stages

    def read(self) -> None:
        for node in self.reading.path:
            if id(node) in self.calls:
                self.attend(node, *self.calls[id(node)])
            elif id(node) not in self.hidden | self.maps | self.sums:
                self.step(node)

    def step(self, node: Node) -> None:
        reading = self.reading
        last = node is self.section.end.base  # type: ignore[union-attr]
        if node.op in ADDS:
            name = "output" if last else f"{self.done or 'first'} stream"
            taken = [reading.taken(view) for view in operands(node, self.sums)]
            value = steps.flat(node, reading.count)
            if value is not None and all(one is not None for one in taken):
                reading.add(name, ("token", "d_model"), Sum(*[one for one in taken if one is not None]), value, node)
                return
            reading.plain(node, name)
        elif steps.is_linear(node):
            self.linear(node, last)
        elif steps.is_norm(node):
            reading.plain(node, "output" if last else self.norm_name(node))
        elif steps.is_activation(node):
            self.width(reading.plain(node, "activation"))
        elif node.op in PRODUCTS:
            two = len([view for view in node.given if reading.taken(view) is not None]) == 2
            stage = reading.plain(node, "gated" if two else f"scaled {self.done}".strip())
            self.width(stage)
        else:
            reading.plain(node, "output" if last else "own step")

    def width(self, stage: Stage) -> None:
        """Numbers inside the feed-forward are neurons."""
        if stage.rule is not None and any(one.axes[-1] == "neuron" for one in stage.rule.inputs):
            stage.axes = (*stage.axes[:-1], "neuron")

    def linear(self, node: Node, last: bool) -> None:
        """A map that belongs to no queries, keys and values: W_O, or one of the feed-forward."""
        reading = self.reading
        before = node.given[0].base
        if any(before is one or self.leads(one, before) for one in self.of_attention()):
            reading.plain(node, self.done)
            return
        x = reading.taken(node.given[0])
        value = steps.flat(node, reading.count)
        wide = self.wide(node)
        for name, columns in self.halves(node) if wide and value is not None and x is not None else [("", None)]:
            if columns is None:
                if not wide:
                    self.done = "feed-forward"
                stage = reading.plain(node, ("output" if last else "feed-forward") if not wide else name or self.up_name(node))
                stage.axes = ("token", "neuron") if wide else stage.axes
                return
            stage = reading.add(name, ("token", "neuron"), steps.linear(node, x, columns), value[:, columns])  # type: ignore[arg-type, index]
            reading.parts[id(node), columns.tobytes()] = stage

    def of_attention(self) -> list[Node]:
        return [node for node in self.reading.path if id(node) in self.calls]

    def leads(self, start: Node, node: Node) -> bool:
        """Whether norms and products alone lead from what heads brought to a step."""
        while node is not start and node.given and (steps.is_norm(node) or node.op in PRODUCTS):
            node = node.given[0].base
        return node is start

    def wide(self, node: Node) -> bool:
        """Whether a map leads into the neurons: an activation or a product takes what it gives."""
        return any(steps.is_activation(user) or user.op in PRODUCTS for user in self.reading.users_of(node)) and not any(
            user.op in ADDS for user in self.reading.users_of(node)
        )

    def up_name(self, node: Node) -> str:
        """ "gate" for what goes through an activation and then multiplies another map's answer, else "up"."""
        for user in self.reading.users_of(node):
            if steps.is_activation(user) and any(next_.op in PRODUCTS for next_ in self.reading.users_of(user)):
                return "gate"
        return "up"

    def halves(self, node: Node) -> list[tuple[str, np.ndarray | None]]:
        """A map whose parts go different ways (gate and up in one): each part's name and columns."""
        found: list[tuple[str, np.ndarray | None]] = []
        for user, view in self.reading.users[id(node)]:
            columns = self.reading.columns(view)
            if columns is None or len(columns) == node.value.shape[-1]:
                return [("", None)]
            found.append(("gate" if steps.is_activation(user) else "up", columns))
        return found

    def norm_name(self, node: Node) -> str:
        users, before = self.reading.users_of(node), node.given[0].base
        if any(user.op in ADDS for user in users):  # what it gives goes on as the stream, or is added to it
            return f"{self.done} norm after" if before.op not in ADDS else f"{self.done} stream norm"
        for one in self.of_attention():
            if any(id(user) in self.maps and self.feeds(user, one) for user in users):
                return self.prefix(self.calls[id(one)][0]) + "attention norm"
        if any(before is one for one in self.of_attention()):
            return f"{self.done} inner norm"
        return "feed-forward norm"

    def feeds(self, node: Node, end: Node) -> bool:
        """Whether a map of queries, keys or values belongs to this attention."""
        seen: set[int] = set()
        ahead = list(end.given)
        for view in ahead:  # the list grows while it is walked
            base = view.base
            if base is node:
                return True
            if id(base) in self.hidden and id(base) not in seen:
                seen.add(id(base))
                ahead.extend(base.given)
        return False

    def prefix(self, call: int) -> str:
        return "cross " if self.memory is not None and call > 0 else ""

    # Attention

    def attend(self, node: Node, number: int, call: Call) -> None:
        prefix = self.prefix(number)
        self.done = f"{prefix}attention"
        source = self.memory if prefix else None
        if call.query is None:
            self.unseen(node, call, number, prefix)
            return
        q = self.part(call.query, prefix + "queries", HEADS)
        axes = ("head", "source", "d_head") if prefix else HEADS
        k = self.part(call.key, prefix + "keys", axes, source)
        v = self.part(call.value, prefix + "values", axes, source)
        self.mix(node, call, number, prefix, self.weigh(call, prefix, q, k), v)

    def weigh(self, call: Call, prefix: str, q: Stage, k: Stage) -> Stage:
        """From queries and keys to what the softmax is taken of."""
        reading, axes = self.reading, ("head", "query", "source" if prefix else "key")
        axes = ("head", "query", "key")
        found = reading.add(prefix + "products", axes, Products(q, k))
        found = reading.add(prefix + "scores", axes, Scale(found, float(call.scale)))
        if call.softcap is not None:
            found = reading.add(prefix + "capped scores", axes, Capped(found, float(call.softcap)))
        if call.bias is not None and bool(call.bias.any()):
            found = reading.add(prefix + "biased scores", axes, Biased(found, steps.array(call.bias)))
        mask = None if call.mask is None else _mask(call)
        if call.causal or mask is not None:
            found = reading.add(prefix + "masked scores", axes, Masked(found, None if call.causal and mask is None else mask))
        return found

    def mix(self, node: Node, call: Call, number: int, prefix: str, scores: Stage, v: Stage) -> None:
        reading, axes = self.reading, ("head", "query", "key")
        sinks = None if call.sinks is None else steps.array(call.sinks)
        weights = reading.add(prefix + "weights", axes, Probabilities(scores, sinks), self.weights[number])
        out = steps.array(call.out).transpose(1, 0, 2)  # [head, token, d_head]
        reading.add(prefix + "mixed values", HEADS, Mixed(weights, v), out, node)

    def unseen(self, node: Node, call: Call, number: int, prefix: str) -> None:
        """Of a model whose queries and keys are not known, its weights and what heads brought."""
        reading = self.reading
        heads = call.shape[0]
        reading.add(prefix + "weights", ("head", "query", "key"), None, self.weights[number], None, UNSEEN)
        brought = steps.array(node.value).reshape(heads, -1, node.value.shape[-1])
        reading.add(prefix + "mixed values", HEADS, None, brought, node, UNSEEN)

    def part(self, tensor: object, name: str, axes: tuple[str, ...], source: Stage | None = None) -> Stage:
        """Queries, keys or values: the map that made them, a norm of each head, and rotary positions, as far as there are any."""
        reading = self.reading
        recorded = steps.array(tensor)  # [head, token, d_head]
        node = reading.section.node(tensor)  # type: ignore[arg-type]
        count = recorded.shape[1]
        shown = self.keys if source is not None else reading.shown
        made = self.origin(node)
        found = self.mapped(made, node, recorded, count, source) if made is not None else None
        if made is None or found is None:
            return reading.add(name, axes, None, recorded, None, ELSEWHERE.format(name), shown)
        rule, before = found
        last = np.array_equal(before, recorded)
        stage = reading.add(name, axes, rule, before, None, None, shown)
        if last:
            return stage
        one = name.rpartition(" ")[0] + " " if " " in name else ""
        what = name.removeprefix(one)
        normed = self.head_norm(node, stage, count)
        if normed is not None:
            rule_, value = normed
            stage = reading.add(f"{one}{what.rstrip('s').replace('querie', 'query')} norm", axes, rule_, value, None, None, shown)
        if steps.close(stage.rows(None), recorded, 1e-6):
            return stage
        return self.turned(stage, recorded, f"{one}turned {what}", axes, shown)

    def origin(self, node: Node) -> Node | None:
        """The one linear map that a tensor comes from."""
        found: dict[int, Node] = {}
        seen: set[int] = set()
        ahead = [node]
        for view in ahead:  # the list grows while it is walked
            base = view.base
            if id(base) in seen:
                continue
            seen.add(id(base))
            if steps.is_linear(base):
                found[id(base)] = base
            elif base is not self.section.start:
                ahead.extend(base.given)
        return next(iter(found.values())) if len(found) == 1 else None

    def views(self, node: Node, made: Node, shape: tuple[int, ...]) -> list[np.ndarray]:
        """How the way from a step to a tensor splits what it gave into heads: [head, token, d_head], the nearest first."""
        found, seen, ahead = [], set(), [node]
        for view in ahead:  # the list grows while it is walked
            if id(view) in seen:
                continue
            seen.add(id(view))
            sizes = tuple(size for size in view.value.shape if size != 1)
            if view.base is made:
                heads, count, width = shape
                value = steps.array(view.value)
                for order in ((heads, count, width), (count, heads, width)):
                    if sizes == tuple(size for size in order if size != 1):
                        whole = value.reshape(order)
                        found.append(whole if order[0] == heads and order[1] == count else whole.transpose(1, 0, 2))
            ahead.extend(view.given)
        return found

    def mapped(
        self, made: Node, node: Node, recorded: np.ndarray, count: int, source: Stage | None
    ) -> tuple[Linear, np.ndarray] | None:
        """The map of queries, keys or values with its outputs split into heads, and what it gave so: [head, token, d_head]."""
        x = source if source is not None else self.reading.taken(made.given[0])
        whole = steps.flat(made, count)
        if x is None or whole is None:
            return None
        for value in self.views(node, made, recorded.shape):
            columns = columns_of(value.transpose(1, 0, 2).reshape(count, -1), whole)
            if columns is not None:
                return steps.linear(made, x, columns.reshape(value.shape[0], value.shape[2])), value
        return None

    def head_norm(self, node: Node, x: Stage, count: int) -> tuple[Norm, np.ndarray] | None:
        """The norm of each head's queries or keys, if there is one, and what it gave."""
        ahead, seen = [node], set()
        for view in ahead:  # the list grows while it is walked
            base = view.base
            if id(base) in seen or steps.is_linear(base) or base is self.section.start:
                continue
            seen.add(id(base))
            if steps.is_norm(base):
                heads, width = x.rows(None).shape[0], x.rows(None).shape[2]
                for value in self.views(node, base, (heads, count, width)):
                    rule = steps.norm(base, x, value, np.arange(count))
                    if rule is not None:
                        return rule, value
            ahead.extend(base.given)
        return None

    def turned(self, x: Stage, recorded: np.ndarray, name: str, axes: tuple[str, ...], shown: np.ndarray) -> Stage:
        reading = self.reading
        if self.rotary is not None:
            angles = np.arange(recorded.shape[1])[:, None] * np.asarray(self.rotary.frequencies, np.float64)
            rule = Turn(x, np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32), self.rotary.dimensions)
            if steps.close(rule.rows(shown), np.take(recorded, shown, 1), reading.near):
                return reading.add(name, axes, rule, recorded, None, None, shown)
        return reading.add(name, axes, None, recorded, None, OWN.format("it changes them by their positions"), shown)


def _mask(call: Call) -> np.ndarray:
    mask = call.mask
    if str(mask.dtype) == "torch.bool":  # type: ignore[union-attr]
        return np.where(mask.cpu().numpy(), 0, -np.inf).astype(np.float32)  # type: ignore[union-attr]
    added = steps.array(mask)
    return np.where(added < -1e30, -np.inf, added).astype(np.float32)
