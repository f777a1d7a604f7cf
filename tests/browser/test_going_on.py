"""What somebody does with a prediction on page Type: at an earlier token, after a space, and in an answer."""

from __future__ import annotations

import re

from playwright.sync_api import expect

import models
from models.generation.answer import answers

START = 90_000  # milliseconds that a fresh server may take


def test_an_earlier_token_has_the_predictions_of_what_came_after_it(open_page):
    page = open_page("/?text=Once+upon+a+time+there+was")
    bars, chips = page.locator("[data-part=bars]"), page.locator("[data-part=chips] [role=option]")
    expect(bars).to_be_visible(timeout=START)
    chips.nth(3).click()  # “ a”
    expect(bars).to_contain_text("You chose “a”")
    expect(bars.locator("[role=option], button").first).to_contain_text("time")
    expect(bars).to_contain_text(re.compile(r"9\d(\.\d)?\s%"))  # as when the text ends there
    bars.locator("[role=option], button").nth(1).click()
    expect(page.get_by_label("Your text")).not_to_have_value(re.compile("there was"))
    expect(page.get_by_label("Your text")).to_have_value(re.compile(r"^Once upon a\S* ?\S+$"))


def test_a_space_at_the_end_is_told_of(open_page):
    page = open_page("/?text=Once+upon+a")
    chips = page.locator("[data-part=chips]")
    expect(chips).to_be_visible(timeout=START)
    expect(chips).not_to_contain_text("ends with a")
    page.get_by_label("Your text").press("End")
    page.get_by_label("Your text").press_sequentially(" ")
    expect(chips).to_contain_text(re.compile("Delete the space|Take the last space away"))


def test_the_translator_begins_with_an_answer_and_goes_on_when_asked(open_page):
    *_, answer = answers(models.load("translator"), "The black cat is sleeping under the table.")
    page = open_page("/?model=translator")
    box = page.get_by_label("The answer so far")
    expect(box).to_have_value(answer, timeout=START)
    box.fill(answer.split()[0])
    page.get_by_role("button", name="Go on").click()
    expect(box).to_have_value(re.compile(rf"^{re.escape(answer.split()[0])} \S+"))
    name = "My name is Müller."
    page.get_by_label("Your text").fill(name)
    expect(box).to_have_value("")
    *_, answer = answers(models.load("translator"), name)
    assert "Müller" in answer
    line = page.locator(".st-key-whole-answer")
    expect(line).to_have_text(f"The whole answer, as the model would give it: {answer}")  # nobody asked it to go on
    for piece in ("Je", "·m", "'", "appelle", "·M"):
        bars(page).filter(has=page.get_by_text(piece, exact=True)).first.click()
        expect(page.locator("[data-part=target]")).to_contain_text(piece)
    bars(page).filter(has=page.get_by_text("part of a character", exact=True)).first.click()
    expect(box).to_have_value("Je m'appelle Mü")
    expect(page.locator("[data-part=target]").get_by_role("option").last).to_have_text("ü")


def bars(page):
    return page.locator("[data-part=bars]").get_by_role("button")


LINES = """
window.lines = [];
const Line = WebSocket;
WebSocket = class extends Line {
  constructor(...given) {
    super(...given);
    this.came = 0;
    this.addEventListener("message", () => (this.came += 1));
    lines.push(this);
  }
};
"""


def test_after_the_network_was_gone_for_a_moment_the_page_stands_as_it_was_and_answers_the_first_press(new_page, app_url):
    page = new_page()
    page.add_init_script(LINES)
    page.goto(f"{app_url}/?text=Once+upon+a+time+there+was")
    bars, chips = page.locator("[data-part=bars]"), page.locator("[data-part=chips] [role=option]")
    expect(bars).to_be_visible(timeout=START)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    page.evaluate("lines.at(-1).close()")
    page.wait_for_function("lines.length > 1 && lines.at(-1).came > 0", timeout=START)  # it has come back, and is drawn again
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_label("Your text")).to_have_value("Once upon a time there was")
    chips.nth(3).click()  # “ a”
    expect(bars).to_contain_text("You chose “a”")
