"""Page "Generate" in a real browser: a text grows, is stopped, taken back, tried otherwise and opened elsewhere."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.places import box_at_rest, in_menu

WAIT = 60_000
LINK = "/generate?text=The+cat+sat+on+the+mat&level=intermediate"
GREEDY = f"{LINK}&generate-method=Always+the+likeliest"

# “Stop” is pressed as soon as something was said: on a slow machine the text has ended before a test has heard of it.
PRESS_STOP = """(board) => {
  const observer = new MutationObserver(() => {
    window.gone ||= !board.isConnected;
    const button = [...document.querySelectorAll('button')].find((one) => one.innerText.trim().endsWith('Stop'));
    if (window.stoppedAt || !button || !/\\d of at most 400/.test(document.body.innerText)) return;
    const {x, y, width, height} = button.getBoundingClientRect();
    window.stoppedAt = {x, y, width, height};
    button.click();
  });
  observer.observe(document.body, {subtree: true, childList: true, characterData: true});
}"""


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click(timeout=WAIT)


def tokens(page: Page):
    return page.locator("[data-part=text] .token")


def test_it_goes_on_by_a_token_back_and_another_way(open_page):
    page = open_page(GREEDY)
    expect(page.locator(".hl-prediction-bars .marked")).to_be_visible(timeout=WAIT)
    count = tokens(page).count()  # the last stands for what comes next
    press(page, "Go on by one")
    expect(tokens(page)).to_have_count(count + 1)
    press(page, "Go on by one")
    expect(tokens(page)).to_have_count(count + 2)
    press(page, "Step back")
    expect(tokens(page)).to_have_count(count + 1)
    locator = tokens(page).nth(count - 1)
    first = locator.inner_text()
    locator.click()
    expect(page.get_by_text("Here the model said")).to_be_visible()
    page.locator(".hl-prediction-bars .row:not(.marked)").first.click()
    branches = page.locator("[data-part^=branch]")
    expect(branches).to_have_count(2)
    expect(tokens(page).nth(count - 1)).not_to_have_text(first)
    branches.first.locator(".token").first.click()
    expect(tokens(page).nth(count - 1)).to_have_text(first)


def test_it_runs_is_stopped_and_what_it_said_opens_on_page_attention(open_page):
    page = open_page(f"{LINK}&generate-tokens=400")
    expect(page.locator(".hl-prediction-bars .marked")).to_be_visible(timeout=WAIT)
    count = tokens(page).count()
    place = box_at_rest(page.get_by_role("button", name="Go on", exact=True))
    text = page.locator("[data-part=text]").element_handle()
    page.evaluate(PRESS_STOP, text)
    press(page, "Go on")
    page.wait_for_function("window.stoppedAt", timeout=WAIT)
    assert page.evaluate("window.stoppedAt") == place, "where the hand is already"
    expect(page.get_by_role("button", name="Go on", exact=True)).to_be_enabled(timeout=WAIT)
    expect(tokens(page).nth(count)).to_be_visible()
    assert count < tokens(page).count() < count + 400, "some of it was said, and not all"
    expect(page.locator("[data-part=text]")).to_contain_text("You stopped it here")
    assert not page.evaluate("board => window.gone || !board.isConnected", text), "the text stood there all the while"
    press(page, "Open this text on the other pages")
    expect(page.get_by_text("has these tokens now, on every page")).to_be_visible()
    box = page.get_by_role("textbox", name="Your text")
    expect(box).not_to_have_value("The cat sat on the mat")
    whole = box.input_value()
    assert whole.startswith("The cat sat on the mat")
    in_menu(page, "Attention").click()
    expect(page.locator(".hl-head-view")).to_be_visible(timeout=WAIT)
    expect(box).to_have_value(whole)


def test_the_translator_translates_by_one_press(open_page):
    page = open_page("/generate?model=translator&text=She+gave+him+a+book.&level=expert")
    expect(page.locator(".hl-prediction-bars .marked")).to_be_visible(timeout=WAIT)
    press(page, "Translate")
    expect(page.get_by_text("The model chose its end token")).to_be_visible(timeout=WAIT)
    press(page, "Open this text on the other pages")
    expect(page.get_by_role("textbox", name="The answer so far")).to_have_value("Elle lui donna un livre.")


def test_on_a_phone_the_text_stands_between_the_way_of_choosing_and_its_numbers(open_page):
    page = open_page(f"{LINK}&generate-said=14-561~1-370&generate-branch=1", width=390, height=844)
    branches = page.locator("[data-part^=branch]")
    expect(branches).to_have_count(2, timeout=WAIT)
    expect(page.locator("[data-part=text]")).to_contain_text("mat. The")
    places = ".st-key-generate-method", "[data-part=text]", ".st-key-generate-temperature", ".st-key-generate-tokens"
    ways, text, first, second = (page.locator(place).bounding_box() for place in places)
    branch = branches.first.bounding_box()
    assert ways["y"] + ways["height"] < text["y"] and text["y"] + text["height"] < 844, "on the first screen"
    assert text["y"] + text["height"] < first["y"] and first["y"] + first["height"] < branch["y"]
    assert first["x"] + first["width"] < second["x"] and second["x"] + second["width"] > 340, "two beside each other"
