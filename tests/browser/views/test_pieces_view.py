"""How a word becomes pieces, played in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import models
from models.pieces.apart import pieces_of
from pages.inside.pieces import recipes
from viz import pieces_view


@pytest.fixture(scope="module")
def word():
    (only_word,) = pieces_of(models.load_tokenizer("writer"), " unbelievable").words
    return only_word


def test_a_merge_is_played_by_itself_and_step_by_step(draw, word):
    count = len(word.steps.merges)
    names = [f"{at} of {count}" for at in range(count + 1)]
    page = draw(
        pieces_view(len(word.steps.letters), recipes.merge_rows(word.steps, True), names, [f"Step {name}." for name in names])
    )
    made = page.locator(".box.new:visible")
    expect(made).to_have_count(count)
    page.clock.install()
    page.get_by_role("button", name="Play").click()
    expect(made).to_have_count(0)
    expect(page.locator(".sentence")).to_have_text(f"Step 0 of {count}.")
    page.clock.run_for(1200)
    expect(made).to_have_count(1)
    first = word.steps.merges[0]
    expect(made).to_have_text(first.result.text.replace(" ", "·"))
    page.get_by_role("button", name="One step on").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    expect(made).to_have_count(2)
    page.get_by_role("button", name="One step back").click()
    page.get_by_role("button", name="One step back").click()
    expect(made).to_have_count(0)
    expect(page.get_by_role("button", name="One step back")).to_be_disabled()
    page.get_by_role("slider", name="Step").focus()
    page.keyboard.press("End")
    expect(made).to_have_count(count)
    last = page.locator(".box:visible").all_inner_texts()[-len(word.pieces) :]
    assert [label.replace("·", " ") for label in last] == [piece.text for piece in word.pieces]


def test_a_box_stands_below_the_letters_that_it_is_made_of(draw, word):
    merge = word.steps.merges[0]
    page = draw(pieces_view(len(word.steps.letters), recipes.merge_rows(word.steps, True)[:2], ["0", "1"], ["a", "b"]))
    letters, made = page.locator(".box"), page.locator(".box.new").bounding_box()
    left, right = (letters.nth(at).bounding_box() for at in (merge.left.start, merge.right.start))
    assert made["x"] == pytest.approx(left["x"], abs=1) and made["y"] > left["y"]
    assert made["x"] + made["width"] == pytest.approx(right["x"] + right["width"], abs=1)
