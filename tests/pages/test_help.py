"""Choices that beginners have, and the help text that says what they do."""

from __future__ import annotations

import pytest

from tests.pages.opening import open_link


@pytest.mark.parametrize(
    ("page", "link", "key"),
    [("layers", "part=Lens", "lens"), ("attention", "view=Heatmap", "compare")],
)
def test_a_choice_for_beginners_has_a_help_text(page, link, key):
    app = open_link(page, f"text=The+cat+sat&level=beginner&{link}", finished=False)
    assert app.button_group(key=key).proto.help.endswith(".")
