"""The choices of a visitor, and the link that opens them again.

Here stands every key of the session and of an address, with its default and, where they do not depend on model or text, the
values that it may have. Choices are placed by `ui.choices.widgets`, which tells of nonsense in a link.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlencode

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx

if TYPE_CHECKING:
    from streamlit.runtime.app_session import AppSession
    from streamlit.runtime.state import SessionState

T = TypeVar("T")
U = TypeVar("U")
_ABSENT: Any = object()


@dataclass(frozen=True)
class Key(Generic[T]):
    """One thing that is known of a visitor. name: in the session, and where it is `linked` in the address too; values: those
    that it may have, () for any, or where they depend on model or text."""

    name: str
    default: T
    values: tuple[T, ...] = ()
    linked: bool = False

    def get(self) -> T:
        value: T = _value(self.name, self.default)
        return value

    def get_or(self, other: U) -> T | U:
        """Return the value, or `other` if the session has none."""
        value: T | U = _value(self.name, other)
        return value

    def set(self, value: T) -> None:
        st.session_state[self.name] = value

    def pop(self) -> T:
        return st.session_state.pop(self.name, self.default) if self.is_set else self.default

    @property
    def is_set(self) -> bool:
        """Whether the session has a value for this key."""
        return _value(self.name, _ABSENT) is not _ABSENT

    @property
    def in_address(self) -> str | None:
        """The value in the address; None without one."""
        return _address_value(self.name)

    def of(self, fact: str) -> Key[Any]:
        """Return a key for another fact about the same choice."""
        return Key(f"{self.name}-{fact}", None)


def _value(name: str, other: Any) -> Any:
    """What the session has by a name, or another value where it has none. A page asks two hundred times, so a name that belongs
    to no widget is looked up at once where Streamlit comes to after twenty steps."""
    if (run := get_script_run_ctx(suppress_warning=True)) is None:
        return st.session_state.get(name, other)
    return _value_in(run.session_state._state, name, other)


def _value_in(session: SessionState, name: str, other: Any) -> Any:
    if name in session._key_id_mapper:
        try:
            return session[name]
        except KeyError:
            return other
    if (value := session._new_session_state.get(name, _ABSENT)) is not _ABSENT:
        return value
    return session._old_state.get(name, other)


def _address_value(name: str) -> str | None:
    """Return the value of a name in the address, looked up as in `_value`."""
    if (run := get_script_run_ctx(suppress_warning=True)) is None:
        return st.query_params.get(name)
    value = run.session_state._state.query_params._query_params.get(name)
    return value if value is None or isinstance(value, str) else value[-1] if value else ""


def of_visit(visit: AppSession, key: Key[T]) -> T:
    """Return the value of a key in another visit, outside of its runs."""
    value: T = _value_in(visit.session_state, key.name, key.default)
    return value


LEVELS = ("beginner", "intermediate", "expert")
DEFAULT_TEXT = "The farmer gave the hungry dog a bone, and the dog ran into the"
LINKED = 6000  # characters of text that a link can carry, each up to nine bytes in an address
NOTHING = "nothing"


def link(name: str, *values: str, default: Any = None) -> Key[Any]:
    """A key that is in the address. Of these values the first is the default, where none is given."""
    return Key(name, values[0] if values and default is None else default, values, linked=True)


# On every page
LEVEL = link("level", *LEVELS)
MODEL = link("model")  # what is asked for; `IN_USE` is what pages show
TRAINED = link("trained")  # keys to models that were trained here
TEXT, TARGET = link("text", default=DEFAULT_TEXT), link("target", default="")
TWO_TEXTS = link("two-texts", default=False)
ATTENTION = link("attention", "Cross", "Encoder", "Decoder")  # of an encoder-decoder; a newcomer meets the first
LAYER, HEAD = link("layer"), link("head")  # None: the favourite's
SPECIAL, RENORMALISED, WHOLE_WORDS = (link("special", default=True), link("renormalised", default=False), link("whole-words"))
TOKEN: Key[int | None] = link("token")  # that is kept chosen
WHOLE_PAGE = Key("whole-page", False)
DONE = Key("done", "")  # by a press that has the whole page run again: a toast of the press itself would go with the page before
COMPLAINTS: Key[dict[str, tuple[str, str]] | None] = Key("complaints", None)

# What the link asked for that opened this page, what of it waits for a higher level, and what the address is to say
LINK: Key[tuple[str, dict[str, str]]] = Key("link", ("", {}))
WELCOME = Key("welcome", False)  # whether who comes for the first time is asked where to begin
LATER, ADDRESS = Key[Any]("later", None), Key[Any]("address", None)
IN_ADDRESS = Key[Any]("in-address", None)  # the page whose address was written last, and what it says beside the texts

# A lesson beside the pages
LESSON, LESSON_STEP = link("lesson", default=""), link("step", default=1)
LESSON_NEXT, LESSON_ANSWERS = Key[Any]("lesson-next", None), Key[Any]("lesson-answers", None)  # where to go; what was answered
LESSON_SHOWN = Key[Any]("lesson-shown", None)  # of which step the answer is shown; how often one has been
LESSON_MODEL = Key("lesson-model", "")  # that a step asks for, until it reads the step's text
LESSON_LANGUAGE = link("language", default="en")
LESSON_PLACES, LESSON_FOLDED = Key[Any]("lesson-places", None), Key("lesson-folded", False)  # how far each lesson is
LESSON_FINISHED: Key[tuple[str, ...]] = Key("lesson-finished", ())  # also those that are begun again
LESSON_COURSE = Key("lesson-course", "")  # from the card of which one a lesson was begun last

# Words of the field: where on the page each stands first, and which are looked for in the list of all
EXPLAINED: Key[dict[str, str] | None] = Key("explained", None)
LEARN, WORD_SOUGHT = link("learn", "Lessons", "Words to know"), link("sought", default="")

# A room in which others follow
ROOM, ROOM_SEAT = link("room", default=""), Key[Any]("room-seat", None)
ROOM_KEY, ROOM_WRITTEN = Key("room-key", ""), Key("room-written", "")  # of who leads it; a code that is typed
ROOM_TROUBLE = Key("room-trouble", "")  # why there is no seat
ROOM_NOTES = Key("room-notes-shown", False)  # whether who leads sees what the class is not to see
ROOM_RIGHT = Key("room-right", "")
ROOM_ASK, ROOM_KIND, ROOM_CHOICES = Key("room-ask", ""), Key("room-kind", "choices"), Key("room-choices", "")
ROOM_MODEL, ROOM_PAGES, ROOM_FIXED_LEVEL, ROOM_FIXED_MODEL = (
    Key("room-model", ""),
    Key[Any]("room-pages", ()),
    Key("room-fixed-level", False),
    Key("room-fixed-model", False),
)

# The text boxes
EXAMPLE, COVERED, SAID, OFFERED = (
    Key[Any]("example", None),
    Key[Any]("covered", ()),
    Key[Any]("said", None),
    Key("offered", ("", "")),
)
TYPING, AGAIN, READ_BEFORE = Key("typing", False), Key("again", False), Key[Any]("read-before", None)

# The choice of a model
IN_USE, VISITOR, LISTED = Key("in-use", ""), Key("visitor", ""), Key[tuple[str, ...]]("listed", ())
MODEL_CAME = Key("model-came", False)  # whether a model that the visitor asked for has been here
CHOOSE, RECENT, OPENED = Key[Any]("choose", None), Key[Any]("recent", ()), Key[Any]("linked", None)
JOB, CHANGED, TROUBLE, ABOUT = Key[Any]("job", None), Key("changed", False), Key("trouble", ""), Key[Any]("about", None)
FAVOURITES_NEXT, ANY_NAME = Key[Any]("favourites-next", ()), Key("any-name", "")

# What the server keeps for a visitor
LOOKER, CANCELLED, TRAINING = Key("looker", ""), Key[Any]("cancelled", None), Key("training", "")
TRAINING_LEFT = Key("training-left", "")  # what the server has let go of it, as a sentence

# Type
TEMPERATURE, BAR_COUNT = link("temperature", default=1.0), link("bars", default=10)

# Attention
VIEW = link("view", "Head", "Reading", "Model", "Query-key", "Heatmap", "BertViz")
SHADE = link("shade", "head", "layer", "all heads", "rollout", "entropy", "surprise")
ORDER = link("order", "layer", "similarity", "pattern", "entropy", "distance", "previous", "first", "induction")
ONLY = link("only", "all", "token before", "first token", "itself", "earlier copies")
HEAT = link("heat", "one head", "all heads")
COMPARE = link("compare", NOTHING, "head", "layer", "text", "model")
OTHER_LAYER, OTHER_HEAD, OTHER_MODEL, OTHER_TEXT = (
    link("other-layer"), link("other-head"), link("other-model"), link("other-text", default=""),
)  # fmt: skip
OTHER_JOB, OTHER_TROUBLE, OTHER_HAD = Key[Any]("other-job", None), Key("other-trouble", ""), Key[Any]("other-had", None)
QUERY, HEADS_ON, WINDOW = Key[Any]("query", None), Key[Any]("heads-on", (None, [])), Key[Any]("window", None)
KEPT_KEY: Key[int | None] = Key("kept-key", None)  # the token whose lines are shown by who looks at it

# Layers
PART = link("part", "Evolution", "Statistics", "Lens")
MOVIE = link("movie", "mean of heads", "one head")
LENS = link("lens", "logit lens", "tuned lens", default="tuned lens")
LENS_COLOUR = link("lens-colour", "probability", "rank of the answer", "distance to the answer")
LENS_WINDOW, LENS_LAYER, LENS_TEXT, LENS_TRAINING = (
    Key[Any]("lens-window", None), Key[Any]("lens-layer", None), Key("lens-text", ""), Key[Any]("lens-training", None),
)  # fmt: skip
PAIR_KEY, LAYERS_HEAD, LAYERS_OPEN = Key[Any]("pair-key", (None, None)), Key("layers-head", (-1, -1)), Key("layers-open", False)

# Flow
SHOW = link("show", "Side by side", "Layer by layer", "Streams", "Which to believe")
FUSION, DISCARD, RESIDUAL = link("fusion", "mean", "max", "min"), link("discard", default=0.0), link("residual", default=0.5)
FLOW_WINDOW, BEGUN, BELIEVE = Key[Any]("flow-window", None), Key[Any]("begun", None), Key("believe", "")
STREAMS_OF, STREAMS_FROM, FOLLOW = Key("streams-of", "rollout"), Key("streams-from", 1.0), Key[Any]("follow", None)

# Explain
EXPLAIN = link("explain", "The words", "Methods", "Which to believe")
EXPLAIN_BY = link(
    "explain-by", "leave-one-out", "gradient × input", "integrated gradients", "lime", "shap", "sampled shap",
    "attention × gradient", "rollout",
)  # fmt: skip
EXPLAIN_WORD, EXPLAIN_AGAINST = link("explain-word"), link("explain-against")
EXPLAIN_TOKENS = link("explain-tokens", default=False)  # gradient × input of the token embedding alone

# Space
SPACE = link("space", "Tokens", "One word", "Vocabulary")
PROJECTION, DIMENSIONS = link("projection", "PCA", "t-SNE", "UMAP"), link("dimensions", "3-D", "2-D")
MEASURE, COLOUR = link("measure", "Cosine", "Scaled", "Raw"), link("colour", "Position", "Token", "Part of word", "Norm")
STACK = link("stack")
PERPLEXITY, PROJECTION_SEED, EVERY_TOKEN = Key("perplexity", 30), Key("projection-seed", 0), Key("every-token", False)
CONTEXT_WORD, CONTEXTS, CONTEXT_ALL = Key("context-word", ""), Key("contexts", ""), Key("context-all", False)
VOCABULARY, CENTRED, WORD_PARTS = Key("vocabulary", ""), Key("centred", False), Key("word-parts", False)
NEAREST_TO, ANALOGY, GIF = Key("nearest-to", ""), Key[Any]("analogy", None), Key[Any]("gif", None)

# Inside
PIECE_WORD, OTHER_TOKENIZER = link("word"), link("other-tokenizer")
NEURON: Key[str | None] = link("neuron")
STAGE, CELL, TRAIL, BLOCK = (link(name, default="") for name in ("stage", "cell", "trail", "block"))
INSIDE_TEXT = link("inside-text", "The answer", "Your text")  # which of two a beginner follows
INSIDE_COLUMNS = Key[Any]("inside-columns", None)
WORD_ORDER, ORDER_SEED = link("word-order", default=""), link("order-seed", default=0)

# Generate
GENERATING = "generate-"  # begins the names of the numbers by which the next token is chosen
FAMILIES = ("build-", "train-", GENERATING)  # of choices that have a name for each field of something
GENERATE_METHOD = link("generate-method", "Draw by dice", "Always the likeliest", "Beams")
TRANSLATE_METHOD = link("translate-method", "Always the likeliest", "Draw by dice", "Beams")
GENERATE_CHAT = link("generate-chat", default=True)
GENERATE_CACHE, GENERATED = link("generate-cache", default=False), Key[Any]("generated", None)
GENERATE_OWN, GENERATE_SAID, GENERATE_BRANCH, GENERATE_AT, GENERATE_SEARCHED = (
    link("generate-own", default=False), link("generate-said", default=""), link("generate-branch", default=0),
    link("generate-at", default=""), link("generate-searched", default=0),
)  # fmt: skip
GENERATE_BEAM = link("generate-beam", default=1)

# Change
EXPERIMENT = link("experiment", "Switch off", "Two texts", "What wrote it", "Circuit", "Steer")
CHANGES, TRY_ALL = link("changes", default=""), link("try-all", default=False)
CHANGES_BEFORE = Key[Any]("changes-before", ())
TRY_LINES, ALL_HEADS, RESAMPLE = (
    link("try-lines", default=False),
    link("all-heads", default=False),
    link("resample", default=False),
)
CHANGE_OTHER, ROW_QUERY, ROW_AS = link("change-other", default=""), Key("row-query", 0), Key("row-as", "even")

STEER, STEER_METHOD = link("steer", default=None), link("steer-method", "Always the likeliest", "Draw by dice")
STEER_STRENGTH, STEER_LAYER, STEER_SEED = link("steer-strength"), link("steer-layer"), link("steer-seed", default=0)
STEER_WITH, STEER_WITHOUT = link("steer-with", default=""), link("steer-without", default="")
TEXTS_PART = link("texts-part", "stream", "attention", "feed-forward", "heads")
TEXTS_INTO = link("texts-into", "first into second", "second into first")
TEXTS_MEASURE = link("texts-measure", "logit difference", "probability", "KL")
TEXTS_KIND = link("texts-kind", "encoder", "decoder", "cross")
TEXTS_PLACE, TEXTS_ANSWER, TEXTS_AGAINST = link("texts-place"), link("texts-answer"), link("texts-against")
TEXTS_CELL, TEXTS_ALL = link("texts-cell", default=""), link("texts-all", default=False)
TEXTS_TRIED, PAIR = Key[Any]("texts-tried", None), Key[Any]("texts-pair", None)

CHANGE_WORD, CHANGE_AGAINST, WROTE_CELL = link("change-word"), link("change-against"), link("wrote-cell")
CIRCUIT_KEEP, CIRCUIT_FILL = link("circuit-keep", default=80), link("circuit-fill", "their mean", "zeros", "another text")
CIRCUIT_OTHER = link("circuit-other", default="")

# Heads
HEADS_LABEL = link(
    "heads-label", "every label", "token before", "itself", "token after", "first token", "separators", "earlier copies",
    "induction", "earlier names", "along the source",
)  # fmt: skip
HEADS_BY = link("heads-by", "layer", *HEADS_LABEL.values[1:], "positions")
HEADS_PART = link("heads-part", "Labels", "Importance", "Stand-ins", "Weights")
HEADS_TEXT = link("heads-text", "sample texts", "your text")
HEADS_ALIKE = link("heads-alike", "what they write", "where they look", "what is lost without both")
HEADS_WAY = link("heads-way", "keys", "queries", "values")
HEADS_WORTH = link("heads-worth", "measured", "by its slope", "layer")
HEADS_OPEN = Key("heads-open", "")

# Build
BUILD = link("build", "Architecture", "Cost", "Masks", "Positions", "Why √d")
COST_OF = Key("cost-of", "parameters", ("parameters", "operations", "activations"))

# Train
TRAIN_TASK = link("train-task", "Repeat", "Copy", "Reverse", "Sort", "Dates", "Text")
TRAIN_LOG = link("train-log", default=False)
CURVES = link("curves", "Answers and heads", "Loss", "Entropy", "Rate and gradient")
TRAIN_STARTED = Key("start-training", False)  # whether “Start” was pressed, until the training has begun
TRAINED_AT, TRAIN_HEAD = Key[Any]("trained-at", None), Key[Any]("train-head", None)

# A picture that is taken away
TAKEN_COLOURS = Key("taken-colours", "screen", ("screen", "light", "dark"))


members: dict[str, Any] = {}  # the choices of these three families that anybody has met, by name, with their defaults


def member(name: str, default: Any = None) -> Key[Any]:
    members[name] = default
    return link(name, default=default)


def build_key(name: str) -> Key[Any]:
    """A part or a size of the transformer that is put together on page "Build": a field of `TransformerConfig`."""
    return member(f"build-{name}")


def train_key(name: str) -> Key[Any]:
    """A part, a size or a number of the training that is begun on page "Train"."""
    return member(f"train-{name}")


def generate_key(name: str, default: float) -> Key[Any]:
    """A number by which the next token is chosen on page "Generate"."""
    return member(f"{GENERATING}{name}", default)


def taken_key(key: str) -> Key[Any]:
    """Return the key for which of several pictures is to be saved."""
    return Key(f"taken-{key}", None)


def followed_key(view: str) -> Key[Any]:
    """The token that is followed in a view of page "Space"."""
    return Key(f"{view}-followed", None)


def level() -> str:
    return LEVEL.get() or LEVELS[0]


def check_link(key: Key[Any], allowed: Iterable[object], meaning: str) -> None:
    """Say so when the address asks for something that does not exist. The widget bound to it then falls back to its default."""
    value = key.in_address
    if value is not None and value not in map(str, allowed):
        complain(key, value, meaning)


def take_as(key: Key[T], value: T) -> None:
    """Set a choice that the address names in other words than its widget does."""
    with suppress(StreamlitAPIException):  # with Back it belongs to its widget, which then writes its own value there
        st.query_params.pop(key.name, None)
    key.set(value)


def complain(key: Key[Any], value: str, meaning: str) -> None:
    """Remember an invalid wish of a link, for a message of `ui.shell`."""
    COMPLAINTS.set({**(COMPLAINTS.get() or {}), key.name: (meaning, value)})


def open_page(page: str) -> None:
    """Remember the link's wishes for as long as the visitor stays on the page that it opened."""
    if not LINK.is_set:
        LINK.set((page, st.query_params.to_dict()))
        WELCOME.set(not page and not st.query_params.to_dict())
    elif LINK.get()[0] != page:
        LINK.set((page, {}))
    ADDRESS.set({})
    LATER.set({})
    EXPLAINED.set({})


