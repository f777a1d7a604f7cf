"""Page "Change" while something else happens: another text, another visitor, work that is cancelled or left."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from streamlit.util import calc_hash

from analysis import head_effects
from pages.change import changes, figures, recipes, switching
from tests.pages.held import Held
from tests.pages.opening import finish, is_at_work, open_link, press, words_on
from ui.look import Look
from ui.memory import loaded

LONG = 60  # seconds; a test that waits so long has failed
TEXT = "text=The+dog+saw+the+dog+and+ran"
CHANGES = "h2.3,c1.0.6.2,e1.1.6,o2.0.6.4,x6.1,r3.1"
OTHER = "resample=true&change-other=The+cat+saw+the+cat+and+sat"


def test_what_does_not_fit_a_shorter_text_is_said_and_kept_and_fits_again_later():
    app = open_link("change", f"{TEXT}&level=expert&changes={CHANGES}&{OTHER}")
    assert not app.info
    app.text_input(key="text").set_value("The dog").run()
    notices = " ".join(info.value for info in app.info)
    assert notices.count("does not fit here") == 3 and "2 more changes do not fit" in notices
    assert app.session_state["changes"] == CHANGES
    app.text_input(key="text").set_value("The dog saw the dog and ran").run()
    assert not app.info and app.session_state["changes"] == CHANGES


def test_two_visitors_in_turns_have_their_own_changes():
    apps = [open_link("change", f"text=The+{name}+saw&changes={change}") for name, change in (("cat", "h2.3"), ("dog", "f4,b5"))]
    for app, more in zip(apps, ("h2.3,h1.1", "b5"), strict=True):
        app.session_state["changes"] = more
        app.run()
    assert [app.session_state["changes"] for app in apps] == ["h2.3,h1.1", "b5"]
    assert [app.session_state["text"] for app in apps] == ["The cat saw", "The dog saw"]


def test_many_who_read_at_once_read_their_own_changes():
    model = loaded.model("writer")
    looks = [Look(model, model.trace(f"The dog number {i} saw", remember=False)) for i in range(6)]
    change_lists = [[f"h{layer}.{i}" for layer in range(i + 1)] for i in range(6)]
    alone = [changes.apply(*pair).trace.logits_at(-1) for pair in zip(looks, change_lists, strict=True)]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(changes.apply, looks * 5, change_lists * 5))
    for i, changed in enumerate(together):
        assert changed.fitting == change_lists[i % 6] and changed.trace.text == looks[i % 6].trace.text
        np.testing.assert_array_equal(changed.trace.logits_at(-1), alone[i % 6])


@pytest.mark.thorough
@pytest.mark.parametrize("leaves", [False, True], ids=["cancelled", "left"])
def test_trying_every_line_stops_when_it_is_cancelled_and_when_the_text_has_changed(monkeypatch, leaves):
    held = Held(switching.edge_effects)
    monkeypatch.setattr(switching, "edge_effects", held)
    text = f"A+dog+that+is+{'left' if leaves else 'cancelled'}"
    app = open_link("change", f"level=expert&try-lines=true&text={text}", finished=False)
    assert "half of it" in app.get("progress")[0].proto.text
    if leaves:
        app.toggle(key="try-lines").set_value(False).run()
    else:
        press(app, "Cancel")
        assert "Cancelled." in words_on(app) and [button.label for button in app.button if button.label == "Start again"]
    assert held.stopped.wait(LONG) and not app.exception


@pytest.fixture
def board(monkeypatch) -> list[tuple[str, np.ndarray | None]]:
    """The text of each board that is drawn from now on, with its effects of all heads."""
    drawn, draw = list[tuple[str, np.ndarray | None]](), figures.parts

    def parts(draft, changed, position, part_effects, suggested):
        drawn.append((draft.look.trace.text, part_effects))
        return draw(draft, changed, position, part_effects, suggested)

    monkeypatch.setattr(figures, "parts", parts)
    return drawn


def is_true(text: str, part_effects: np.ndarray | None) -> bool:
    """Return whether these are the effects of the heads in that text."""
    return part_effects is not None and np.allclose(part_effects[:, :-2], head_effects(loaded.model("writer"), text), atol=1e-4)


@pytest.mark.thorough
def test_who_cancels_trying_every_part_types_on_and_sees_the_new_text(monkeypatch, board):
    first, second = Held(head_effects), Held(head_effects)
    monkeypatch.setattr(recipes, "head_effects", first)
    app = open_link("change", "level=expert&try-all=true&text=The+bird+that+flew", finished=False)
    assert is_at_work(app) and board[-1] == ("The bird that flew", None)
    press(app, "Cancel")
    assert first.stopped.wait(LONG) and board[-1] == ("The bird that flew", None)
    monkeypatch.setattr(recipes, "head_effects", second)
    app.text_input(key="text").set_value("The bird that flew off").run()
    assert is_at_work(app) and board[-1] == ("The bird that flew off", None)
    second.let.set()
    finish(app)
    assert board[-1][0] == "The bird that flew off" and is_true(*board[-1])
    app.text_input(key="text").set_value("The bird that flew").run()
    assert board[-1] == ("The bird that flew", None) and "Cancelled." in words_on(app)
    press(app, "Start again")
    finish(app)
    assert is_true(*board[-1])


def test_who_leaves_while_every_part_is_tried_gets_another_page_and_comes_back_to_the_text_of_now(monkeypatch, board):
    held = Held(head_effects)
    monkeypatch.setattr(recipes, "head_effects", held)
    app = open_link("change", "level=expert&try-all=true&text=The+fish+that+swam", finished=False)
    assert is_at_work(app)
    app._page_hash = calc_hash("attention")
    app.run()
    assert not is_at_work(app) and not app.exception and not app.error
    assert held.stopped.wait(LONG), "nobody waits for it any more"
    app.text_input(key="text").set_value("The fish that swam away").run()
    drawn, again = len(board), Held(head_effects)
    monkeypatch.setattr(recipes, "head_effects", again)
    app._page_hash = calc_hash("change")
    app.run()
    assert is_at_work(app) and board[drawn:] == [("The fish that swam away", None)]
    again.let.set()
    finish(app)
    assert board[-1][0] == "The fish that swam away" and is_true(*board[-1])
