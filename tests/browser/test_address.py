"""Back, forward, and what stays when something leaves the page."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import Locator, Page, expect

from tests.browser.places import in_menu
from tests.serving import ROOT
from ui.lexicon.marks import sections

BOX = "Your text"
START = 60_000  # milliseconds that a fresh server may take


def choose(page: Page, name: str, has: str) -> None:
    in_menu(page, name).click()
    expect(page.locator(has).first).to_be_visible(timeout=START)


def test_back_and_forward_move_between_pages_and_keep_what_was_typed(open_page):
    page = open_page("/?text=The+cat")
    expect(page.locator("[data-part=bars]")).to_be_visible(timeout=START)
    assert page.evaluate("document.head.contains(document.getElementById('headlight-style'))"), "no part of what can leave"
    before = page.evaluate("history.length")
    box = page.get_by_label(BOX)
    choose(page, "Attention", ".hl-head-view")
    box.press("End")
    box.press_sequentially(" sat", delay=60)
    expect(page).to_have_url(re.compile(r"/attention\?text=The\+cat\+sat$"))
    choose(page, "Layers", "text=What each layer would guess")
    assert page.evaluate("history.length") == before + 2, "a page takes one press of Back"
    for press, path in [
        (page.go_back, "attention"),
        (page.go_back, ""),
        (page.go_forward, "attention"),
        (page.go_forward, "layers"),
    ]:
        press()
        expect(page).to_have_url(re.compile(rf"/{path}\?text=The\+cat\+sat$"))
        expect(box).to_have_value("The cat sat")
    page.go_back()
    page.evaluate("history.pushState(null, '', '/layers')")  # as a page does that answers when it has been left
    expect(page).to_have_url(re.compile(r"/attention\?text=The\+cat\+sat$"))
    page.go_forward()
    expect(page).to_have_url(re.compile(r"/layers\?text=The\+cat\+sat$"))


def test_back_and_forward_keep_level_model_and_text_and_the_address_says_them(open_page):
    page = open_page("/?text=A+dog")
    expect(page.locator("[data-part=bars]")).to_be_visible(timeout=START)
    choose(page, "Attention", ".hl-head-view")
    page.get_by_role("radio", name="Expert").click()
    agree(page, "attention", "Expert", "writer", "A dog")
    page.go_back()
    agree(page, "", "Expert", "writer", "A dog")
    page.get_by_label(BOX).fill("Two cats")
    page.get_by_role("combobox", name="Model").click()
    page.get_by_role("combobox", name="Model").fill("translator")
    page.keyboard.press("Enter")
    agree(page, "", "Expert", "translator", "Two cats")
    page.get_by_role("radio", name="Beginner").click()
    agree(page, "", "Beginner", "translator", "Two cats")
    page.go_forward()
    agree(page, "attention", "Beginner", "translator", "Two cats")
    page.go_back()
    agree(page, "", "Beginner", "translator", "Two cats")


STREAMLIT_IS_SILENT = """() => {
    const replace = history.replaceState;
    history.replaceState = function (...all) {
        if (!new Error().stack.includes("/static/js/")) replace.apply(history, all);
    };
}"""


def test_what_is_typed_is_in_the_address_where_streamlit_does_not_write_it(open_page):
    """As where the first run on a fresh server begins again: Streamlit then forgets that the box belongs to the address."""
    page = open_page("/?text=The+cat")
    expect(page.locator("[data-part=bars]")).to_be_visible(timeout=START)
    page.evaluate(STREAMLIT_IS_SILENT)
    page.wait_for_function("headlightAddress.looks >= 8", timeout=START)
    page.get_by_label(BOX).press("End")
    page.keyboard.type(" sat", delay=60)
    expect(page).to_have_url(re.compile(r"/\?text=The\+cat\+sat$"))


def test_an_older_address_that_comes_late_gives_way_to_the_text_in_the_box(open_page):
    """As after Back, where Streamlit replaces the address by what the server knew when its run began."""
    page = open_page("/?text=The+cat")
    expect(page.locator("[data-part=bars]")).to_be_visible(timeout=START)
    page.get_by_label(BOX).press("End")
    page.keyboard.type(" sat", delay=60)
    expect(page).to_have_url(re.compile(r"/\?text=The\+cat\+sat$"))
    page.wait_for_function("headlightAddress.looks >= 8", timeout=START)
    page.evaluate("history.replaceState({}, '', '/?text=The+cat')")
    expect(page).to_have_url(re.compile(r"/\?text=The\+cat\+sat$"))


def agree(page: Page, path: str, level: str, model: str, text: str) -> None:
    """The address, the side bar and the page itself say the same of a visitor's choices."""
    chosen = {"level": level.lower(), "model": model, "text": text}
    named_choices = {name: value for name, value in chosen.items() if value not in ("beginner", "writer")}
    words = sections(ROOT / "pages" / (path or "type") / f"{level.lower()}.md")
    expect(page.locator(".st-key-heading")).to_contain_text(words["purpose"], timeout=START)
    expect(page.get_by_test_id("stSidebar").get_by_role("radio", name=level)).to_be_checked()
    expect(page.get_by_role("combobox", name="Model")).to_have_value(model)
    expect(page.get_by_label(BOX)).to_have_value(text)
    page.wait_for_url(lambda url: page_and_choices(url) == (f"/{path}", named_choices), wait_until="commit")


