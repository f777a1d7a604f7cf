"""A room as a class uses it: one leads, three follow in browsers of their own, one of them on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.places import box_at_rest, in_menu
from tests.browser.test_accessible import violations
from tests.line import Line, line_to
from tests.serving import Server, free_port, serve

WAIT = 60_000
SAT = "The cat sat on the mat"


def box(page: Page):
    return page.get_by_label("Your text")


def strip(page: Page):
    return page.get_by_role("region", name="Room", exact=True)


def folded(page: Page, words: str):
    return page.locator("summary:visible", has_text=words)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click(timeout=WAIT)


def type_on(page: Page, text: str, delay: int) -> None:
    box(page).focus()
    page.keyboard.press("End")
    page.keyboard.type(text, delay=delay)


@dataclass
class Class:
    code: str
    lead: Page
    first: Page
    second: Page
    phone: Page
    line: Line  # of the first one

    @property
    def all(self) -> tuple[Page, Page, Page]:
        return self.first, self.second, self.phone


def test_a_class_follows_steps_out_comes_back_and_answers(chromium, new_page, monkeypatch):
    """It takes close to a minute: four browsers go through all that a class does, and through a restart of the server."""
    monkeypatch.setenv("HEADLIGHT_ROOM_SECRET", "of this test")
    port = free_port()
    with line_to(port) as line:
        with serve(port=port) as server:
            room = open_room(server, new_page, line)
            all_have_each_letter_and_page(room)
            nobody_loses_a_letter_where_two_write_at_once(room)
            nobody_loses_a_letter_to_a_move_that_is_on_its_way(room)
            all_answer_a_question(room)
            all_stay_with_a_level_and_have_some_pages(room)
            all_wait_for_who_leads(room)
            all_are_led_through_a_lesson_from_a_second_device(room, new_page(390, 844))
            all_go_to_another_model(room)
        for page in (room.lead, *room.all):
            expect(strip(page)).to_contain_text("The room is away for a moment.")
        with serve(port=port):
            all_find_each_other_again(room)
            press(room.lead, "End the room")
            press(room.lead, "End it for all")
            for page in room.all:
                expect(strip(page)).to_contain_text(f"The room {room.code} has ended.")


def open_room(server: Server, new_page: Callable[..., Page], line: Line) -> Class:
    lead, *followers = (new_page(*size) for size in ((1280, 800), (1280, 800), (1280, 800), (390, 844)))
    lead.goto(f"{server.url}/attention?level=expert&layer=L2&head=H3&text=The+cat")
    press(lead, "Open a room")
    code = lead.get_by_role("heading", name=re.compile("^[A-Z]{6}$"), level=1).inner_text(timeout=WAIT)
    for page, url in zip(followers, (line.url, server.url, server.url), strict=True):
        page.goto(f"{url}/?room={code}", wait_until="commit")
    for page in followers:
        expect(box(page)).to_have_value("The cat", timeout=WAIT)
        expect(page).to_have_url(re.compile(r"/attention\?.*head=H3"))
        expect(strip(page)).to_contain_text("You follow your teacher", timeout=WAIT)
    expect(strip(lead)).to_contain_text("You lead. 3 here, 3 of them follow.", timeout=WAIT)
    return Class(code, lead, *followers, line)


def all_have_each_letter_and_page(room: Class) -> None:
    press(room.lead, "Back to where the class is")
    expect(box(room.lead)).to_have_value("The cat", timeout=WAIT)
    type_on(room.lead, SAT.removeprefix("The cat"), 30)
    for page in room.all:
        expect(box(page)).to_have_value(SAT)
    press(room.lead, "H5")  # of the head view, beside the one that is chosen
    for page in room.all:
        expect(page.get_by_role("button", name="H5", exact=True)).to_have_attribute("aria-pressed", "true")
    in_menu(room.lead, "Inside").click()  # which has the same pickers of layer and head
    for page in (room.lead, *room.all):
        expect(page).to_have_url(re.compile(r"/inside\?.*head=H3"))
    in_menu(room.lead, "Type").click()
    for page in (room.lead, *room.all):
        expect(page.get_by_role("heading", level=1)).to_have_text("Type")
    all_see_where_who_leads_points(room)


def all_see_where_who_leads_points(room: Class) -> None:
    def chips(page: Page):
        return page.locator("[data-part=chips]").get_by_role("option")

    chips(room.lead).filter(has_text="sat").hover()
    for page in room.all:
        expect(page.locator("[data-part=chips] .pointed")).to_contain_text("sat")
    room.lead.mouse.move(5, 5)
    for page in room.all:
        expect(page.locator("[data-part=chips] .pointed")).to_have_count(0)
    for words, opened in (("… More", 1), ("Less", 0)):
        folded(room.lead, words).first.click()
        for page in (room.lead, room.first, room.second):
            expect(folded(page, "Less")).to_have_count(opened)
    for page in room.all:
        expect(strip(page)).to_contain_text("You follow your teacher")


def nobody_loses_a_letter_where_two_write_at_once(room: Class) -> None:
    for letter, other in zip(" today", " now, ", strict=True):
        type_on(room.lead, letter, 0)
        type_on(room.first, other, 0)
    expect(box(room.second)).to_have_value(f"{SAT} today")
    expect(strip(room.first)).to_contain_text("You go your own way. The class is at Type.")
    expect(box(room.first)).to_have_value(re.compile(rf"^{SAT}( |$)?t?o?d?a?y? now, $"))
    expect(strip(room.lead)).to_contain_text("3 here, 2 of them follow.")
    type_on(room.first, "I go my own way", 0)
    type_on(room.lead, " again", 0)
    expect(box(room.second)).to_have_value(f"{SAT} today again")
    expect(box(room.first)).to_have_value(re.compile(" now, I go my own way$"))


def nobody_loses_a_letter_to_a_move_that_is_on_its_way(room: Class) -> None:
    press(room.first, "Follow again")
    expect(box(room.first)).to_have_value(f"{SAT} today again")
    expect(strip(room.first)).to_contain_text("You follow your teacher")
    for key in "!?":
        room.line.hold_answers()
        type_on(room.lead, key, 0)
        expect(box(room.second)).to_have_value(re.compile(re.escape(key) + "$"))
        while not room.line.held.is_set():  # the first one's page has run for it, and has not heard of it yet
            room.first.wait_for_timeout(50)
        type_on(room.first, key, 0)  # the very same letter
        mine = box(room.first).input_value()
        room.line.answers.set()
        expect(strip(room.first)).to_contain_text("You go your own way.")
        expect(box(room.first)).to_have_value(mine)
        press(room.first, "Follow again")
        expect(strip(room.first)).to_contain_text("You follow your teacher")


def all_answer_a_question(room: Class) -> None:
    press(room.lead, f"Room {room.code}: code, questions")
    room.lead.get_by_text("Ask the class a question").click(timeout=WAIT)
    room.lead.get_by_label("The question").fill("What <b>comes</b> next?")
    room.lead.get_by_label("The question").press("Tab")
    room.lead.get_by_label("The choices, one in a line").fill("a dot\na <i>word</i>")
    room.lead.get_by_label("The choices, one in a line").press("Tab")
    room.phone.locator(".stMain").evaluate("one => one.scrollTo(0, 500)")
    press(room.lead, "Ask")
    for part in (strip(room.phone).get_by_role("heading"), strip(room.phone).get_by_role("button", name="a dot")):
        expect(part).to_be_in_viewport(ratio=1)
    for page, tabs, answer in zip(room.all, (1, 2, 1), ("a dot", "a <i>word</i>", "a dot"), strict=True):
        expect(strip(page).get_by_role("heading")).to_have_text("What <b>comes</b> next?")
        strip(page).get_by_role("button", name="Leave the room").focus()
        for key in (*["Tab"] * tabs, "Enter"):
            page.keyboard.press(key)
        expect(strip(page)).to_contain_text(f"You answered “{answer}”", timeout=8_000)  # sooner than the line's next beat
    expect(strip(room.lead).locator(".bars li")).to_have_text(["a dot2 · 67\u00a0%", "a <i>word</i>1 · 33\u00a0%"])
    for page in (room.lead, room.first, room.phone):
        assert not (grave := violations(page)), "\n".join(grave)
    expect(strip(room.phone).locator(".bars li")).to_have_count(0)
    name = strip(room.phone).get_by_label("Your name, if you like")
    name.fill("Ada")
    name.press("Tab")  # after the answer
    with room.lead.expect_download() as taken:
        press(room.lead, "Take the answers home")
    assert '"Ada","a dot"' in Path(taken.value.path()).read_text(encoding="utf-8-sig")
    press(room.lead, "Show the counts to all")
    expect(strip(room.phone).locator(".bars li")).to_have_text(["a dot2 · 67\u00a0%", "a <i>word</i>1 · 33\u00a0%"])


def all_stay_with_a_level_and_have_some_pages(room: Class) -> None:
    room.lead.get_by_text("What the class can choose").click(timeout=WAIT)
    pages = room.lead.locator(".st-key-room-pages")
    box_at_rest(pages)  # it slides open, and a press while it moves is none
    pages.get_by_text("Train", exact=True).click()
    expect(pages.get_by_role("button", pressed=False)).to_have_text(["Train"])
    for page in (room.first, room.second):
        expect(in_menu(page, "Train")).to_have_count(0)
    expect(in_menu(room.lead, "Train")).to_be_visible()
    room.lead.get_by_text("All stay with the level “expert”").click()
    for page in room.all:
        expect(page.get_by_test_id("stSidebar").get_by_role("radio", name="beginner")).to_be_disabled()


def all_wait_for_who_leads(room: Class) -> None:
    address, context = room.lead.url, room.lead.context
    room.lead.close()
    expect(strip(room.phone)).to_contain_text("Your teacher is away for the moment.")
    room.lead = context.new_page()
    room.lead.goto(address)
    expect(strip(room.lead)).to_contain_text("You lead. 3 here, 3 of them follow.", timeout=WAIT)
    expect(strip(room.phone)).not_to_contain_text("away")


def all_are_led_through_a_lesson_from_a_second_device(room: Class, device: Page) -> None:
    """By its keys alone, in the dark: the notes are there, and the picture is on the first."""
    press(room.lead, "Lead from a second device")
    link = room.lead.get_by_text("/lead?key=").inner_text()
    device.emulate_media(color_scheme="dark")
    device.goto(link)
    expect(strip(device)).to_contain_text("You lead. 3 here, 3 of them follow.", timeout=WAIT)
    room.lead.keyboard.press("Escape")
    in_menu(room.lead, "Lessons").click()
    room.lead.locator(".st-key-begin-heads button").first.click()
    notes = device.locator(".st-key-room-notes")
    expect(notes).to_contain_text("step 1 of")
    notes.get_by_label("Show my notes and the answer").press("Space")
    expect(notes).to_contain_text("Aim.")
    assert not (grave := violations(device)), "\n".join(grave)
    notes.get_by_role("button", name="Next step").press("Enter")
    for page in (room.lead, *room.all):
        expect(page.locator(".st-key-lesson")).to_contain_text("step 2 of")
    expect(notes).to_contain_text(re.compile(r"step 2 of .*Aim\.", re.S))
    device.close()
    the_way_back_is_in_sight_below_a_page_and_a_lesson(room.phone)
    press(room.lead, "Close the lesson")
    for page in room.all:
        expect(page.locator(".st-key-lesson")).to_have_count(0)


def the_way_back_is_in_sight_below_a_page_and_a_lesson(page: Page) -> None:
    page.locator(".st-key-lesson").get_by_role("button", name="Back", exact=True).click()
    expect(strip(page)).to_contain_text("You go your own way.")
    page.locator(".stMain").evaluate("one => one.scrollTo(0, 10_000)")
    expect(strip(page).get_by_role("button", name="Follow again")).to_be_in_viewport(ratio=1)
    press(page, "Follow again")
    expect(strip(page)).to_contain_text("You follow your teacher")
    expect(page.locator(".st-key-lesson")).to_contain_text("step 2 of")


def all_go_to_another_model(room: Class) -> None:
    model = room.lead.get_by_role("combobox", name="Model")
    model.fill("filler")
    model.press("Enter")
    for page in (room.lead, *room.all):
        expect(page.get_by_test_id("stSidebar")).to_contain_text("Encoder: ", timeout=WAIT)
    type_on(room.lead, " Tom", 0)
    for page in room.all:
        expect(box(page)).to_have_value(re.compile(" Tom$"))


def all_find_each_other_again(room: Class) -> None:
    """On a server that was started anew, with what the class had before."""
    text = box(room.lead).input_value()
    expect(strip(room.lead)).to_contain_text("You lead. 3 here, 3 of them follow.", timeout=WAIT)
    for page in (room.lead, *room.all):
        expect(page.get_by_test_id("stSidebar")).to_contain_text("Encoder: ", timeout=WAIT)
        expect(box(page)).to_have_value(text)
    for page in (room.first, room.second):  # as it was fixed
        expect(in_menu(page, "Train")).to_have_count(0)
        expect(page.get_by_test_id("stSidebar").get_by_role("radio", name="beginner")).to_be_disabled()
    type_on(room.lead, " and Anna", 0)
    for page in room.all:
        expect(box(page)).to_have_value(f"{text} and Anna")
        expect(page.get_by_test_id("stSidebar")).to_contain_text("Encoder: ")
    press(room.lead, f"Room {room.code}: code, questions")
