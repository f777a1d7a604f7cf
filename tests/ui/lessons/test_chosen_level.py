"""The level that a visitor chooses during a lesson, and the end of a lesson with unanswered questions."""

from __future__ import annotations

import pytest
from streamlit.util import calc_hash

from tests.pages.opening import open_link, words_on
from tests.ui.lessons.test_panel import MINE, named, press


@pytest.fixture(autouse=True)
def mine(tmp_path, monkeypatch):
    (tmp_path / "mine.md").write_text(MINE)
    monkeypatch.setenv("HEADLIGHT_LESSONS", str(tmp_path))
    return tmp_path


def test_finish_says_how_many_questions_are_unanswered_before_it_ends_the_lesson():
    app = press(open_link("attention", "lesson=mine&step=2"), "lesson-next-step")
    assert app.session_state["lesson"] == "mine" and "2 questions have no answer yet" in app.info[0].value
    press(app, "lesson-unanswered-step")
    assert app.session_state["step"] == 1 and not app.info
    app.number_input(key="lesson-answer-mine-1").set_value(3).run()
    app = press(press(app, "lesson-next-step"), "lesson-next-step")
    assert "One question has no answer yet" in app.info[0].value, "it is said again after the lesson was gone on with"
    app.radio(key="lesson-answer-mine-2").set_value("No").run()
    assert not app.info, "nothing is unanswered any more"
    assert press(app, "lesson-next-step").session_state["lesson"] == ""


def choose_level(app, level):
    return app.segmented_control(key="level").set_value(level).run()


EASY = MINE.replace("level: expert\n", "")
RAISED = "This step is shown at the level “Expert”"


def test_a_level_that_is_chosen_during_a_lesson_stays_for_the_steps_after_it(mine):
    (mine / "mine.md").write_text(EASY)
    app = press(choose_level(open_link("type", "lesson=mine"), "intermediate"), "lesson-next-step")
    assert app.session_state["level"] == "intermediate" and "shown at the level" not in words_on(app)
    press(app, "lesson-back")
    assert app.session_state["level"] == "intermediate"
    press(choose_level(app, "beginner"), "lesson-next-step")
    assert app.session_state["level"] == "beginner" and "shown at the level" not in words_on(app)


def test_a_step_that_needs_a_higher_level_than_the_chosen_one_says_so_and_the_chosen_one_comes_back(mine):
    app = press(choose_level(open_link("type", "lesson=mine"), "intermediate"), "lesson-next-step")
    assert app.session_state["level"] == "expert" and RAISED in words_on(app) and "“Intermediate”" in words_on(app)
    press(app, "lesson-back")
    assert app.session_state["level"] == "intermediate" and "shown at the level" not in words_on(app)


def test_a_lesson_begins_at_its_own_level_whatever_was_chosen_before(mine):
    (mine / "mine.md").write_text(EASY)
    app = choose_level(open_link("lessons", ""), "expert")
    named(app, "begin-mine").click().run()
    assert app.session_state["level"] == "beginner"
    press(app, "lesson-next-step")
    assert app.session_state["level"] == "beginner", "nobody has chosen another one since"


def test_the_level_of_a_step_is_not_taken_for_a_choice(mine):
    app = press(open_link("type", "lesson=mine"), "lesson-next-step")
    assert app.session_state["level"] == "expert" and RAISED not in words_on(app)
    assert press(app, "lesson-back").session_state["level"] == "beginner"


def start_from_the_list(level="expert", text="A dog ran"):
    app = open_link("lessons", f"level={level}&text={text}&target=")
    app.session_state["text"] = text
    app.session_state["text-last"] = text
    named(app, "begin-mine").click().run()
    app._page_hash = calc_hash("type")
    return app


def test_the_text_and_the_level_from_before_a_lesson_come_back_when_it_is_closed(mine):
    (mine / "mine.md").write_text(EASY)
    app = start_from_the_list()
    assert app.session_state["text"] == "The cat sat" and app.session_state["level"] == "beginner"
    assert "Your level, “Expert”, comes back" in words_on(app)
    press(app, "lesson-close")
    assert app.session_state["text"] == "A dog ran" and app.session_state["level"] == "expert"
    assert [toast.value for toast in app.toast] == ["Your text and your level, “Expert”, are back, as before the lesson."]


def test_what_a_visitor_chooses_during_a_lesson_stays_after_it(mine):
    (mine / "mine.md").write_text(EASY)
    app = choose_level(start_from_the_list(), "intermediate")
    app.text_input(key="text").set_value("A cow").run()
    press(app, "lesson-close")
    assert app.session_state["text"] == "A cow" and app.session_state["level"] == "intermediate" and not app.toast


def test_the_end_of_a_lesson_brings_back_the_text_too(mine):
    (mine / "mine.md").write_text(EASY)
    app = press(press(press(start_from_the_list(), "lesson-next-step"), "lesson-next-step"), "lesson-next-step")
    assert app.session_state["lesson"] == "" and app.session_state["level"] == "expert"
    assert app.session_state["text"] == "A dog ran"


def test_lessons_of_the_readers_level_come_first(mine):
    for level, first in (("intermediate", "Intermediate"), ("beginner", "Beginner")):
        headings = [block.value for block in open_link("lessons", f"level={level}").markdown if block.value.startswith("## ")]
        assert headings[0] == f"## Lessons at your level, “{first}”"
    assert "## Papers" in headings
