"""Who has gone may come back for a moment: what Streamlit keeps of them for it holds no text as a model has read it."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Callable

import pytest

from pages.change import switching
from tests.grids import grid
from tests.pages.held import Held
from tests.pages.opening import open_link
from tests.pages.test_every_page import MODELS
from ui.memory import loaded, visitors

PARTS = {
    "type": ("",),
    "attention": ("", "view=Reading", "view=Heatmap"),
    "layers": ("", "part=Statistics", "part=Lens"),
    "flow": ("", "show=Layer+by+layer", "show=Streams"),
    "space": ("", "space=Tokens"),
    "inside": ("", "stage=order"),
    "generate": ("generate-said=11,12",),
    "explain": ("", "explain=Methods"),
    "change": ("", "experiment=Two+texts", "experiment=What+wrote+it", "experiment=Circuit", "experiment=Steer"),
    "heads": ("",),
}


@pytest.fixture
def readings(monkeypatch) -> list[weakref.ref]:
    """What models have read for visitors, from now on."""
    references, read = list[weakref.ref](), loaded.read

    def noted(*given, **more):
        trace = read(*given, **more)
        references.extend(weakref.ref(attention) for attention in (trace, *trace.attention.values()))
        return trace

    monkeypatch.setattr(loaded, "read", noted)
    return references


def leave() -> None:
    """Everybody goes."""
    for tell in visitors.leaving:
        tell(lambda visitor: False)
    loaded.model("writer").forget()
    gc.collect()


def link(part: str) -> str:
    return f"model=writer&{MODELS['writer']}&level=expert&{part}"


@pytest.mark.parametrize(
    ("page", "part"),
    grid([(page, part) for page, parts in PARTS.items() for part in parts], [(page, parts[0]) for page, parts in PARTS.items()]),
)
def test_no_reading_outlives_its_visitor_and_what_was_chosen_does(page, part, readings):
    app = open_link(page, link(part))
    assert any(reading() for reading in readings), "they are here"
    leave()
    assert not any(reading() for reading in readings)
    assert not app.run().exception and app.session_state["level"] == "expert", "they come back"


def test_no_reading_outlives_a_visitor_who_went_while_something_was_worked_out(readings, monkeypatch):
    held = Held(switching.edge_effects)
    monkeypatch.setattr(switching, "edge_effects", held)
    app = open_link("change", link("try-lines=true&text=Who+goes+away"), finished=False)
    assert held.begun.wait(60)
    held.let.set()
    leave()
    until(lambda: not any(reading() for reading in readings))
    assert app.session_state["level"] == "expert"


def until(true: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        gc.collect()
        time.sleep(0.05)