def names_in_address() -> set[str]:
    """Return the names of all choices in the address."""
    return set(st.query_params.to_dict())


def linked_value(key: Key[Any]) -> str | None:
    """Return the value of a choice in the link that opened this page."""
    return LINK.get()[1].get(key.name)


def take_linked_value(key: Key[Any]) -> str | None:
    """Return what the link that opened this page says of a choice, once; None afterwards, and while the model that it is about
    is still loading."""
    return None if JOB.get() else LINK.get()[1].pop(key.name, None)


def linked_keys() -> list[Key[Any]]:
    """Every choice that has a name of its own in an address."""
    return [key for key in globals().values() if isinstance(key, Key) and key.linked]


def without_defaults(link: dict[str, str]) -> dict[str, str]:
    """What a link need not say is left out: Streamlit leaves it out of an address as well, and makes a new entry in the browser's
    history of the shorter one."""
    first = {key.name: str(key.default).lower() if isinstance(key.default, bool) else str(key.default) for key in linked_keys()}
    return {name: value for name, value in link.items() if value != first.get(name)}


def numbered_keys() -> list[Key[Any]]:
    """Those choices of a family (`build_key`, `train_key`, `generate_key`) that the session has."""
    others = {key.name for key in linked_keys()}
    names = (name for name in map(str, st.session_state) if name.startswith(FAMILIES) and name not in others)
    return [link(name, default=members.get(name)) for name in names]


