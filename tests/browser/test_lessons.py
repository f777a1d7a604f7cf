"""Lessons walked by pressing what a participant presses, on a desktop and on a phone."""

from __future__ import annotations

import re
import time
from functools import cache

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

import models
from analysis.true_answers import Answer, answer
from tests.browser.places import APART, box_at_rest, in_menu
from ui.lessons import files
from ui.lessons.files import Lesson

WAIT = 25_000


@cache
def answered(model: str, name: str, text: str, target: str, **given: object) -> Answer:
    """What the model answers, calculated once for both widths."""
    return answer(models.load(model), name, text, target, **given)


def respond(panel: Locator, lesson: Lesson, number: int) -> None:
    """Answers as the step's model does."""
    step = lesson.steps[number - 1]
    question, model = step.question, lesson.model_at(number)
    right = answered(model, question.answer, step.link.get("text", ""), step.link.get("target", ""), **question.given)
    if right.choices:
        named = "Yes" if right.value is True else "No" if right.value is False else right.value
        panel.get_by_role("radiogroup").get_by_text(named, exact=True).click(timeout=WAIT)
    else:
        box = panel.get_by_role("spinbutton")
        box.fill(f"{right.value:g}", timeout=WAIT)
        box.press("Enter")
    expect(panel.get_by_text(re.compile(f"^Right. With “{model}”"))).to_be_visible(timeout=WAIT)


def expect_above(upper: Locator, lower: Locator) -> None:
    """Waits until the one ends where the other begins, or before. Both are looked up anew each time: a page that is drawn again
    may put others in their place."""
    expect(upper).to_be_visible(timeout=WAIT)
    until = time.monotonic() + WAIT / 1000
    while True:
        above, below = upper.bounding_box(), lower.bounding_box()
        if above and below and above["y"] + above["height"] <= below["y"] + 1:
            return
        assert time.monotonic() < until, (above, below)
        upper.page.wait_for_timeout(APART)


def walk(page: Page, lesson: Lesson) -> None:
    panel = page.locator(".st-key-lesson")
    for number, step in enumerate(lesson.steps, 1):
        expect(panel.get_by_role("heading", name=step.title, exact=True)).to_be_visible(timeout=WAIT)
        expect(page).to_have_url(re.compile(rf"/{'' if step.page == 'type' else step.page}\?.*lesson={lesson.name}"))
        expect(page.get_by_role("heading", level=1)).to_have_text(step.page.capitalize(), timeout=WAIT)
        if step.question:
            respond(panel, lesson, number)
        panel.get_by_role("button", name="Finish" if number == len(lesson.steps) else "Next", exact=True).click()
    expect(panel).to_have_count(0)
    expect(page).to_have_url(re.compile(r"/lessons(\?(?!.*lesson=).*)?$"))
    expect(page.get_by_role("button", name="Again")).to_have_count(1, timeout=WAIT)


DESKTOP, PHONE = (1280, 800, False), (390, 844, True)


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("training", DESKTOP),
        ("find", PHONE),
    ],
)
def test_a_lesson_is_walked_from_its_link_to_its_end(open_page, name, window):
    """A few of them: tests/test_lessons.py checks every step and every answer of all."""
    walk(open_page(f"/?lesson={name}", *window), files.find(name))