def page_and_choices(url: str) -> tuple[str, dict[str, str]]:
    """The page of an address, and what it says."""
    parts = urlsplit(url)
    return parts.path, dict(parse_qsl(parts.query))


def test_a_late_message_of_an_old_text_takes_nothing_out_of_the_address(open_page):
    """Streamlit's own message of an address has what its widgets had when it was sent, and nothing else."""
    page = open_page("/attention?lesson=paper-bert&step=2&level=expert&model=filler&text=A+dog&token=0")
    expect(page.locator(".hl-head-view").first).to_be_visible(timeout=START)
    every = {"lesson": "paper-bert", "step": "2", "level": "expert", "model": "filler", "text": "A dog ran", "token": "0"}
    page.get_by_label(BOX).press("End")
    page.get_by_label(BOX).press_sequentially(" ran", delay=60)
    page.wait_for_url(lambda url: every.items() <= page_and_choices(url)[1].items(), wait_until="commit")
    chosen = page_and_choices(page.url)
    page.evaluate("history.pushState({}, '', '/attention?level=expert&text=A+dog')")
    assert every.items() - {("text", "A dog ran")} <= page_and_choices(page.url)[1].items()
    page.wait_for_url(lambda url: page_and_choices(url) == chosen, wait_until="commit")


PRESS_ON = """path => {
  const links = [...document.querySelectorAll("[data-testid=stSidebarNavLink]")];
  const link = links.find((one) => new URL(one.href).pathname === path);
  document.querySelector(".st-key-text input").focus();
  link.click();
  document.execCommand("insertText", false, "x");
}"""


def test_a_key_press_on_a_page_that_is_being_left_spoils_nothing(open_page):
    """Streamlit alone would answer it as the page before, and leave the new one blank."""
    page = open_page("/?text=A+dog")
    expect(page.locator("[data-part=bars]")).to_be_visible(timeout=START)
    expect(page.get_by_label(BOX)).to_have_value("A dog")  # Streamlit fetches its code by itself, after the picture’s
    for path, has in (("/attention", ".hl-head-view"), ("/", "[data-part=bars]"), ("/attention", ".hl-head-view")):
        page.evaluate(PRESS_ON, path)
        expect(page.locator(has).first).to_be_visible(timeout=START)
        expect(page.get_by_label(BOX)).to_have_value("A dog")
        expect(page).to_have_url(re.compile(rf"{path}\?text=A\+dog$"))


def test_a_line_break_is_part_of_a_text_and_the_page_keeps_its_style(open_page):
    page = open_page("/?text=%22Where+have+you+been%3F%22+asked+the+old+woman.")
    guess = page.locator("[data-part=bars]").get_by_text("↵").first
    expect(guess).to_be_visible(timeout=START)
    guess.click()
    expect(page.get_by_label(BOX)).to_have_value('"Where have you been?" asked the old woman.↵')
    expect(page.locator("[data-part=chips] [role=option]").last).to_contain_text("↵")
    frame = page.locator(".st-key-text [data-testid=stTextInputRootElement]")
    expect(frame).to_have_css("border-top-width", "2px")  # it grows there when the page opens


