"""Text generation, token by token: each step holds everything that decided the next token."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from models.generation.beams import Answer, Beams, Branch, by_length
from models.generation.strategy import Distribution, Strategy, apply_controls, distribution
from models.numbers.readonly import frozen, read_only
from models.numbers.softmax import log_softmax
from models.reading.inputs import Spelt
from models.tokens import Token

if TYPE_CHECKING:
    from models.attention.recorded_call import Call
    from models.attention.recorder import Record
    from models.edits import Edit
    from models.info import ModelInfo
    from models.reading.prefix import Stamp
    from models.reading.readable import ReadableModel

Ids = tuple[int, ...]  # of tokens
SMALL = 2**24  # bytes; below this the free memory is not checked
SCORES = 32  # bytes for a token of the vocabulary, where logits and log-probabilities are compared


@dataclass(frozen=True, eq=False)
class Read:
    """The result of one reading. logits: scores of the next token, float32 [version, vocabulary]; attention: of the last token of
    the first version, by kind ("self", or "decoder" and "cross"), float32 [layers, heads, key].

    tokens: how many the decoder read, of all versions together; seconds: how long that took; bytes: of all keys and values that
    are cached now, 0 without a cache.
    """

    logits: np.ndarray
    attention: Mapping[str, np.ndarray]
    tokens: int
    seconds: float = 0.0
    bytes: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "logits", read_only(self.logits))
        object.__setattr__(self, "attention", frozen(self.attention))


@dataclass(frozen=True, eq=False)
class Search:
    """The state of a beam search. looked_at: the branches that this step compared, the best first; tree: all branches up to now;
    answers: the best complete ones, or the beginnings while none is complete, the best first, with their text."""

    looked_at: tuple[Branch, ...]
    tree: tuple[Branch, ...]
    answers: tuple[Answer, ...]


@dataclass(frozen=True, eq=False)
class Step:
    """One generated token, and everything that decided it.

    token: the chosen one; continuation: the ids of all tokens generated after the text, this token the last. position: how many
    were generated before it. tokens: what the decoder had read when it chose; source: what the encoder had read. cut: characters
    at the left of the text that did not fit; dropped: tokens that were dropped since because the context was full.
    logits: float32 [vocabulary], the model's own scores of what comes after `tokens`; never: ids that the model's authors rule
    out. dart: where the draw fell, from 0 to 1; None where nothing was drawn.
    attention: by kind ("self", or "decoder" and "cross"), float32 [layers, heads, key]: the row of the last of `tokens`, which
    serves to choose `token`. read: the cost of reading (see `Read`).
    end: why this step is the last: "end" (the model ended its text), "length" (as many tokens as were asked for) or "full" (the
    context is full); "" while it goes on.
    search: of a beam search, else None. Its logits and attention are those of `tokens`, the best beginning that was read;
    `continuation` is the best one now, which another beginning may have led to, and at the end the best answer.
    """

    token: Token
    continuation: Ids
    position: int
    tokens: tuple[Token, ...]
    source: tuple[Token, ...]
    logits: np.ndarray
    attention: Mapping[str, np.ndarray]
    strategy: Strategy
    read: Read
    never: frozenset[int] = frozenset()
    dart: float | None = None
    cut: int = 0
    dropped: int = 0
    end: str = ""
    search: Search | None = None
    reader: Reader = field(repr=False, kw_only=True)

    @property
    def ids(self) -> Ids:
        """The ids of the tokens that were read, as `distribution` takes them."""
        return tuple(token.id for token in self.tokens)

    @property
    def text(self) -> str:
        """The text generated up to now, which goes on after what was typed."""
        return self.reader.model.spell(self.continuation, _ids(self.reader.begun))

    @property
    def distribution(self) -> Distribution:
        """The probabilities before and after each control, computed on use."""
        return distribution(self.logits, self.ids, self.strategy, self.never)

    @property
    def probabilities(self) -> np.ndarray:
        """The probabilities that the token was chosen by, after all controls: float64 [vocabulary]."""
        return self.distribution.after

    @property
    def probability(self) -> float:
        """The chance of the token, after all controls."""
        return float(self.probabilities[self.token.id])

    def chosen_by(self, strategy: Strategy) -> tuple[int, float | None]:
        """Return the token that another strategy chooses from the same scores, and where its draw fell; nothing is read again."""
        return distribution(self.logits, self.ids, strategy, self.never).choose(strategy, self.position)

    def instead(self, id: int) -> Step:
        """Return the same step with another token chosen. `generate(…, continuation=step.continuation)` goes on from there.

        Errors: ValueError for an id that is no token.
        """
        if not 0 <= id < self.reader.ids:
            raise ValueError(f"There is no token {id}: they are 0 to {self.reader.ids - 1:,}.")
        end = "end" if id in self.reader.ends else "full" if self.end == "full" else ""
        token = self.reader.token(id, self.token.start)
        return replace(self, token=token, continuation=(*self.continuation[:-1], id), dart=None, end=end)


class Reader(ABC):
    """Reads one growing text with a model; in a beam search several versions of it, equally long. Each generation has its own.

    source: what the encoder reads, if there is one; begun: what the decoder begins with; front: how many of these are special
    tokens that stay when the context is full; cut: characters that did not fit. ends: the tokens that end a text; never: those
    that the model's authors rule out. ids: how many tokens can be read. keeps: whether keys and values are cached, where the
    model can read on from them. edits: made at each reading.
    """

    ends: frozenset[int] = frozenset()
    never: frozenset[int] = frozenset()
    edits: tuple[Edit, ...] = ()
    branches: bool = True  # whether several versions can be read on from the cache

    def __init__(self, model: ReadableModel, begun: list[Token], source: list[Token], cut: int, keeps: bool):
        self.model, self.begun, self.source, self.cut, self.keeps = model, begun, source, cut, keeps
        self.front = next(
            (index for index, token in enumerate(begun) if not (token.special and token.start == token.end)), len(begun)
        )
        self.ids = model.ids
        self._stamp: Stamp | None = None
        self.ready = False  # whether the cache can be read on from

    def read(self, versions: Sequence[Ids], parents: Sequence[int] | None = None) -> Read:
        """Read versions of the text [version][position]. parents: which version of the last reading each one extends by a token;
        None: they are read from the start."""
        began = time.perf_counter()
        if self.edits and not self.keeps:
            return replace(self._edited(versions), seconds=time.perf_counter() - began)
        stamp = self._now() if self.keeps else None
        # A network that changed counts as another network.
        same = stamp is not None and self._stamp is not None and stamp.number == self._stamp.number
        if parents is not None and self.ready and same and (self.branches or list(parents) == [0]):
            read = self._on([version[-1] for version in versions], parents)
        else:
            self._forget()
            self._stamp, self.ready = stamp, stamp is not None and len(versions) == 1
            read = self._start(versions, stamp) if self.ready or not self.edits else self._edited(versions)
        return replace(read, seconds=time.perf_counter() - began, bytes=self._bytes())

    def edit(self, edits: Sequence[Edit]) -> None:
        """Make these edits from now on. Errors: TypeError; ValueError for an edit of something that the model does not have."""
        if edits:
            from models.edits import check

            lengths = {"encoder": len(self.source), "decoder": len(self.begun)} if self.source else {"self": len(self.begun)}
            self.edits = check(edits, self.model.info, lengths, later=True)

    def _edited(self, versions: Sequence[Ids]) -> Read:
        """Read the versions from the start, with edits."""
        from models.editing.batches import run
        from models.reading.readable import Ready

        texts = [[self.token(id) for id in ids] for ids in versions]
        ready = [
            Ready("", self.source, text, 0, self.edits) if self.source else Ready("", text, [], 0, self.edits) for text in texts
        ]
        record = run(self.model, ready)
        places = self.model.pass_order[1]
        calls = first_rows(self.model.pass_order[0], record)
        stack = "decoder" if self.source else "self"
        streams = record.hidden[stack][places[stack][-1]].float().cpu().numpy()
        last = [self.model.tail(stream)[-1] if self.model.tail else stream[-1] for stream in streams]
        lengths = {"cross": len(self.source)}
        weights = {
            kind: rows(kind_calls, lengths.get(kind, len(versions[0]))) for kind, kind_calls in calls.items() if kind != "encoder"
        }
        return Read(self.model.unembed(np.stack(last)), weights, sum(map(len, versions)))

    def token(self, id: int, at: int = 0) -> Token:
        """Return a generated token with this id; at: the character of the text after which it stands."""
        text, fragment = self.model.vocabulary.text(id)
        return Token(id, text, at, at, self.model.is_special(id), fragment)

    def close(self) -> None:
        """Drop all keys and values."""
        self.ready = False
        self._forget()

    @abstractmethod
    def _now(self) -> Stamp | None:
        """Return the condition of the network, as `Recent.now`; None where nothing can be cached."""

    @abstractmethod
    def _start(self, versions: Sequence[Ids], stamp: Stamp | None) -> Read:
        """Read the versions from the start; cache keys and values if there is a stamp and one version."""

    @abstractmethod
    def _on(self, ids: list[int], parents: Sequence[int]) -> Read:
        """Read one more token of each version from the cache."""

    @abstractmethod
    def _bytes(self) -> int:
        """Return the size of all cached keys and values."""

    @abstractmethod
    def _forget(self) -> None: ...


class GeneratingModel(Protocol):
    """The part of a model that `begin` uses."""

    @property
    def info(self) -> ModelInfo: ...

    def reader(self, text: str, target: str, cache: bool, chat: bool) -> Reader: ...


def begin(
    model: GeneratingModel,
    text: str,
    target: str,
    strategy: Strategy,
    most: int,
    continuation: Ids,
    cache: bool,
    forced: Ids = (),
    chat: bool = False,
    edits: Sequence[Edit] = (),
) -> Generator[Step, None, None]:
    """Check the arguments of `LanguageModel.generate` and return its steps; errors are raised before the first step."""
    from models.edits import grows

    name, kind = model.info.name, model.info.kind
    if not isinstance(strategy, Strategy):
        raise TypeError(f"The strategy must be a models.Strategy; it is of type {type(strategy).__name__}.")
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise ValueError(f"max_new_tokens is a whole number from 1 on; it is {most!r}.")
    if kind == "encoder":
        hint = f": it fills in what stands at {model.info.mask}." if model.info.mask else "."
        raise ValueError(f"{name} sees a text from both sides and does not continue it{hint}")
    if not model.info.predicts:
        raise ValueError(f"{name} has no language-model head, so it does not continue a text.")
    if target and kind != "encoder-decoder":
        raise ValueError(f"{name} reads one text at a time. Leave the second one empty.")
    if chat and isinstance(text, Spelt):
        raise ValueError("A turn of a chat is a text: ids are read as they are, with nothing put around them.")
    reader = model.reader(text, target, cache and all(grows(edit) for edit in edits), chat)
    reader.edit(edits)
    if strange := [id for id in (*continuation, *forced) if not 0 <= id < reader.ids]:
        raise ValueError(f"{name} has no token {strange[0]}: its tokens are 0 to {reader.ids - 1:,}.")
    _check_memory(reader, len(reader.begun) + len(continuation) + most, strategy.beams if strategy.method == "beam" else 1)
    return generate(reader, strategy, most, tuple(map(int, continuation)), tuple(map(int, forced)))


def _check_memory(reader: Reader, length: int, versions: int) -> None:
    """Check that keys and values of so many versions of a text fit in memory. Errors: ValueError, with the figures."""
    from models.huggingface.memory import free_on
    from models.numbers.sizes import size

    length = length if reader.model.room is None else min(length, reader.model.room)
    cached = reader.model.cache_bytes(length, len(reader.source)) if reader.keeps else 0
    scores = SCORES * reader.model.info.vocabulary
    if versions * (cached + scores) > SMALL and versions * (cached + scores) > (free := free_on(reader.model.device)):
        what, fewer = (f"{versions:,} beams", "fewer beams or ") if versions > 1 else ("A text", "")
        raise ValueError(
            f"{what} of {length:,} tokens would take {size(versions * cached)} for keys and values "
            f"({versions:,} × {size(cached)}) and {size(versions * scores)} for scores; {size(free)} of memory are free. "
            f"Choose {fewer}fewer tokens."
        )


def generate(
    reader: Reader, strategy: Strategy, most: int, continuation: Ids = (), forced: Ids = ()
) -> Generator[Step, None, None]:
    """Yield the steps of one text, at most `most`. continuation: ids that follow what the reader begins with; forced: ids that
    come next, whatever the strategy would choose. Closing the iterator drops the cache."""
    try:
        if strategy.method == "beam":
            yield from _by_beam(reader, strategy, most, (*continuation, *forced))
        else:
            yield from _one_by_one(reader, strategy, most, continuation, forced)
    finally:
        reader.close()


def _one_by_one(reader: Reader, strategy: Strategy, most: int, continuation: Ids, forced: Ids) -> Iterator[Step]:
    room, at, source = reader.model.room, reader.begun[-1].end, tuple(reader.source)
    tokens, dropped = _fitting((*reader.begun, *(reader.token(id, at) for id in continuation)), reader)
    ids = _ids(tokens)
    read = reader.read([ids])
    for number in range(most):
        logits = read.logits[0]
        id, dart = distribution(logits, ids, strategy, reader.never).choose(strategy, len(continuation))
        if number < len(forced) and forced[number] != id:
            id, dart = forced[number], None
        before, token, continuation = tokens, reader.token(id, at), (*continuation, id)
        stays = bool(source or reader.edits)  # a translation needs its beginning, and edits need their positions
        full = stays and room is not None and len(before) >= room
        end = "end" if id in reader.ends else "length" if number == most - 1 else "full" if full else ""
        yield Step(
            token,
            continuation,
            len(continuation) - 1,
            before,
            source,
            logits,
            read.attention,
            strategy,
            read,
            reader.never,
            dart,
            reader.cut,
            dropped,
            end,
            reader=reader,
        )
        if end:
            return
        tokens, more = _fitting((*before, token), reader)
        ids, dropped = _ids(tokens) if more else (*ids, id), dropped + more
        read = reader.read([ids], None if more else [0])


def _fitting(tokens: tuple[Token, ...], reader: Reader) -> tuple[tuple[Token, ...], int]:
    """Return the tokens that fit in the context, and how many were dropped.

    When the context is full, its oldest quarter is dropped, but not the special tokens at the front: so only few steps read
    everything again.
    """
    room = reader.model.room
    if room is None or len(tokens) <= room:
        return tokens, 0
    front = min(reader.front, room - 1)
    latest = max(1, min(room - room // 4, room - 1 if room > 1 else 1) - front)
    return (*tokens[:front], *tokens[-latest:]), len(tokens) - front - latest


def _by_beam(reader: Reader, strategy: Strategy, most: int, continuation: Ids) -> Iterator[Step]:
    at = reader.begun[-1].end
    beginning, dropped = _fitting((*reader.begun, *(reader.token(id, at) for id in continuation)), reader)
    first, model = _ids(beginning), reader.model
    room = most if model.room is None else min(most, model.room - len(beginning) + 1)
    beams = Beams(reader.ends, strategy.beams, room, by_length(strategy.length_penalty))
    parents: list[int] | None = None
    while not beams.done:
        versions = [(*first, *branch.ids) for branch in beams.alive]
        read = reader.read(versions, parents)
        tokens = (*beginning, *(reader.token(id, at) for id in beams.alive[0].ids))
        known, looked_at = apply_controls(log_softmax(read.logits), versions, strategy, reader.never), len(beams.tree)
        parents = beams.grow(known)
        if not (beams.alive or beams.answers):
            raise ValueError("The controls strike out every token there is. Loosen one of them.")
        answers = [replace(answer, text=model.spell((*continuation, *answer.ids), _ids(reader.begun))) for answer in beams.best()]
        best = (answers if beams.done else beams.alive)[0]
        end = "" if not beams.done else "end" if best.ended else "length" if room == most else "full"
        yield Step(
            reader.token(best.ids[-1], at),
            (*continuation, *best.ids),
            len(continuation) + len(best.ids) - 1,
            tokens,
            tuple(reader.source),
            read.logits[0],
            read.attention,
            strategy,
            read,
            reader.never,
            None,
            reader.cut,
            dropped,
            end,
            Search(tuple(beams.tree[looked_at:]), tuple(beams.tree), tuple(answers)),
            reader=reader,
        )


def first_rows(order: Sequence[tuple[str, int]], record: Record) -> dict[str, list[Call]]:
    """Return the attention calls of the first version in an edited pass, by kind. order: kind and layer of each call."""
    calls: dict[str, list[Call]] = {}
    for (kind, _), row_calls in zip(order, record.rows, strict=True):
        calls.setdefault(kind, []).append(row_calls[0])
    return calls


def rows(calls: Sequence[Call], keys: int) -> np.ndarray:
    """Return the weights of the last query in each call: float32 [layers, heads, key], NaN for heads that a layer does not have.
    The cache of a sliding window has lost its oldest keys, which that query does not look at."""
    import torch
    from torch.nn.functional import pad

    from models.attention.recorded_call import last_rows
    from models.numbers.ragged import stacked

    with torch.inference_mode():
        if (last_weights := last_rows(calls)) is not None and last_weights.shape[-1] == keys:
            return last_weights.cpu().numpy()
        weights = [call.weights(call.shape[1] - 1)[:, -1] for call in calls]
        weights = [row if row.shape[1] == keys else pad(row, (keys - row.shape[1], 0)) for row in weights]
        return stacked([row.float().cpu().numpy() for row in weights])


def _ids(tokens: Sequence[Token]) -> Ids:
    return tuple(token.id for token in tokens)
