"""Page "Build" in a real browser: parts are chosen, and the diagram, the costs and the pictures follow."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from analysis.cost import costs, crossing
from models.scratch.config import TransformerConfig

WAIT = 60_000


def boxes(page: Page):
    return page.locator(".hl-architecture li.box, .hl-architecture li.block")


def test_parts_are_chosen_and_the_diagram_follows(open_page):
    page = open_page("/build?level=intermediate&text=The+cat+sat+on+the+mat")
    expect(page.locator(".hl-architecture .times")).to_have_text("× 6", timeout=WAIT)
    expect(boxes(page).first).to_contain_text("[7, 256]")
    page.get_by_label("Layers", exact=True).fill("4")
    page.keyboard.press("Enter")
    expect(page.locator(".hl-architecture .times")).to_have_text("× 4")
    page.get_by_label("Your text").fill("The cat")
    expect(boxes(page).first).to_contain_text("[3, 256]")
    assert "build-layers=4" in page.url, "a link opens the same parts"


def test_two_stacks_stand_side_by_side(open_page):
    page = open_page("/build?level=intermediate&build-kind=encoder-decoder&text=The+cat")
    expect(page.locator(".hl-architecture .column")).to_have_count(2, timeout=WAIT)
    expect(page.locator(".hl-architecture .column").nth(1)).to_contain_text("Cross-attention")


def test_what_does_not_fit_together_is_a_sentence_and_the_page_stands(open_page):
    page = open_page("/build?level=intermediate&build-heads=7&text=The+cat")
    expect(page.get_by_text("must be a multiple of heads (7)")).to_be_visible(timeout=WAIT)
    page.get_by_label("Heads", exact=True).fill("4")
    page.keyboard.press("Enter")
    expect(page.locator(".hl-architecture .times")).to_be_visible()


def test_costs_are_calculated_and_counted(open_page):
    page = open_page("/build?level=expert&build=Cost&build-d_model=64&build-d_ff=96&text=The+cat+sat+on+the+mat")
    row = page.get_by_role("row", name=re.compile("^feed-forward"))
    expect(row).to_be_visible(timeout=WAIT)
    part = next(cost for cost in costs(TransformerConfig(d_model=64, d_ff=96), 7) if cost.part == "feed-forward")
    number = f"{part.parameters.value:,}"
    expect(row).to_have_text(re.compile(rf"{re.escape(part.parameters.formula)}\s*{number}\s*{number}"))  # calculated, counted
    at = crossing(TransformerConfig(d_model=64, d_ff=96))
    expect(page.get_by_text(f"from {at:,} tokens on").first).to_be_visible()
    page.get_by_role("radio", name="operations").or_(page.get_by_role("button", name="operations")).first.click()
    expect(row).to_contain_text(f"{part.flops.value:,}")
    page.set_viewport_size({"width": 820, "height": 800})  # so narrow that the names of the curves take three lines
    the_names_of_curves_stand_below_the_name_of_the_axis(page)


def test_too_large_a_model_is_calculated_not_built(open_page):
    page = open_page("/build?level=expert&build=Cost&build-layers=96&build-d_model=12288&build-heads=96&build-d_ff=49152")
    expect(page.get_by_text("is calculated but not measured")).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("row", name=re.compile("^feed-forward"))).to_be_visible(timeout=WAIT)


@pytest.mark.parametrize("look", ["Masks", "Why+√d"])
def test_every_part_draws(open_page, look):
    page = open_page(f"/build?level=expert&build={look}&build-pattern=bigbird&text=The+cat+sat")
    expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=WAIT)
    assert page.locator(".stException, .stAlertContainer:has-text('went wrong')").count() == 0


def the_names_of_curves_stand_below_the_name_of_the_axis(page: Page) -> None:
    name = page.locator(".st-key-crossing .xtitle")
    expect(name).to_be_visible()
    curves = page.locator(".st-key-crossing .legend .scrollbox")
    expect(curves).to_be_visible()
    page.wait_for_function(  # both at one moment: the table above them comes later, and moves them
        """() => document.querySelector('.st-key-crossing .xtitle').getBoundingClientRect().bottom
            <= document.querySelector('.st-key-crossing .legend .scrollbox').getBoundingClientRect().top"""
    )


@pytest.mark.parametrize("level", ["beginner", "expert"])
def test_the_transformer_goes_to_page_train_at_the_first_click(open_page, level):
    """The button stands in a fragment, and only a run of the whole page opens another page."""
    page = open_page(f"/build?level={level}&build-layers=3&text=The+cat")
    expect(page.locator(".hl-architecture .times")).to_have_text("× 3", timeout=WAIT)
    page.get_by_role("button", name="Train this").click()
    page.wait_for_url(re.compile("/train[?]"))
    expect(page.get_by_label("Layers", exact=True)).to_have_value("3")
    assert "train-layers=3" in page.url and f"level={level}".replace("level=beginner", "") in page.url
