"""The choices of a visitor, and the link that opens them again.

A key is a name in the session and, where it is linked, in the address, with its default and, where they do not depend on model or
text, the values that it may have. This module has the mechanism and the keys that pages share; the keys of one page are in
`pages/<page>/state.py`, and every page understands all of them in an address. Choices are placed by `ui.choices.widgets`, which
reports invalid values in a link.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
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

# Whether Streamlit's public functions read the session and the address (`ui.serving.replacements`). They take twenty steps each,
# two hundred times a page. Needless when Streamlit looks up a key of no widget at once; no upstream issue is known.
PLAIN = bool({"1", "session"} & set(os.environ.get("HEADLIGHT_PLAIN_STREAMLIT", "").split(",")))
_ABSENT: Any = object()


@dataclass(frozen=True)
class Key(Generic[T]):
    """A fact about a visitor. name: in the session, and if it is `linked` also in the address; values: the allowed ones, () for
    any, or if they depend on model or text; led: whether a class is led to it although no link contains it; cleared_by_step:
    whether a lesson's step clears it although no link contains it."""

    name: str
    default: T
    values: tuple[T, ...] = ()
    linked: bool = False
    led: bool = False
    cleared_by_step: bool = False

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


members: dict[str, Any] = {}  # the keys of families that anybody has met, by name, with their defaults


@dataclass(frozen=True)
class Family:
    """Choices with a name for each field of an object. prefix: the start of their names; numbers: whether each is a number."""

    prefix: str
    numbers: bool = False

    def key(self, field: str, default: Any = None) -> Key[Any]:
        """Return the key of a field."""
        members[name := f"{self.prefix}{field}"] = default
        return link(name, default=default)


def _value(name: str, other: Any) -> Any:
    """Return the session's value for a name, else `other`. A page asks two hundred times, so a name that belongs to no widget is
    looked up directly in the place that Streamlit reaches after twenty steps."""
    if PLAIN or (run := get_script_run_ctx(suppress_warning=True)) is None:
        return st.session_state.get(name, other)
    return _value_in(run.session_state._state, name, other)


def _value_in(session: SessionState, name: str, other: Any) -> Any:
    if PLAIN or name in session._key_id_mapper:
        try:
            return session[name]
        except KeyError:
            return other
    if (value := session._new_session_state.get(name, _ABSENT)) is not _ABSENT:
        return value
    return session._old_state.get(name, other)


def _address_value(name: str) -> str | None:
    """Return the value of a name in the address, looked up as in `_value`."""
    if PLAIN or (run := get_script_run_ctx(suppress_warning=True)) is None:
        return st.query_params.get(name)
    value = run.session_state._state.query_params._query_params.get(name)
    return value if value is None or isinstance(value, str) else value[-1] if value else ""


def of_visit(visit: AppSession, key: Key[T]) -> T:
    """Return the value of a key in another visit, outside of that visit's runs."""
    value: T = _value_in(visit.session_state, key.name, key.default)
    return value


LEVELS = ("beginner", "intermediate", "expert")
DEFAULT_TEXT = "Tom had a ball, and his dog ran after the"
LINKED = 6000  # characters of text that a link can carry, each up to nine bytes in an address


def link(name: str, *values: str, default: Any = None) -> Key[Any]:
    """Return a key that is in the address. Without a default, the first of the values is the default."""
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

# Words of the field: where on the page each stands first; and the part of page "Lessons" that lists them all
EXPLAINED: Key[dict[str, str] | None] = Key("explained", None)
LEARN = link("learn", "Lessons", "Words to know")

# A room in which others follow
PROJECTOR = link("projector", "", "1")  # whether the page is shown large and without the side bar
ROOM, ROOM_SEAT = link("room", default=""), Key[Any]("room-seat", None)
ROOM_KEY, ROOM_TROUBLE = Key("room-key", ""), Key("room-trouble", "")  # of who leads it; why there is no seat
PLAYLIST, PLAYLIST_AT = Key[Any]("playlist", ()), Key("playlist-at", 0)  # of who leads; the entry opened or added last, from 1

# The text boxes
EXAMPLE, COVERED, SAID, OFFERED = (
    Key[Any]("example", None),
    Key[Any]("covered", ()),
    Key[Any]("said", None),
    Key("offered", ("", "")),
)
TYPING, AGAIN, READ_BEFORE = Key("typing", False), Key("again", False), Key[Any]("read-before", None)

