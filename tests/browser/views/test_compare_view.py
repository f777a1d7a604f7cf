from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from models import Token
from viz import compare_view

TOKENS = [Token(0, "<s>", 0, 0, special=True), Token(1, " dog", 0, 4), Token(2, "\n", 4, 5)]
VALUES = np.array(
    [[[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]], [[0.1, 0.2, 0.7], [0.0001, 0.0, np.nan]]],
)


def cells(page) -> list[list[str]]:
    return [
        [text.replace("\u00a0", " ") for text in row.locator("td").all_inner_texts()] for row in page.locator("tbody tr").all()
    ]


def test_it_is_a_table_of_what_it_was_given_and_the_last_frame_comes_first(draw):
    page = draw(compare_view(TOKENS, ["rollout", "flow"], VALUES, ["layer 0", "layer 1"], chosen=1))
    assert page.get_by_role("columnheader").all_inner_texts() == ["rollout", "flow"]
    assert page.get_by_role("rowheader").count() == 3
    expect(page.locator("output")).to_have_text("layer 1")
    assert cells(page) == [["10.0 %", "<0.1 %"], ["20.0 %", "0.0 %"], ["70.0 %", "–"]]
    expect(page.locator("tr.asked")).to_contain_text("dog")


def test_another_frame_can_come_first_and_the_largest_number_of_each_column_is_marked(draw):
    page = draw(compare_view(TOKENS, ["rollout", "flow"], VALUES, ["layer 0", "layer 1"], first=0))
    expect(page.locator("output")).to_have_text("layer 0")
    leading = page.locator("tbody td.leads")
    assert [text.replace("\u00a0", " ") for text in leading.all_inner_texts()] == ["50.0 %", "100.0 %"]
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    assert [text.replace("\u00a0", " ") for text in leading.all_inner_texts()] == ["<0.1 %", "70.0 %"]


def test_the_slider_moves_by_keyboard_and_says_where_it_is(draw):
    page = draw(compare_view(TOKENS, ["rollout", "flow"], VALUES, ["layer 0", "layer 1"]))
    slider = page.get_by_role("slider")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("output")).to_have_text("layer 0")
    assert slider.get_attribute("aria-valuetext") == "layer 0"
    assert cells(page) == [["50.0 %", "0.0 %"], ["25.0 %", "100.0 %"], ["25.0 %", "0.0 %"]]


def test_it_plays_from_the_beginning_and_ends_at_the_last(draw):
    page = draw(compare_view(TOKENS, ["rollout", "flow"], VALUES, ["layer 0", "layer 1"]))
    page.get_by_role("button", name="Play").click()
    expect(page.locator("output")).to_have_text("layer 0")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator("output")).to_have_text("layer 1")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_a_larger_share_is_shaded_more_and_none_is_clear(draw):
    page = draw(compare_view(TOKENS, ["rollout", "flow"], VALUES, ["layer 0", "layer 1"]))
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")
    shades = page.locator("tbody td").evaluate_all("each => each.map(one => parseFloat(one.style.getPropertyValue('--shade')))")
    first, second = shades[0::2], shades[1::2]
    assert first[0] > first[1] == first[2] > 0 and second[1] > second[0] == second[2] == 0


def test_a_single_frame_has_no_slider(draw):
    page = draw(compare_view(TOKENS, ["rollout", "flow"], VALUES[:1]))
    expect(page.get_by_role("slider")).to_be_hidden()
    expect(page.get_by_role("button", name="Play")).to_be_hidden()


def test_what_does_not_fit_is_a_sentence():
    with pytest.raises(ValueError, match="2 frames, 1 names and 3 tokens"):
        compare_view(TOKENS, ["rollout"], VALUES, ["layer 0", "layer 1"])
