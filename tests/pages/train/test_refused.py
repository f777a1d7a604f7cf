"""Page "Train" refuses an impossible training in a sentence, and starts nothing."""

from __future__ import annotations

import pytest

from tests.pages.opening import open_link


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ("level=intermediate&train-heads=7", "must be a multiple of heads (7)"),
        ("level=beginner&train-task=Text&text=Too+short", "at least 48 characters"),
        ("level=expert&train-steps=5000&train-every=1", "Take one every 50 steps"),
        ("level=intermediate&train-heads=7&train-steps=abc", "asks for “Steps” at “abc”"),
    ],
)
def test_what_cannot_be_trained_is_a_sentence(choices, sentence):
    app = open_link("train", choices, finished=False)
    notices = [element.value.replace("\\", "") for element in (*app.error, *app.warning)]
    assert any(sentence in notice for notice in notices), notices
    assert [button.disabled for button in app.button if button.label == "Start"] == [True]