# The choice of a model
IN_USE, VISITOR, DEVICE, LISTED = Key("in-use", ""), Key("visitor", ""), Key("device", ""), Key[tuple[str, ...]]("listed", ())
MODEL_CAME, ANY_NAME, STRENGTH = Key("model-came", False), Key("any-name", ""), Key("strength", 100)  # the slider of an adapter
CHOOSE, RECENT, OPENED = Key[Any]("choose", None), Key[Any]("recent", ()), Key[Any]("linked", None)
JOB, CHANGED, TROUBLE, ABOUT = Key[Any]("job", None), Key("changed", False), Key("trouble", ""), Key[Any]("about", None)
FAVOURITES_NEXT = Key[Any]("favourites-next", (), cleared_by_step=True)  # of a model that was opened where no head is chosen
OTHER_MODEL, OTHER_TOKENIZER = link("other-model"), link("other-tokenizer")  # beside it, for a comparison

# What the server keeps for a visitor
LOOKER, CANCELLED, TRAINING_LEFT = Key("looker", ""), Key[Any]("cancelled", None), Key("training-left", "")
TRAINING, TEACHING, TRAININGS = Key("training", ""), Key("teaching", ""), Key[tuple[str, ...]]("trainings", ())  # by name

# What several pages show, or open another page with
VIEW = link("view", "Head", "Reading", "Model", "Query-key", "Heatmap", "BertViz")  # of page "Attention"
KEPT_KEY: Key[int | None] = Key("kept-key", None, led=True)  # the token whose lines are shown by who looks at it
OTHER_TEXT = link("other-text", default="")
BELIEVE, BEGUN = Key("believe", ""), Key[Any]("begun", None)  # begun: the long work that was asked for
TAKEN_COLOURS = Key("taken-colours", "screen", ("screen", "light", "dark"))


def taken_key(key: str) -> Key[Any]:
    """Return the key for which of several pictures is to be saved."""
    return Key(f"taken-{key}", None)


def answer_key(lesson: str, step: int, answer: Any) -> Key[Any]:
    """Return the key for the answer at a step of a lesson. answer: the previous answer, if any."""
    return Key(f"lesson-answer-{lesson}-{step}", answer)


def level() -> str:
    return LEVEL.get() or LEVELS[0]


def check_link(key: Key[Any], allowed: Iterable[object], meaning: str) -> None:
    """Report a value in the address that does not exist. The widget bound to it then falls back to its default."""
    value = key.in_address
    if value is not None and value not in map(str, allowed):
        complain(key, value, meaning)


def take_as(key: Key[T], value: T) -> None:
    """Set a choice whose value in the address differs from the widget's."""
    with suppress(StreamlitAPIException):  # with Back it belongs to its widget, which then writes its own value there
        st.query_params.pop(key.name, None)
    key.set(value)


def complain(key: Key[Any], value: str, meaning: str) -> None:
    """Remember an invalid value in a link, for a message of `ui.shell`."""
    COMPLAINTS.set({**(COMPLAINTS.get() or {}), key.name: (meaning, value)})


def open_page(page: str) -> None:
    """Remember the link's values for as long as the visitor stays on the page that it opened."""
    if not LINK.is_set:
        LINK.set((page, st.query_params.to_dict()))
        WELCOME.set(not page and not st.query_params.to_dict())
    elif LINK.get()[0] != page:
        LINK.set((page, {}))
    ADDRESS.set({})
    LATER.set({})
    EXPLAINED.set({})


def values_in_address() -> dict[str, str]:
    """Return all choices in the address by their names."""
    return st.query_params.to_dict()


def linked_value(key: Key[Any]) -> str | None:
    """Return the value of a choice in the link that opened this page."""
    return LINK.get()[1].get(key.name)


def take_linked_value(key: Key[Any]) -> str | None:
    """Return, once, the value of a choice in the link that opened this page; None afterwards, and while the link's model is
    loading."""
    return None if JOB.get() else LINK.get()[1].pop(key.name, None)


@cache
def declarations() -> tuple[ModuleType, ...]:
    """Return the modules that declare keys: this one, and the state module of each page. Pages import this module, so it finds
    their state modules by folder, when an address is first read."""
    above = __name__.removesuffix("ui.state")  # "" in the folder, and the package's name in the wheel
    pages = sorted(file.parent.name for file in (Path(__file__).parent.parent / "pages").glob("*/state.py"))
    return sys.modules[__name__], *(import_module(f"{above}pages.{page}.state") for page in pages)


def declared(kind: type[U]) -> list[U]:
    """Return all declared objects of a type: keys or families."""
    return [value for module in declarations() for value in vars(module).values() if isinstance(value, kind)]


def linked_keys() -> list[Key[Any]]:
    """Return every key that has a name of its own in an address."""
    return [key for key in declared(Key) if key.linked]


def keys_cleared_by_step() -> list[Key[Any]]:
    """Return the keys that no link contains and that a lesson's step clears."""
    return [key for key in declared(Key) if key.cleared_by_step]


