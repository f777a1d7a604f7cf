"""The input of a page: one text, read by one model, and the visitor's choices. Nothing here reads the session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from analysis import Scope, scope
from analysis.merging import unspaced, whole_characters
from analysis.scopes import typed
from ui.memory.favourites import Favourite, favourite
from viz.numbers import percent, whole_percent
from viz.tokens import plain_sign, plain_signs

if TYPE_CHECKING:
    import numpy as np

    from models.info import ModelInfo
    from models.language_model import LanguageModel
    from models.tokens import Token
    from models.trace import Attention, Trace


@dataclass(frozen=True)
class Selection:
    """The tokens of a text that a page shows, and the position of each among all; for a character of several tokens that is shown
    as one, the position of the last."""

    tokens: list[Token]
    groups: list[list[int]]

    @property
    def places(self) -> list[int]:
        return [group[-1] for group in self.groups]

    def index(self, place: int | None) -> int | None:
        """Return the index of the shown token at a position, or of the one that contains it."""
        return next((i for i, group in enumerate(self.groups) if place in group), None)

    def of(self, values: Sequence | np.ndarray | None) -> list | None:
        """Return the values of these tokens, from one value for each token."""
        return None if values is None else [values[place] for place in self.places]


@dataclass(frozen=True)
class Choices:
    """A visitor's choices for any text, as plain values: they come from the session (`ui.choices.chosen`) or from a message.

    attention: which of an encoder-decoder's three, as in `trace.attention`. layer, head: None for the favourite's. token: the
    selected one. special, renormalised, whole_words: the switches of the side bar. touched: there is no mouse; narrow: the screen
    is a phone's. explained: the technical terms that are marked elsewhere on the page, by entry, and where; None marks none.
    """

    level: str = "beginner"
    attention: str = "cross"
    layer: int | None = None
    head: int | None = None
    token: int | None = None
    special: bool = True
    renormalised: bool = False
    whole_words: bool = False
    touched: bool = False
    narrow: bool = False
    explained: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Look:
    """One text through one model, and the choices about it. Costly parts are computed once, when they are first needed.

    kind: which attention, as in `trace.attention`. second: the text that was read beside the text, a target or a second text; ""
    where the model read one text, whatever is left in the second box. picked: layer and head, None for the favourite's.
    chosen_token: its position, None for the newest. options: which part of the attention is shown, as `analysis.scope` takes it.
    at_first: the token that is shown while none is selected, if that is not the newest. touched, narrow, explained: as in
    `Choices`.
    """

    model: LanguageModel
    trace: Trace
    kind: str = "self"
    level: str = "beginner"
    second: str = ""
    picked: tuple[int | None, int | None] = (None, None)
    chosen_token: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    at_first: int | None = None
    touched: bool = False
    narrow: bool = False
    explained: Mapping[str, str] | None = None

    @property
    def beginner(self) -> bool:
        return self.level == "beginner"

    def percent(self, probability: float) -> str:
        """Format a probability for this level: beginners read whole per cent."""
        return (whole_percent if self.beginner else percent)(probability)

    @property
    def attention(self) -> Attention:
        return self.trace.attention[self.kind]

    @property
    def causal(self) -> bool:
        """Whether queries see no key after themselves."""
        return self.kind == "decoder" or (self.kind == "self" and self.model.info.kind == "decoder")

    @property
    def both_ways(self) -> bool:
        """Whether tokens of a text also look at later tokens."""
        return self.kind != "cross" and not self.causal

    @property
    def favourite(self) -> Favourite:
        """The head that newcomers see first."""
        return favourite(self.model, self.kind)

    @property
    def layer(self) -> int:
        return self.favourite.layer if self.picked[0] is None else self.picked[0]

    @property
    def head(self) -> int:
        head = self.favourite.head if self.picked[1] is None else self.picked[1]
        return min(head, self.attention.counts[self.layer] - 1)

    @property
    def head_name(self) -> str:
        """The head's name: "L5 H1", or "cross L2 H1", with its kind where there are several; layers have their numbers in the
        network."""
        return ("" if self.kind == "self" else f"{self.kind} ") + self.named(self.layer, self.head)

    def named(self, layer: int, head: int | None = None, kind: str = "") -> str:
        """Return the name of a layer, or of a head, without its kind: "L5 H1", as in `head_name`."""
        return f"L{self.number(layer, kind)}" + ("" if head is None else f" H{head}")

    def number(self, layer: int, kind: str = "") -> int:
        """Return the number in the network of a layer, of a kind of attention or of the kind that is shown."""
        numbers = self.model.info.numbers((kind or self.kind) in ("decoder", "cross"))
        return numbers[layer] if layer < len(numbers) else layer  # a link may ask for one that is not there

    @property
    def layer_name(self) -> str:
        return f"{'' if self.kind == 'self' else self.kind + ' '}{self.named(self.layer)}"

    @cached_property
    def newest(self) -> int:
        """The token that is shown while none is selected: an encoder's first mask, else the last typed token."""
        if self.at_first is not None:
            return self.at_first
        if self.both_ways:
            typed_positions = [i for i, token in enumerate(self.trace.tokens) if token.start < token.end]
            covers = self.model.info.kind == "encoder" and not self.model.info.labels
            masks = self.model.places(self.trace) if covers else []
            return (masks or typed_positions[-1:] or [0])[0]
        return len(self.trace.read) - 1

    @cached_property
    def default_position(self) -> int:
        """The position that is explained while none is selected: the newest at which the model predicts."""
        places = self.model.places(self.trace)
        return self.newest if not places or self.newest in places else places[0]

    @property
    def predicted_at(self) -> int:
        """The position whose prediction is shown; where each token has a label, that of the selected token."""
        labels, at = self.model.info.labels, self.token_among(len(self.trace.read))
        return at if labels and labels.each and at in self.model.places(self.trace) else self.default_position

    @property
    def without_words(self) -> str:
        """The heading of the words that say why a model predicts no tokens."""
        return "labels" if self.model.info.labels else "headless"

    @property
    def case(self) -> str:
        """The case of a page's headings for this model: "labels" for a classifier, else "" (see `ui.words.heading_for`)."""
        return "labels" if self.model.info.labels else ""

    @property
    def token(self) -> int:
        """The selected query, or the newest."""
        return self.token_among(len(self.attention.queries))

    def token_among(self, count: int) -> int:
        """Return the selected token if the text has so many tokens, else the newest."""
        return (
            min(self.newest, count - 1)
            if self.chosen_token is None or self.chosen_token >= count or count == 1
            else self.chosen_token
        )

    @cached_property
    def scope(self) -> Scope:
        """The part of the attention that is shown."""
        return self.scope_of(self.attention)

    def scope_of(self, attention: Attention) -> Scope:
        """Return the part of an attention that is shown, with the tokens as they are written at this level."""
        whole_scope = scope(attention, **self.options)
        sides = (
            replace(side, tokens=self.spell_tokens(side.tokens, side.start == 0))
            for side in (whole_scope.queries, whole_scope.keys)
        )
        queries, keys = sides
        return replace(whole_scope, queries=queries, keys=keys)

    def select(self, tokens: Sequence[Token]) -> Selection:
        """Return the tokens to show: all, or without untyped special tokens; for beginners, each character in one piece."""
        if self.beginner:
            whole, groups = whole_characters(tokens)
            return Selection(self.spell_tokens(whole), groups)
        places = list(range(len(tokens))) if self.options.get("special", True) else typed(tokens)
        spelled = self.spell_tokens(tokens)
        return Selection([spelled[place] for place in places], [[place] for place in places])

    def spell_tokens(self, tokens: Sequence[Token], first: bool = True) -> list[Token]:
        """Return the tokens as they are written at this level (see `viz.tokens.plain_signs`)."""
        return plain_signs(tokens, first) if self.beginner else list(tokens)

    def outcome(self, id: int) -> str:
        """Return a possible prediction as it is written at this level (see `viz.tokens.plain_sign`)."""
        text = self.model.outcome(id)
        return plain_sign(text) if self.beginner else text

    @property
    def apart(self) -> bool:
        """Whether tokens are not joined although whole words are asked for, because the text has no spaces between words."""
        text = self.trace.text + self.second if self.trace.target else self.trace.text
        return bool(self.options.get("whole_words")) and unspaced(text)

    def at(self, layer: int, head: int) -> Look:
        """Return the same look through another head."""
        return replace(self, picked=(layer, head))

    def within(self, **window: tuple[int, int]) -> Look:
        """Return the look at a part of a long text: `queries` and `keys` are the first and last tokens of it."""
        return replace(self, options={**self.options, **window})