def test_it_is_begun_from_the_list_and_left_and_used_by_keys_alone(open_page):
    page = open_page("/lessons")
    expect(page.get_by_role("button", name="Start", exact=True).first).to_be_visible(timeout=WAIT)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=WAIT)
    page.locator(".st-key-begin-tokens").get_by_role("button", name="Start", exact=True).click()
    panel = page.locator(".st-key-lesson")
    first, second = files.find("tokens").steps[:2]
    expect(panel.get_by_role("heading", name=first.title)).to_be_visible(timeout=WAIT)
    number = panel.get_by_role("spinbutton")
    number.fill("3", timeout=WAIT)
    number.press("Enter")
    expect(panel).to_contain_text(f"Not quite. {first.question.hint}")
    page.set_viewport_size({"width": 390, "height": 844})  # the panel becomes a sheet, longer than it is high
    expect(panel.get_by_text("Not quite.")).to_be_in_viewport(ratio=1)
    expect(panel.get_by_role("button", name="Next", exact=True)).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 900, "height": 800})  # here the side bar stands beside the page, and is not covered
    in_menu(page, "Lessons").hover(trial=True)
    panel.get_by_role("heading", name=first.title).click(trial=True, position={"x": 4, "y": 4})
    page.set_viewport_size({"width": 1280, "height": 800})
    grave = [
        violation["id"] for violation in Axe().run(page).response["violations"] if violation["impact"] in ("serious", "critical")
    ]
    assert grave == []
    panel.get_by_role("button", name="Next", exact=True).focus()
    page.keyboard.press("Enter")
    expect(panel.get_by_role("heading", name=second.title)).to_be_visible(timeout=WAIT)
    page.set_viewport_size({"width": 1280, "height": 480})  # less high than the step is with its hint
    number.fill("9", timeout=WAIT)
    number.press("Enter")
    expect(panel).to_contain_text(f"Not quite. {second.question.hint}")
    expect_above(number, panel.locator(".st-key-lesson-foot"))
    page.set_viewport_size({"width": 1280, "height": 800})
    panel.get_by_role("button", name="Close the lesson").focus()
    page.keyboard.press("Enter")
    expect(panel).to_have_count(0)
    in_menu(page, "Lessons").click()
    page.get_by_role("button", name="Continue with step 2").click(timeout=WAIT)
    expect(panel.get_by_role("heading", name=second.title)).to_be_visible(timeout=WAIT)


def test_on_a_phone_the_picture_the_field_and_the_first_line_of_a_step_come_into_sight(open_page):
    page = open_page("/?lesson=cut&step=4", 390, 844)
    panel, field = page.locator(".st-key-lesson"), page.locator(".st-key-lesson").get_by_role("spinbutton")
    expect_above(page.locator(".st-key-change canvas").first, panel)
    expect(page.locator(".st-key-change canvas").first).to_be_in_viewport(ratio=1)
    field.fill("3")
    field.press("Enter")
    expect(panel.get_by_text("Not quite.")).to_be_in_viewport(ratio=1, timeout=WAIT)
    expect(field).to_be_in_viewport(ratio=1)
    expect_above(field, panel.locator(".st-key-lesson-foot"))
    panel.get_by_role("button", name="Next", exact=True).click()
    expect(panel.get_by_role("heading", name=files.find("cut").steps[4].title)).to_be_in_viewport(ratio=1, timeout=WAIT)
    expect(panel.get_by_role("button", name="Close the lesson")).to_be_in_viewport(ratio=1)
    option = panel.get_by_role("radiogroup").locator("label").first
    circle, word = (option.locator(part).first.bounding_box() for part in ("div > div", "p"))
    off = (circle["y"] + circle["height"] / 2) - (word["y"] + word["height"] / 2)
    assert abs(off) <= 2, "the word of an answer stands beside its circle"
    page.go_back()
    assert page.url == "about:blank", "no page stands between the lesson and what was there before"
    page = open_page("/?lesson=kinds&step=4", 390, 844)
    expect(page.get_by_text("94.8").first).to_be_in_viewport(timeout=WAIT)  # the bar that is asked for, below both rows of chips
    expect_above(page.get_by_text("94.8").first, page.locator(".st-key-lesson"))


