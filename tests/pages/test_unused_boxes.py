"""Pages that use no text of the visitor's hide its box, and keep what stands in it."""

from __future__ import annotations

from urllib.parse import quote_plus

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.opening import open_link

TEXT = "The cat sat on the mat, and the dog sat beside the cat."


def hides_its_boxes(app: AppTest) -> bool:
    """Return whether a page has its text boxes in the container that its style sheet hides."""
    ahead = [app._tree]
    while ahead:
        block = ahead.pop()
        ahead += getattr(block, "children", {}).values()
        if hasattr(block, "children") and "unused-boxes" in str(getattr(block, "proto", "")):
            return any(box.key == "text" for box in block.text_input)
    return False


@pytest.mark.parametrize(
    ("page", "link", "hidden"),
    [
        ("train", "", True),
        ("train", "train-task=Text", False),
        ("heads", "", True),
        ("heads", "level=intermediate", True),
        pytest.param("heads", "level=intermediate&heads-text=your+text", False, marks=pytest.mark.thorough),
        ("space", "", False),
        ("space", "space=Vocabulary", True),
        ("attention", "", False),
    ],
)
def test_a_page_shows_the_box_where_it_uses_the_text(page, link, hidden):
    app = open_link(page, f"text={quote_plus(TEXT)}&{link}")
    assert hides_its_boxes(app) is hidden
    assert app.session_state["text"] == TEXT


def test_a_box_comes_with_the_task_that_uses_it():
    app = open_link("train", f"text={quote_plus(TEXT)}")
    app.selectbox(key="train-task").set_value("Text").run()
    assert not hides_its_boxes(app) and app.text_input(key="text").value == TEXT