def look_of(model: LanguageModel, trace: Trace, second: str, choices: Choices) -> Look:
    """Return the look at a text with these choices. second: the text in the second box."""
    kind = kind_of(model.info, choices.level, choices.attention)
    beginner = choices.level == "beginner"
    picked = (None, None) if beginner else (choices.layer, choices.head)
    position = choices.token if can_be_kept(choices.token, tokens_at_most(trace, kind)) else None
    options = scope_options(trace, choices)
    return Look(
        model,
        trace,
        kind,
        choices.level,
        beside(trace, second),
        picked,
        position,
        options,
        touched=choices.touched,
        narrow=choices.narrow,
        explained=choices.explained,
    )


def tokens_at_most(trace: Trace, kind: str) -> int:
    """Return how many tokens may be selected."""
    return max(len(trace.attention[kind].queries), len(trace.tokens), len(trace.target))


def can_be_kept(token: int | None, count: int) -> bool:
    """Return whether a token can stay selected among so many tokens; a text that has become shorter deselects it."""
    return token is not None and token < count != 1


def kind_of(info: ModelInfo, level: str, attention: str) -> str:
    """Return the kind of attention that is shown: "self", or the chosen one of an encoder-decoder's three."""
    if info.kind != "encoder-decoder":
        return "self"
    return "cross" if level == "beginner" else attention


def scope_options(trace: Trace, choices: Choices) -> dict[str, bool]:
    """Return the choices of the side bar that are not its defaults, as `analysis.scope` takes them. Beginners see characters in
    one piece."""
    if choices.level == "beginner":
        return {"whole_characters": True} if any(token.fragment for token in (*trace.tokens, *trace.target)) else {}
    hidden = not choices.special
    chosen = {"whole_words": choices.whole_words, "renormalised": hidden and choices.renormalised}
    return ({"special": False} if hidden else {}) | {name: True for name, on in chosen.items() if on}


def beside(trace: Trace, written: str | None) -> str:
    """Return the second text if the model has read it; for a classifier with two stacks, the text again."""
    if trace.target and trace.label is not None:
        return trace.text
    return written or "" if trace.target or any(token.segment for token in trace.tokens) else ""