def test_a_line_break_that_is_pasted_stays_one(open_page):
    page = open_page("/type?text=So")  # a page has an address of its name, the first one too
    box = page.get_by_label(BOX)
    expect(box).to_have_value("So", timeout=START)
    expect(page.get_by_text("Page not found")).to_have_count(0)
    box.press("End")
    paste(box, " it\r\nwas.\nYes")
    expect(box).to_have_value("So it↵was.↵Yes")
    expect(page.locator("[data-part=chips] [role=option]").filter(has_text="↵")).to_have_count(2)
    expect(page).to_have_url(re.compile(re.escape("?text=So+it%E2%86%B5was.%E2%86%B5Yes")))
    box.press("Control+z")
    expect(box).to_have_value("So")


def paste(box: Locator, text: str) -> None:
    """As a browser pastes what lies in the clipboard."""
    box.evaluate(
        """(box, text) => {
            const held = new DataTransfer();
            held.setData("text/plain", text);
            const event = new ClipboardEvent("paste", { clipboardData: held, bubbles: true, cancelable: true });
            if (box.dispatchEvent(event)) document.execCommand("insertText", false, text);
        }""",
        text,
    )


def test_a_text_too_long_for_a_link_says_so_and_the_next_one_is_in_the_address_at_once(open_page):
    page = open_page("/?text=A+dog")
    box = page.get_by_label(BOX)
    expect(box).to_have_value("A dog", timeout=START)
    box.fill("The cat sat. " * 500)
    notice = page.get_by_text("A link carries at most 6,000 characters, so this text is not in the address")
    expect(notice).to_be_visible(timeout=START)
    expect(page).to_have_url(re.compile("/$"))
    choose(page, "Attention", "text=In words")
    expect(box).to_have_value("The cat sat. " * 500)  # it stays on the next page
    box.fill("Two birds")
    expect(page).to_have_url(re.compile(r"\?text=Two\+birds$"))
    expect(notice).to_have_count(0)
    box.fill("Two birds sing")
    expect(page).to_have_url(re.compile(r"\?text=Two\+birds\+sing$"))


def test_a_phone_shows_level_and_model_and_what_is_chosen_stands_above_what_it_makes(open_page):
    page = open_page("/build?level=intermediate", width=390, height=844)
    part = page.get_by_role("spinbutton", name="Layers")
    expect(part).to_be_visible(timeout=START)
    chosen = page.get_by_text("Level: intermediate · Model: writer")
    expect(chosen).to_be_in_viewport()
    expect(page.get_by_role("button", name="Examples").get_by_text("Examples")).to_be_in_viewport()
    picture = page.locator(".hl-architecture")
    expect(picture).to_be_visible()
    assert part.bounding_box()["y"] < picture.bounding_box()["y"]
    menu = page.get_by_test_id("stSidebar")
    expect(menu).to_have_attribute("data-collapsed", "true")
    page.get_by_test_id("stExpandSidebarButton").click()
    expect(menu).to_have_attribute("data-collapsed", "false")
    expect(chosen).to_be_hidden()
    in_menu(page, "Train").click()
    expect(menu).to_have_attribute("data-collapsed", "true")  # a page that is chosen closes it
    expect(page.get_by_role("button", name="Start")).to_be_in_viewport(ratio=1, timeout=START)


def test_the_address_follows_a_choice_that_has_another_place_at_another_level(open_page):
    page = open_page("/flow?level=intermediate&text=The+cat+sat")
    page.get_by_role("radio", name="Which to believe").wait_for(timeout=START)
    page.get_by_role("radio", name="Expert").click()
    expect(page.get_by_label("Follow the prediction")).to_be_visible(timeout=START)
    page.get_by_role("radio", name="Which to believe").click()
    expect(page).to_have_url(re.compile("show=Which"), timeout=START)