OWN = (ROOM, LESSON_LANGUAGE, MODEL, TRAINED, TEXT, TARGET)  # that are not taken over as they are


LED = (HEADS_ON, KEPT_KEY)  # that no link says, and a class is led to


def chosen() -> dict[str, Any]:
    """All that is chosen of what a link can say, and of what else a class is led to, as the session has it, without the model and
    the texts."""
    run = get_script_run_ctx(suppress_warning=True)
    look = partial(_value_in, run.session_state._state) if run else st.session_state.get  # for all names, which are a hundred
    names = _names().union(members, (key.name for key in LED)).difference(key.name for key in OWN)
    values = {name: look(name, _ABSENT) for name in names}
    return {name: value for name, value in values.items() if value is not _ABSENT}


@cache
def _names() -> frozenset[str]:
    """The names of `linked_keys`."""
    return frozenset(key.name for key in linked_keys())


def choose(values: dict[str, Any], anew: bool = False, now: dict[str, Any] | None = None) -> None:
    """Have the choices of `chosen` that somebody else made, and no others. Before its widgets are placed. anew: whether those
    of this page have not been placed yet: they would begin with their defaults where the page before has the same. now: what
    `chosen` has just given."""
    now = chosen() if now is None else now
    for name in now.keys() - values.keys():
        with suppress(StreamlitAPIException):  # with Back it belongs to its widget
            st.query_params.pop(name, None)
        st.session_state.pop(name, None)
    st.session_state.update({name: value for name, value in values.items() if anew or name not in now or now[name] != value})


