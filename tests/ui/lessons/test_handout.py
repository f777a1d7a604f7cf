"""The handout of a course, and where its teacher finds all of it."""

from __future__ import annotations

import re
from html import unescape

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.pages.opening import open_link, press, words_on
from ui.lessons import files, handout, routes

COURSES = {course.name: course for course in files.courses()}
OF_A_TEACHER = "---\ntitle: A <b>bold</b> course\nminutes: 12\nlessons: [tokens]\n---\n"


@pytest.mark.parametrize("name", COURSES)
def test_a_handout_names_each_lesson_and_explains_the_words_that_they_use(name):
    text = unescape(handout.page(COURSES[name]))
    for lesson in map(files.find, COURSES[name].lessons):
        assert lesson.title in text and lesson.about in text
    words = handout.words_of(COURSES[name], "")
    assert 5 <= len(words) <= handout.WORDS and all(meaning in text for _, meaning in words)
    assert {"model", "token", "head"} <= {word for word, _ in words}


def test_a_server_sends_handouts_and_says_of_others_that_they_are_not_there(monkeypatch, tmp_path):
    (tmp_path / "courses").mkdir()
    (tmp_path / "courses" / "mine.md").write_text(OF_A_TEACHER)
    monkeypatch.setenv("HEADLIGHT_LESSONS", str(tmp_path))
    browser = TestClient(Starlette(routes=list(routes.ROUTES)))
    answer = browser.get("/handouts/first-course")
    assert answer.status_code == 200 and COURSES["first-course"].title in answer.text
    assert "A &lt;b&gt;bold&lt;/b&gt; course" in browser.get("/handouts/xx/mine").text
    assert browser.get("/handouts/nothing").status_code == 404
    (tmp_path / "courses" / "mine.md").write_text("no course")
    wrong = browser.get("/handouts/mine")
    assert wrong.status_code == 404 and "mine.md, line 1" in wrong.text


def test_a_course_starts_at_its_button_and_goes_on_with_what_is_not_finished():
    app = open_link("lessons", "")
    labels = {button.key: button.label for button in app.button}
    assert labels["start-first-course"] == "Start" and next(iter(labels)) == "start-first-course"
    app.button(key="start-first-course").click().run()
    assert app.session_state["lesson"] == "first-look" and app.session_state["lesson-course"] == "first-course"
    app = open_link("type", "lesson=first-look&step=5")
    press(app, "Finish")
    press(app, "Finish")  # its questions are unanswered
    assert app.button(key="start-first-course").label == "Go on"
    app.button(key="start-first-course").click().run()
    assert app.session_state["lesson"] == "tokens"


def test_a_course_has_all_for_its_teacher_in_one_place():
    app = open_link("lessons", "")
    text = words_on(app)
    taught = {name for course in COURSES.values() for name in course.lessons}
    for name in taught:
        lesson = files.find(name)
        assert text.count(lesson.teacher) == sum(name in course.lessons for course in COURSES.values()), name
    pages = [expander for expander in app.expander if expander.label == "For the teacher"]
    assert len(pages) == len(COURSES) + len(files.files().keys() - taught)
    assert "Which token is the model’s best guess? **girl**" in text


def test_the_first_course_is_for_beginners_from_its_first_step_to_its_last():
    first = files.courses()[0]
    assert first.name == "first-course" and first.minutes == 45
    for lesson in map(files.find, first.lessons):
        words = "\n".join(f"{step.words} {step.question.ask if step.question else ''}" for step in lesson.steps)
        assert lesson.level == "beginner" and all(step.link["level"] == "beginner" for step in lesson.steps), lesson.name
        assert not re.search(r"\bnats?\b|\bshapes?\b|logit|\bvectors?\b| × |softmax", words), lesson.name
        assert all(step.question for step in lesson.steps), "each step is answered by looking"
