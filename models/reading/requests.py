"""Texts that wait to be read, and which of them a model reads in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from models.attention.recorded_call import Call
from models.reading.prefix import Ids, Stamp, first
from models.tokens import Token
from models.trace import Trace

NEW = 64  # tokens of a text that are new, at most: the others would wait for a longer one


@dataclass(frozen=True)
class Request:
    """A text to be read. tokens: those that fit; cut: as `Trace.cut`; stamp: as `Recent` takes it.

    before: the trace that it is read on from, whose first `shared` tokens are those of this text; None without one.
    """

    text: str
    tokens: Sequence[Token]
    cut: int
    stamp: Stamp | None
    ids: Ids
    before: Trace | None = None
    shared: int = 0

    @property
    def new(self) -> int:
        """The number of tokens that no remembered text begins with."""
        return len(self.ids) - self.shared

    @cached_property
    def calls(self) -> list[Call]:
        """The calls of the positions that are known, one a layer; [] without any."""
        return first(self.before.attention["self"].calls, self.shared) if self.before else []


@dataclass(frozen=True)
class Trial:
    """The result of a trial: which texts a model can read beside others without a change of any number.

    number: the condition of the network then (see `Condition`); in another condition nothing is known. longest: in tokens; 0:
    none.
    """

    number: int | None = None
    longest: int = 0

    def allows(self, request: Request) -> bool:
        """Return whether a text may be read beside others. Long ones are read alone: nobody should wait for them."""
        known = request.stamp is not None and request.stamp.number == self.number
        return known and 0 < request.new <= NEW and len(request.ids) <= self.longest
