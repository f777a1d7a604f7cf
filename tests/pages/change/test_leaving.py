"""Page "Change" while something else happens: another text, another visitor, work that is cancelled or left."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from models.errors import Cancelled
from pages.change import changes, switching
from tests.pages.opening import open_link, said
from tests.serving import ROOT
from ui import state
from ui.look import Look
from ui.memory import loaded

LONG = 30  # seconds; a test that waits so long has failed
TEXT = "text=The+dog+saw+the+dog+and+ran"
CHANGES = "h2.3,c1.0.6.2,e1.1.6,o2.0.6.4,x6.1,r3.1"
OTHER = "resample=true&change-other=The+cat+saw+the+cat+and+sat"


def test_what_does_not_fit_a_shorter_text_is_said_and_kept_and_fits_again_later():
    app = open_link("change", f"{TEXT}&level=expert&changes={CHANGES}&{OTHER}")
    assert not app.info
    app.text_input(key="text").set_value("The dog").run()
    told = " ".join(one.value for one in app.info)
    assert told.count("does not fit here") == 3 and "2 more changes do not fit" in told
    assert app.session_state["changes"] == CHANGES
    app.text_input(key="text").set_value("The dog saw the dog and ran").run()
    assert not app.info and app.session_state["changes"] == CHANGES


def test_two_visitors_in_turns_have_their_own_changes():
    apps = [open_link("change", f"text=The+{name}+saw&changes={one}") for name, one in (("cat", "h2.3"), ("dog", "f4,b5"))]
    for app, more in zip(apps, ("h2.3,h1.1", "b5"), strict=True):
        app.session_state["changes"] = more
        app.run()
    assert [app.session_state["changes"] for app in apps] == ["h2.3,h1.1", "b5"]
    assert [app.session_state["text"] for app in apps] == ["The cat saw", "The dog saw"]


def test_many_who_read_at_once_read_their_own_changes(monkeypatch):
    monkeypatch.setattr(state.st, "session_state", {})
    model = loaded.model("writer")
    looks = [Look(model, model.trace(f"The dog number {i} saw", remember=False)) for i in range(6)]
    asked = [[f"h{layer}.{i}" for layer in range(i + 1)] for i in range(6)]
    alone = [changes.read(*one).trace.logits_at(-1) for one in zip(looks, asked, strict=True)]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(changes.read, looks * 5, asked * 5))
    for i, one in enumerate(together):
        assert one.fitting == asked[i % 6] and one.trace.text == looks[i % 6].trace.text
        np.testing.assert_array_equal(one.trace.logits_at(-1), alone[i % 6])


class Endless:
    """Effects that are never done."""

    def __init__(self):
        self.stopped = threading.Event()

    def __call__(self, *given, report, **more):
        try:
            while True:
                report(0.5, "half of it")
                threading.Event().wait(0.01)
        except Cancelled:
            self.stopped.set()
            raise


@pytest.mark.parametrize("leaves", [False, True], ids=["cancelled", "left"])
def test_trying_every_line_stops_when_it_is_cancelled_and_when_the_text_has_changed(monkeypatch, leaves):
    endless = Endless()
    monkeypatch.setattr(switching, "edge_effects", endless)
    loaded.model("writer")
    app = AppTest.from_file(str(ROOT / "ui" / "door.py"), default_timeout=60)
    app._page_hash = calc_hash("change")
    given = {"level": "expert", "try-lines": "true", "text": f"A dog that is {'left' if leaves else 'cancelled'}"}
    for name, value in given.items():
        app.query_params[name] = value
    app.run()
    assert "half of it" in app.get("progress")[0].proto.text
    if leaves:
        app.toggle(key="try-lines").set_value(False).run()
    else:
        (cancel,) = (one for one in app.button if one.label == "Cancel")
        cancel.click().run()
        assert "Cancelled." in said(app) and [one.label for one in app.button if one.label == "Start again"]
    assert endless.stopped.wait(LONG) and not app.exception