def test_what_show_me_shows_comes_into_sight_and_a_style_that_comes_late_moves_nothing(open_page):
    page = open_page("/lessons")
    page.add_init_script("""
        const append = HTMLHeadElement.prototype.append;
        HTMLHeadElement.prototype.append = function (...all) {
            if (all[0]?.id === "headlight-style") setTimeout(() => append.apply(this, all), 2000);
            else append.apply(this, all);
        };
    """)
    page.goto(re.sub("/lessons.*", "/?lesson=prediction&step=3", page.url))
    panel, main = page.locator(".st-key-lesson"), page.locator(".stMain")
    expect(panel).to_have_css("position", "fixed", timeout=WAIT)
    expect(page.get_by_text("Where it looks").first).to_be_visible(timeout=WAIT)
    assert main.evaluate("one => one.scrollTop") == 0
    page.goto(re.sub("[?].*", "?lesson=care&step=3", page.url))
    panel.get_by_role("spinbutton").fill("20", timeout=WAIT)
    panel.get_by_role("spinbutton").press("Enter")
    heading = page.get_by_role("heading", name="The prediction, before and now")
    expect(heading).not_to_be_in_viewport(timeout=WAIT)
    panel.get_by_role("button", name="Show me").click()
    expect(heading).to_be_in_viewport(timeout=WAIT)
    expect(page.get_by_text("80.4").first).to_be_in_viewport(timeout=WAIT)
    page.goto(re.sub("/change.*", "/?lesson=attention&step=5", page.url))
    panel.get_by_role("radiogroup").get_by_text("No", exact=True).click(timeout=WAIT)
    panel.get_by_role("button", name="Show me").click()
    expect(heading).to_be_in_viewport(timeout=WAIT)
    expect_above(panel.get_by_role("radiogroup"), panel.locator(".st-key-lesson-foot"))


def test_a_link_to_a_stage_of_the_way_inside_opens_where_it_stands(open_page):
    page = open_page("/?lesson=attention&step=3")
    expect(page.get_by_text("the softmax takes e^score, which is positive")).to_be_in_viewport(timeout=WAIT)
    page.locator(".st-key-lesson").get_by_role("button", name="Back", exact=True).click()
    line = page.locator(".st-key-inside-before").get_by_role("button", expanded=True)
    expect(line).to_contain_text("Scores", timeout=WAIT)
    opened = box_at_rest(line)  # before the bar is looked up: it moves with the page
    bar = page.locator(".st-key-inside-glance").bounding_box()
    assert opened["y"] >= bar["y"] + bar["height"], "the bar with all stages does not cover the one that is open"


