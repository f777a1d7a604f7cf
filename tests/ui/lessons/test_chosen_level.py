"""The level that a visitor chooses during a lesson, and the end of a lesson with unanswered questions."""

from __future__ import annotations

import pytest

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