def forget(key: Key[Any]) -> None:
    """Have a choice of this page as a new visitor finds it. Where it has a default it is set to that: its widget stays, and of a
    value that is only dropped the browser hears nothing and goes on showing it."""
    if key.default is not None and key.get() != key.default:
        key.set(key.default)
    else:
        key.pop()


def take(page: str, link: dict[str, str]) -> None:
    """Have what a link says as its widgets would take it from an address, when that page is opened next."""
    keys = {key.name: key for key in linked_keys()}
    for name, value in link.items():
        key = keys.get(name, Key[Any](name, None))
        if key in (LAYER, HEAD):
            key.set(int(value[1:]))
        elif key.values:
            key.set(value)
        elif value in ("true", "false"):
            key.set(value == "true")
        elif isinstance(key.default, int | float):
            key.set(type(key.default)(value))
        elif name.startswith(FAMILIES):
            key.set(as_number(value))
    LINK.set((page, link))


def as_number(text: str) -> int | float | str:
    """Return a written number as a number, and any other text as it is."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def later(level: str, *keys: Key[Any]) -> None:
    """Remember what the link asks for and only a higher level has, for a sentence of `ui.shell`. level: the first that has it."""
    waiting = {key.name: value for key in keys if (value := linked_value(key)) is not None}
    if (later := LATER.get()) is not None:
        later.setdefault(level, {}).update(waiting)


def settle(key: Key[Any], options: Sequence[T], here: Sequence[T]) -> None:
    """Bring a choice among options to those that this level has; what the link asks for is chosen at the level that has it."""
    if linked_value(key) in set(options) - set(here):
        later(next(iter(LEVELS[LEVELS.index(level()) + 1 :]), LEVELS[-1]), key)
    elif (waited := LINK.get()[1].pop(key.name, None)) in here and key.is_set and key.get() == here[0]:
        key.set(waited)
    if key.is_set and key.get() not in here:
        key.set(here[0])


def keep(key: Key[Any], value: str | float | bool | None, default: str | float | bool | None) -> None:
    """Put a choice into the address unless it is the default. Its widget writes it there too, but no longer once it has moved to
    another place on the page, as it does from level to level."""
    text = str(value).lower() if isinstance(value, bool) else f"{value:.15g}" if isinstance(value, int | float) else value
    if (address := ADDRESS.get()) is not None:
        address[key.name] = None if value == default else text


def say_in_address(key: Key[str]) -> None:
    """Have Streamlit know a choice of the address too: a browser that comes to a fresh server sends what Streamlit last heard of,
    and of `keep` it hears nothing."""
    if (value := key.get()) == (key.in_address or ""):
        return
    if value:
        st.query_params[key.name] = value
    else:
        st.query_params.pop(key.name, None)


def run_whole_page_next() -> None:
    """After this fragment's rerun, rerun the page: something outside the fragment must follow a choice made inside it."""
    WHOLE_PAGE.set(True)


