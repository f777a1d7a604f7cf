"""The list of words in part "Vocabulary" of page Space is bounded, and a page says what it leaves out."""

from __future__ import annotations

from tests.pages.opening import finish, open_link
from ui.choices.boxes import LONGEST


def test_a_list_of_any_length_is_cut_and_that_is_said():
    app = open_link("space", "space=Vocabulary&level=intermediate")
    assert not [one.value for one in app.caption if "words are shown" in one.value]
    box = app.text_input(key="vocabulary")
    box.set_value(" ".join(f"w{number}" for number in range(100_000)))
    app = finish(app.run())
    assert not app.exception and not app.error
    assert len(app.text_input(key="vocabulary").value) <= LONGEST
    (cut,) = [one.value for one in app.caption if "words are shown" in one.value]
    assert cut.startswith("Only the first 400 of ")
