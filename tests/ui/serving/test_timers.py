"""A press that sets a choice holds, though a timer's message with the choice from before it comes while the page runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import SessionState

from tests.ui.serving.replaced import needs
from ui.serving import timers

pytestmark = needs("timers")

MENU, TIMER = "menu", "part with a timer"


def browser_message(menu: str, is_auto_rerun: bool) -> ClientState:
    """Return a browser’s message, with all choices of the page and the part that is to run."""
    message = ClientState(fragment_id=TIMER, is_auto_rerun=is_auto_rerun)
    message.widget_states.widgets.add(id=MENU, string_value=menu)
    return message


def session_with_menu() -> SessionState:
    """A session whose page has placed a menu, of which the browser has sent the choice "before"."""
    session = SessionState()
    session._set_widget_metadata(
        WidgetMetadata(MENU, lambda sent: sent, lambda value: value, "string_value", fragment_id=None)  # type: ignore[call-arg]
    )
    session.on_script_will_rerun(WidgetStates(widgets=browser_message("before", False).widget_states.widgets))
    return session


def menu_after(message: ClientState) -> str:
    """The choice once a callback has set it to "pressed", this message has come, and the page has asked to run again."""
    session, requests = session_with_menu(), ScriptRequests()
    session._new_widget_state.set_from_value(MENU, "pressed")
    visit = SimpleNamespace(
        _state=None, _scriptrunner=requests, has_fragment=lambda _: True, _client_state=ClientState(), _lock=threading.Lock()
    )
    AppSession.request_rerun(visit, message)  # type: ignore[arg-type]
    requests.request_rerun(RerunData())  # as st.rerun does
    request = requests.on_scriptrunner_yield()
    assert request is not None
    if request.rerun_data.widget_states is not None:  # as the runner of scripts does
        session.on_script_will_rerun(request.rerun_data.widget_states)
    return str(session[MENU])


@pytest.fixture
def with_request(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., RerunData]], None]:
    return lambda request: monkeypatch.setattr(app_session, "RerunData", request)


def test_a_press_holds_when_a_timer_repeats_the_choice_before_it(with_request):
    with_request(timers.request)
    assert menu_after(browser_message("before", is_auto_rerun=True)) == "pressed"


def test_what_a_visitor_changes_is_taken(with_request):
    with_request(timers.request)
    assert menu_after(browser_message("another", is_auto_rerun=False)) == "another"


def test_streamlit_itself_loses_the_press(with_request):
    """Where this fails, Streamlit has been mended, and `ui.serving.timers` can go."""
    with_request(RerunData)
    assert menu_after(browser_message("before", is_auto_rerun=True)) == "before"