def ask_for_model(name: str) -> None:
    """Ask for a model by its name; from the next run of the page on."""
    CHOOSE.set(name)


def box_text(key: Key[str]) -> str:
    """Return the text of a box; "" while the box is not placed."""
    return key.get_or("") or ""


def texts_in_address() -> dict[str, str | None]:
    """What an address says of the boxes: nothing of one that is as it began, or too long for an address."""
    values = {key: box_text(key) for key in (TEXT, TARGET)}
    return {key.name: None if value == key.default or len(value) > LINKED else value for key, value in values.items()}


def address() -> str:
    """The address that opens this view again, as far as an address can hold it; "" outside of the app. Text and model stand in it
    also where they are those that a visitor begins with, which may be others in another version."""
    if not (place := st.context.url):
        return ""
    first = {MODEL.name: IN_USE.get() or None}
    chosen = first | st.query_params.to_dict() | (ADDRESS.get() or {}) | texts_in_address()
    if box_text(TEXT) == TEXT.default:
        chosen[TEXT.name] = TEXT.default
    return f"{place.partition('?')[0]}?{urlencode({name: value for name, value in chosen.items() if value is not None})}"


def selection(view: str) -> Any:
    """Return the choice in a mounted view or chart; None if the visitor has left its page meanwhile."""
    return _value(view, None)