def family_of(name: str) -> Family | None:
    """Return the family that a name belongs to; None for a name of its own."""
    return next((family for family in declared(Family) if name.startswith(family.prefix)), None)


def without_defaults(link: dict[str, str]) -> dict[str, str]:
    """Return choices without default values, which a link need not contain. Streamlit also leaves them out of an address, and
    would add the shorter address to the browser's history."""
    first = {key.name: str(key.default).lower() if isinstance(key.default, bool) else str(key.default) for key in linked_keys()}
    return {name: value for name, value in link.items() if value != first.get(name)}


def numbered_keys() -> list[Key[Any]]:
    """Return the choices of a family that the session has."""
    others = {key.name for key in linked_keys()}
    names = (name for name in map(str, st.session_state) if name not in others and family_of(name))
    return [link(name, default=members.get(name)) for name in names]


OWN = (ROOM, PROJECTOR, LESSON_LANGUAGE, MODEL, TRAINED, TEXT, TARGET)  # that are not taken over as they are


def chosen() -> dict[str, Any]:
    """Return all choices of the session that a link can contain or that a class is led to, without the model and the texts."""
    run = get_script_run_ctx(suppress_warning=True)
    look = partial(_value_in, run.session_state._state) if run and not PLAIN else st.session_state.get  # of a hundred names
    names = _led_names().union(members).difference(key.name for key in OWN)
    values = {name: look(name, _ABSENT) for name in names}
    return {name: value for name, value in values.items() if value is not _ABSENT}


@cache
def _led_names() -> frozenset[str]:
    """Return the names of all choices that a class is led to, except those of families."""
    return frozenset(key.name for key in declared(Key) if key.linked or key.led)


def choose(values: dict[str, Any], anew: bool = False, now: dict[str, Any] | None = None) -> None:
    """Replace all choices by those that another person's `chosen` returned, before the widgets are placed. anew: whether this
    page's widgets have not been placed yet: they would begin with their defaults where the previous page has the same widgets.
    now: the present result of `chosen`."""
    now = chosen() if now is None else now
    for name in now.keys() - values.keys():
        with suppress(StreamlitAPIException):  # with Back it belongs to its widget
            st.query_params.pop(name, None)
        st.session_state.pop(name, None)
    st.session_state.update({name: value for name, value in values.items() if anew or name not in now or now[name] != value})


def forget(key: Key[Any]) -> None:
    """Reset a choice of this page. It is set to its default if it has one, not only dropped: its widget stays, and the browser
    would go on showing the old value."""
    if key.default is not None and key.get() != key.default:
        key.set(key.default)
    else:
        key.pop()


def take(page: str, link: dict[str, str]) -> None:
    """Take over a link's values, as its widgets would take them from an address, when that page is next opened."""
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
        elif family_of(name):
            key.set(as_number(value))
    LINK.set((page, link))


def as_number(text: str) -> int | float | str:
    """Return the number that a text stands for, and any other text unchanged."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def later(level: str, *keys: Key[Any]) -> None:
    """Remember a link's choice that only a higher level shows, for a sentence of `ui.shell`. level: the first that shows it."""
    waiting = {key.name: value for key in keys if (value := linked_value(key)) is not None}
    if (later := LATER.get()) is not None:
        later.setdefault(level, {}).update(waiting)


def settle(key: Key[Any], options: Sequence[T], here: Sequence[T]) -> None:
    """Restrict a choice to the options of this level; a link's option is chosen at the first level that has it."""
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
    """Tell Streamlit a choice of the address too: a browser that reconnects to a fresh server sends the address that Streamlit
    last knew, and `keep` does not tell Streamlit."""
    if (value := key.get()) == (key.in_address or ""):
        return
    if value:
        st.query_params[key.name] = value
    else:
        st.query_params.pop(key.name, None)


def run_whole_page_next() -> None:
    """Rerun the page after this fragment's rerun, because something outside the fragment depends on a choice made inside it."""
    WHOLE_PAGE.set(True)


def ask_for_model(name: str) -> None:
    """Request a model by its name, from the page's next run on."""
    CHOOSE.set(name)


def box_text(key: Key[str]) -> str:
    """Return the text of a box; "" while the box is not placed."""
    return key.get_or("") or ""


def texts_in_address() -> dict[str, str | None]:
    """Return the texts of the boxes for an address: without unchanged ones, and those that are too long for an address."""
    values = {key: box_text(key) for key in (TEXT, TARGET)}
    return {key.name: None if value == key.default or len(value) > LINKED else value for key, value in values.items()}


def address() -> str:
    """Return the address that opens this view again, as far as an address can hold it; "" outside of the app. It always contains
    text and model, because another version may have other initial ones."""
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