def test_by_keys_alone_the_focus_is_seen_at_each_step_and_the_browser_keeps_what_was_finished(open_page):
    page = open_page("/?lesson=prediction&step=4")
    panel, steps = page.locator(".st-key-lesson"), files.find("prediction").steps
    title, name = panel.get_by_role("heading", level=4), page.get_by_role("heading", level=1)

    def tab_to(button: Locator) -> None:
        for _ in range(60):
            if button.evaluate("one => one === document.activeElement"):
                break
            page.keyboard.press("Tab")
        expect(button).to_be_focused()
        assert button.evaluate("one => one.matches(':focus-visible')"), "and one sees it"

    expect(title).to_have_text(steps[3].title, timeout=WAIT)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=WAIT)
    tab_to(panel.get_by_role("radio").first)
    page.keyboard.press("ArrowDown")
    expect(panel.get_by_text("Right.")).to_be_visible(timeout=WAIT)
    expect(panel.get_by_role("radio").nth(1)).to_be_focused()
    tab_to(panel.get_by_role("button", name="Next", exact=True))
    page.keyboard.press("Enter")
    expect(title).to_have_text(steps[4].title, timeout=WAIT)
    expect(title).to_be_focused(timeout=WAIT)
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0, timeout=WAIT)
    expect(name).to_be_focused(timeout=WAIT)
    page.goto(re.sub("/?[?].*", "/?lesson=prediction&step=5", page.url))
    expect(title).to_have_text(steps[4].title, timeout=WAIT)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=WAIT)
    tab_to(panel.get_by_role("button", name="Finish", exact=True))
    page.keyboard.press("Enter")
    expect(panel.get_by_text("no answer yet")).to_be_in_viewport(timeout=WAIT)
    expect(panel.get_by_role("button", name="Finish", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(name).to_have_text("Lessons", timeout=WAIT)
    expect(name).to_be_focused(timeout=WAIT)
    page.reload()
    expect(page.get_by_role("button", name="Again", exact=True)).to_have_count(1, timeout=WAIT)
    expect(page.get_by_text("5 lessons · 1 finished")).to_be_visible()


def test_a_step_shows_and_uses_its_own_numbers_and_not_those_that_were_chosen_in_the_step_before(open_page):
    page = open_page("/?lesson=generation&step=2")
    panel, drawn = (
        page.locator(".st-key-lesson"),
        page.locator("input[aria-label='Number of the draw']"),
    )  # which a beginner does not see
    page.get_by_role("button", name="Draw again").click(timeout=WAIT)
    expect(drawn).to_have_value("1", timeout=WAIT)
    expect(page).to_have_url(re.compile("generate-seed=1"), timeout=WAIT)
    panel.get_by_role("button", name="Next", exact=True).click()
    expect(panel.get_by_role("heading", name="Cold", exact=True)).to_be_visible(timeout=WAIT)
    expect(drawn).to_have_value("0", timeout=WAIT)
    panel.get_by_role("button", name="Back", exact=True).click()
    expect(panel.get_by_role("heading", name="With dice", exact=True)).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("slider", name="Temperature")).to_have_value("0.8", timeout=WAIT)
    page.get_by_role("button", name="Go on by one").click()
    expect(page.get_by_text("“know”").first).to_be_visible(timeout=WAIT)


@pytest.mark.parametrize("course", files.courses(), ids=lambda course: course.name)
def test_a_handout_prints_on_one_page(open_page, course):
    page = open_page(f"/handouts/{course.name}")
    expect(page.get_by_role("heading", level=1)).to_have_text(course.title)
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) == 1
    page.evaluate("window.print = () => (document.title = 'printed')")
    page.get_by_role("button", name="Print").click()
    expect(page).to_have_title("printed")


def test_the_teacher_finds_the_handout_of_a_course_below_it(open_page):
    page = open_page("/lessons")
    card = page.locator(".st-key-course-first-course")
    card.get_by_text("For the teacher", exact=True).click(timeout=WAIT)
    with page.expect_popup() as opened:
        card.get_by_role("link", name="Handout to print").click()
    expect(opened.value.get_by_role("heading", level=1)).to_have_text(files.courses()[0].title, timeout=WAIT)


def test_a_level_that_is_chosen_during_a_lesson_stays_with_the_next_step_or_the_panel_says_why_not(open_page):
    page = open_page("/?lesson=prediction&step=1")
    panel, levels = page.locator(".st-key-lesson"), page.get_by_role("radiogroup", name="Level")
    title = panel.get_by_role("heading", level=4)
    expect(title).to_be_visible(timeout=WAIT)
    levels.get_by_role("radio", name="Expert").click()
    expect(page).to_have_url(re.compile("level=expert"), timeout=WAIT)
    panel.get_by_role("button", name="Next", exact=True).click()
    expect(title).to_have_text(files.find("prediction").steps[1].title, timeout=WAIT)
    expect(levels.get_by_role("radio", name="Expert")).to_be_checked()
    page.goto(re.sub("/?[?].*", "/?lesson=attention&step=1", page.url))
    expect(title).to_have_text(files.find("attention").steps[0].title, timeout=WAIT)
    levels.get_by_role("radio", name="Beginner").click()
    expect(page).not_to_have_url(re.compile("level="), timeout=WAIT)
    panel.get_by_role("button", name="Next", exact=True).click()
    expect(panel.get_by_text("This step is shown at the level “Intermediate”")).to_be_visible(timeout=WAIT)
    expect(levels.get_by_role("radio", name="Intermediate")).to_be_checked()
