"""What a key says of the session and of the address is what Streamlit would say."""

from __future__ import annotations

import ast
from collections import Counter
from types import SimpleNamespace

import pytest
import streamlit as streamlit
from hypothesis import given
from hypothesis import strategies as st
from streamlit.runtime.state import SessionState
from streamlit.testing.v1 import AppTest

from tests.serving import ROOT
from ui import state
from ui.menu import TITLES

NAMES = ("level", "layer", "head", "room", "shade")
STEPS = st.lists(
    st.tuples(st.sampled_from(["set", "drop", "place", "say", "compact"]), st.sampled_from(NAMES), st.integers(0, 3)), max_size=12
)


@given(STEPS)
def test_whatever_was_set_said_and_placed_each_name_has_the_value_that_streamlit_finds(steps):
    """place: a widget has the key; say: the browser sends its value; compact: a run is over."""
    session = SessionState()
    for what, name, value in steps:
        if what == "set":
            session._new_session_state[name] = value
        elif what == "drop" and name in session:
            del session[name]
        elif what == "place":
            session._key_id_mapper[name] = f"$$ID-{name}"
        elif what == "say":
            session._new_widget_state.set_from_value(f"$$ID-{name}", value)
        elif what == "compact":
            session._compact_state()
    absent = object()
    for name in NAMES:
        own = session[name] if name in session else absent  # noqa: SIM401
        assert state.of_visit(SimpleNamespace(session_state=session), state.Key(name, absent)) is own


def script() -> None:
    import streamlit as st

    from ui import state

    st.session_state["found"] = {
        "level": state.LEVEL.get(),
        "asked": state.LEVEL.in_address,
        "layer": state.LAYER.get_or("none"),
        "held": state.LAYER.is_set,
        "twice": state.VIEW.in_address,
        "empty": state.TEXT.in_address,
        "missing": state.HEAD.in_address,
        "popped": state.HEAD.pop(),
        "chosen": state.chosen(),
    }
    st.session_state["own"] = {name: st.session_state[name] for name in ("level", "layer", "bars") if name in st.session_state}


def test_in_a_run_a_key_tells_value_default_and_wish():
    app = AppTest.from_function(script, default_timeout=60)
    app.query_params["level"] = "expert"
    app.query_params["view"] = ["Reading", "Head"]
    app.query_params["text"] = ""
    app.session_state["layer"] = 3
    app.session_state["bars"] = 7
    app.session_state["text"] = "is no choice"
    app.run()
    result = app.session_state["found"]
    assert result["level"] == state.LEVEL.default and result["asked"] == "expert"
    assert result["layer"] == 3 and result["held"] and result["twice"] == "Head" and result["empty"] == ""
    assert result["missing"] is None and result["popped"] is None
    assert result["chosen"] == app.session_state["own"] == {"layer": 3, "bars": 7}


def choices() -> None:
    from pages.flow import state as flow_state
    from ui import state

    state.ADDRESS.set({})
    state.keep(state.LAYER, "L3", "L0")
    state.keep(state.SPECIAL, False, True)
    state.keep(flow_state.RESIDUAL, 0.25, 0.5)
    state.keep(flow_state.FUSION, "mean", "mean")


def test_an_address_has_what_is_chosen_and_no_defaults():
    app = AppTest.from_function(choices, default_timeout=60).run()
    assert app.session_state["address"] == {"layer": "L3", "special": "false", "residual": "0.25", "fusion": None}


@pytest.mark.parametrize("key", [state.LEVEL, state.LAYER])
def test_outside_of_a_run_a_key_has_what_a_bare_script_would_find(key):
    assert key.get() == streamlit.session_state.get(key.name, key.default)
    assert key.in_address is None and not key.is_set


def page_key() -> None:
    from ui import state

    keys = {key.name: key for key in state.linked_keys()}
    state.open_page("type")
    state.take("type", {"residual": "0.25", "steer-layer": "3", "build-heads": "4", "try-all": "true", "shade": "entropy"})
    state.st.session_state["read"] = {name: keys[name].get() for name in ("residual", "try-all", "shade")}


def test_each_key_is_declared_once_and_no_two_have_one_name():
    names = Counter(key.name for key in state.declared(state.Key))
    assert [name for name, count in names.items() if count > 1] == []
    prefixes = [family.prefix for family in state.declared(state.Family)]
    assert sorted(prefixes) == sorted(set(prefixes)) and len(prefixes) == 4


def test_keys_and_families_are_declared_in_state_files_alone():
    """Elsewhere a key is asked for by its name in a state file, or is `Key.of` another."""
    files = [*(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    declared = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in files
        if file.name != "state.py"
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).removeprefix("state.") in ("Key", "Family", "link", "Key[Any]")
    ]
    assert declared == []


def test_every_state_file_of_a_page_is_read_though_no_page_was_opened():
    files = {file.parent.name for file in (ROOT / "pages").glob("*/state.py")}
    assert {module.__name__ for module in state.declarations()} == {"ui.state", *(f"pages.{page}.state" for page in files)}
    assert files <= TITLES.keys()


def test_a_link_of_one_page_is_understood_on_another():
    app = AppTest.from_function(page_key, default_timeout=60).run()
    assert app.session_state["read"] == {"residual": 0.25, "try-all": True, "shade": "entropy"}
    assert app.session_state["build-heads"] == 4 and not app.exception


def test_a_name_belongs_to_the_family_that_begins_it():
    assert state.family_of("generate-temperature").numbers and not state.family_of("build-heads").numbers
    assert state.family_of("layer") is None and state.family_of("") is None
