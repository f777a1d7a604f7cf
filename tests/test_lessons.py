"""Every lesson that ships: what it says of its model is what its model answers, and what it sets there is."""

from __future__ import annotations

import pytest

import models
from analysis.true_answers import Answer, answer
from tests.grids import grid
from tests.pages.opening import open_link, words_on
from ui.lessons import files

LESSONS = sorted(files.files())
STEPS = [(name, number) for name in LESSONS for number in range(1, len(files.find(name).steps) + 1)]
OF_THE_LOGIT_LENS = {"likeliest token after a layer", "first layer that predicts it"}
ASKED = [(name, number) for name, number in STEPS if files.find(name).steps[number - 1].question]
KINDS = {files.find(name).steps[number - 1].question.answer: (name, number) for name, number in reversed(ASKED)}
FEW = {step for step in KINDS.values() if files.find(step[0]).group != "Papers"}


@pytest.mark.parametrize("name, number", grid(ASKED, FEW), ids=lambda value: str(value))
def test_what_a_lesson_expects_is_what_its_model_answers(name, number):
    """`make test` has one question of each kind, but of those that only lessons about papers ask."""
    lesson = files.find(name)
    step = lesson.steps[number - 1]
    question = step.question
    text, target = step.link.get("text", ""), step.link.get("target", "")
    right = answer(models.load(lesson.model_at(number)), question.answer, text, target, **question.given)
    assert question.expect is not None and question.hint, "what a lesson claims, and what helps who is wrong"
    assert Answer(right.value, within=0.05 if isinstance(right.value, float) else 0).accepts(question.expect), right


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_is_five_to_eight_minutes_and_has_a_page_for_its_teacher(name):
    lesson = files.find(name)
    assert 5 <= lesson.minutes <= 8 and lesson.about.endswith(".")
    for part in ("**Aim.**", "**What people get wrong.**", "**Time.**", "**Ask.**"):
        assert part in lesson.teacher


@pytest.mark.parametrize(
    "name, number",
    grid(STEPS, [(name, 1) for name in LESSONS]),
    ids=lambda value: str(value),
)
def test_a_step_opens_at_its_page_and_asks_for_nothing_that_is_not_there(name, number):
    lesson = files.find(name)
    step = lesson.steps[number - 1]
    choices = {**step.link, "model": lesson.model_at(number), "lesson": name, "step": number}
    link = "&".join(f"{key}={value}" for key, value in choices.items())
    app = open_link(step.page, link)
    assert not app.warned, app.warned
    assert step.title in words_on(app)


def test_what_a_step_asks_of_the_logit_lens_stands_in_the_picture_beside_it():
    """A visitor may have looked through the tuned lens before."""
    steps = [files.find(name).steps[number - 1] for name, number in ASKED]
    of_lens = [step for step in steps if step.page == "layers" and step.question.answer in OF_THE_LOGIT_LENS]
    assert of_lens and {step.link.get("lens") for step in of_lens} == {"logit lens"}


@pytest.mark.parametrize("course", files.courses(), ids=lambda course: course.name)
def test_a_course_has_time_for_its_lessons_and_for_talking_and_words_for_its_teacher(course):
    taken = sum(files.find(name).minutes for name in course.lessons)
    assert 1.2 * taken <= course.minutes <= 1.6 * taken
    for word in ("**Prepare.**", "**Pause**", "**Skip**"):
        assert word in course.teacher
