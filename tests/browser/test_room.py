"""A room as a class uses it: one leads, three follow in browsers of their own, one of them on a phone."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

WAIT = 30_000


def box(page: Page):
    return page.get_by_label("Your text")


def strip(page: Page):
    return page.get_by_role("region", name="Room", exact=True)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click(timeout=WAIT)


def go(page: Page, name: str) -> None:
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=name, exact=True).click()


def type_on(page: Page, text: str, delay: int) -> None:
    box(page).focus()
    page.keyboard.press("End")
    page.keyboard.type(text, delay=delay)


def test_a_class_follows_steps_out_comes_back_and_answers(open_page):
    lead = open_page("/attention?level=expert&layer=L2&head=H3&text=The+cat")
    press(lead, "Open a room")
    code = lead.get_by_role("heading", name=re.compile("^[A-Z]{6}$"), level=1).inner_text(timeout=WAIT)
    class_ = [open_page(f"/?room={code}", *size) for size in ((1280, 800), (1280, 800), (390, 844))]
    for page in class_:
        expect(box(page)).to_have_value("The cat", timeout=WAIT)
        expect(page).to_have_url(re.compile(r"/attention\?.*head=H3"))
        expect(strip(page)).to_contain_text("You follow your teacher", timeout=WAIT)
    expect(strip(lead)).to_contain_text("You lead. 3 here, 3 of them follow.", timeout=WAIT)

    press(lead, "Back to where the class is")
    expect(box(lead)).to_have_value("The cat", timeout=WAIT)
    type_on(lead, " sat on the mat", 30)
    for page in class_:
        expect(box(page)).to_have_value("The cat sat on the mat")
    go(lead, "Type")
    for page in class_:
        expect(page.get_by_role("heading", level=1)).to_have_text("Type")

    first, second, phone = class_
    for one, other in zip(" today", " now, ", strict=True):  # both at once
        type_on(lead, one, 0)
        type_on(first, other, 0)
    expect(box(second)).to_have_value("The cat sat on the mat today")
    expect(strip(first)).to_contain_text("You go your own way.")
    expect(box(first)).to_have_value(re.compile(r"^The cat sat on the mat( |$)?t?o?d?a?y? now, $"))
    expect(strip(lead)).to_contain_text("3 here, 2 of them follow.")
    press(first, "Follow again")
    expect(box(first)).to_have_value("The cat sat on the mat today")

    press(lead, f"Room {code}: code, questions")
    lead.get_by_label("The question").fill("What <b>comes</b> next?")
    lead.get_by_label("The question").press("Tab")
    lead.get_by_label("The choices, one in a line").fill("a dot\na <i>word</i>")
    lead.get_by_label("The choices, one in a line").press("Tab")
    press(lead, "Ask")
    for page, answer in zip(class_, ("a dot", "a <i>word</i>", "a dot"), strict=True):
        expect(strip(page).get_by_role("heading")).to_have_text("What <b>comes</b> next?")
        strip(page).get_by_role("button", name=answer, exact=True).click()
        expect(strip(page)).to_contain_text(f"You answered “{answer}”", timeout=8_000)  # sooner than the line's next beat
    bars = strip(lead).locator(".bars li")
    expect(bars).to_have_text(["a dot2", "a <i>word</i>1"])
    expect(strip(phone).locator(".bars li")).to_have_count(0)
    press(lead, "Show the counts to all")
    expect(strip(phone).locator(".bars li")).to_have_text(["a dot2", "a <i>word</i>1"])

    lead.get_by_text("All stay with the level “expert”").click()
    for page in class_:
        expect(page.get_by_test_id("stSidebar").get_by_role("radio", name="beginner")).to_be_disabled()

    address = lead.url
    lead.close()
    expect(strip(phone)).to_contain_text("Your teacher is away for the moment.")
    again = lead.context.new_page()
    again.goto(address)
    expect(strip(again)).to_contain_text("You lead. 3 here, 3 of them follow.", timeout=WAIT)
    expect(strip(phone)).not_to_contain_text("away")
    press(again, "End the room")
    expect(strip(phone)).to_contain_text(f"The room {code} has ended.")
