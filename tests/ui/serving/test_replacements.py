"""One switch leaves Streamlit and its server as they are; the app works either way."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

from tests.serving import ROOT, serve
from ui.serving.replacements import REPLACEMENTS, SESSION, SWITCH, is_left_out

MODULES = ("batched_writes", "bundles", "loops", "lookups", "order", "small_messages", "theme", "timers", "typing_pause")

PLAIN_RUN = """
import asyncio
from streamlit import config
from streamlit.components.v2.bidi_component import main as components
from streamlit.elements.widgets import selectbox, slider, text_widgets
from streamlit.runtime import app_session
from streamlit.runtime.runtime import Runtime
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.extensions.permessage_deflate import PerMessageDeflate

def functions():
    return [
        config.get_option, components.make_bidi_component_presenter, selectbox.get_session_state, slider.get_session_state,
        text_widgets.get_session_state, text_widgets.time_to_seconds, app_session._populate_theme_msg,
        app_session.RerunData, app_session.AppSession._create_scriptrunner,
        app_session.AppSession._clear_queue, app_session.AppSession._call_soon_on_event_loop,
        app_session.AppSession.flush_browser_queue, app_session.AppSession.__init__, Runtime._enqueued_some_message,
        WebSocketsSansIOProtocol.connection_made, PerMessageDeflate.encode,
    ]

before = functions()
from ui import state
from ui.serving import replacements
replacements.install(asyncio.new_event_loop())
print(state.PLAIN, sum(one is not other for one, other in zip(before, functions(), strict=True)))
"""


def replaced_functions(switch: str) -> str:
    """Whether the session is read plainly, and how many functions are others, in a new process with this switch."""
    code = f"import os; os.environ[{SWITCH!r}] = {switch!r}\n{PLAIN_RUN}"
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(("switch", "answer"), [("1", "True 0"), ("", "False 16"), ("order,session", "True 15")])
def test_with_the_switch_no_function_is_replaced_and_with_names_none_of_these(switch, answer):
    assert replaced_functions(switch) == answer


def test_the_switch_is_one_or_names_and_says_so_of_any_other():
    assert not any(is_left_out(name, {}) or is_left_out(name, {SWITCH: "0"}) for name in (*REPLACEMENTS, SESSION))
    assert all(is_left_out(name, {SWITCH: "1"}) for name in (*REPLACEMENTS, SESSION))
    assert [name for name in (*REPLACEMENTS, SESSION) if is_left_out(name, {SWITCH: "loops, theme"})] == ["theme", "loops"]
    with pytest.raises(ValueError, match=r"some of these names: theme, .*, session\. It says yes"):
        is_left_out("theme", {SWITCH: "yes"})


@pytest.mark.parametrize("module", MODULES)
def test_each_says_what_it_gains_and_when_it_is_needless(module):
    words = " ".join(inspect.getdoc(import_module(f"ui.serving.{module}")).split())
    assert "Gain: " in words and "Needless when " in words and "upstream issue" in words


def test_a_server_with_the_switch_starts_and_its_first_page_is_served(monkeypatch):
    monkeypatch.setenv(SWITCH, "1")
    with serve() as server:
        log = server.log.read_text()
    assert "Traceback" not in log and "Error" not in log


@pytest.mark.thorough
def test_pages_are_as_they_are_without_the_switch():
    """In a new process, as the switch is read once: the first page at a link, with what it reads of session and address."""
    code = (
        f"import os; os.environ[{SWITCH!r}] = '1'\n"
        "from tests.pages.opening import open_link\n"
        "for page in ('type', 'attention', 'generate'):\n"
        "    app = open_link(page, 'level=expert&text=The+cat&layer=L1&head=H2')\n"
        "    print(page, len(app.exception), app.session_state['level'], app.session_state['text'], len(app.warning))\n"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == [f"{page} 0 expert The cat 0" for page in ("type", "attention", "generate")]
