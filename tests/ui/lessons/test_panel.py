"""The panel of a lesson beside the pages: it leads, asks, and judges by the model that is in use."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from tests.pages.opening import open_link, words_on
from ui import document
from ui.lessons import course
from ui.memory import loaded

HEADER = "---\ntitle: Mine\nminutes: 5\nlevel: beginner\nmodel: writer\n---\n"
MINE = (
    HEADER
    + """## First

```yaml
page: type
text: The cat sat
question:
  ask: How many?
  answer: number of tokens
  expect: 3
  hint: Count them.
```

Read.

## Second

```yaml
page: attention
level: expert
view: Heatmap
layer: 2
head: 3
question:
  ask: Does it look ahead?
  answer: looks ahead
  expect: false
  hint: Look above the diagonal.
  show: {view: Query-key}
```

Look.
"""
)


@pytest.fixture(autouse=True)
def mine(tmp_path, monkeypatch):
    (tmp_path / "mine.md").write_text(MINE)
    monkeypatch.setenv("HEADLIGHT_LESSONS", str(tmp_path))
    return tmp_path


def press(app, key):
    next(button for button in app.button if button.key == key).click().run()
    return app


def test_a_link_with_a_lesson_alone_opens_its_step_with_all_that_it_sets():
    app = open_link("type", "lesson=mine&step=2")
    assert "# Attention" in words_on(app) and "Second" in words_on(app)
    chosen = {name: app.session_state[name] for name in ("text", "level", "view", "layer", "head")}
    assert chosen == {"text": "The cat sat", "level": "expert", "view": "Heatmap", "layer": 2, "head": 3}


def test_a_link_with_more_opens_what_it_says():
    app = open_link("type", "lesson=mine&step=2&text=A+dog")
    assert "# Type" in words_on(app) and app.session_state["text"] == "A dog"
    assert "This is not the page of the step" in words_on(app)
    press(app, "lesson-again")
    assert "# Attention" in words_on(app) and app.session_state["text"] == "The cat sat"


def test_another_text_on_the_step_s_own_page_is_no_leaving_and_can_be_taken_back():
    app = open_link("type", "lesson=mine&step=1&text=A+dog")
    assert "This is not the page of the step" not in words_on(app)
    press(app, "lesson-again")
    assert app.session_state["text"] == "The cat sat" and not [button for button in app.button if button.key == "lesson-again"]


def test_a_wrong_number_gets_a_hint_and_a_right_one_the_next_step():
    app = open_link("type", "lesson=mine")
    number = app.number_input(key="lesson-answer-mine-1")
    number.set_value(7).run()
    assert [element.value for element in app.warning] == ["Not quite\\. Count them\\."]
    app.number_input(key="lesson-answer-mine-1").set_value(3).run()
    assert app.success[0].value.startswith("Right\\.") and not app.warning
    press(app, "lesson-next-step")
    assert "Second" in words_on(app) and app.session_state["view"] == "Heatmap"
    press(app, "lesson-back")
    assert app.number_input(key="lesson-answer-mine-1").value == 3, "what was answered is kept"


def test_who_answers_wrongly_with_another_text_on_the_page_is_told_that_the_question_is_about_the_step_s():
    app = open_link("type", "lesson=mine&step=1&text=A+dog+ran+away")
    app.number_input(key="lesson-answer-mine-1").set_value(4).run()
    assert [element.value for element in app.warning] == [
        "Not quite\\. Count them\\. But the text of this step is no longer on the page\\."
    ]
    press(app, "lesson-again")
    assert [element.value for element in app.warning] == ["Not quite\\. Count them\\."]


def test_another_answer_so_far_can_be_taken_back_as_another_text_can():
    app = open_link("type", "lesson=kinds&step=4&model=translator&text=My+brother+has+a+red+car.&target=Mon+fr%C3%A8re")
    assert press(app, "lesson-again").session_state["target"] == "Mon frère a une"
    assert not [button for button in app.button if button.key == "lesson-again"]


def test_show_me_sets_what_shows_it_and_the_answer_stays_and_nothing_can_be_undone_there():
    app = open_link("type", "lesson=mine&step=2")
    app.radio(key="lesson-answer-mine-2").set_value("Yes").run()
    app.session_state["changes-before"] = ("h2.3",)  # of what was changed on page "Change" before
    press(app, "lesson-show")
    assert app.session_state["view"] == "Query-key" and app.radio(key="lesson-answer-mine-2").value == "Yes"
    assert "changes-before" not in app.session_state


PAPER = """published:
  source: Somebody 2020, table 1
  numbers:
    - {of: tokens, number: about 4, unit: pieces}
    - {of: pieces of a cat, number: 2.5 ± 0.1, answer: tokens of a word, given: {word: " cat"}}
    - {of: a weight, number: 1, answer: weight, given: {layer: 99, head: 0, from: cat, to: cat}}
  differ: Count **again**.
```

Read."""


def test_a_published_number_stands_beside_what_the_model_in_use_gives_and_the_question_is_not_told_before_it_is_answered(mine):
    (mine / "mine.md").write_text(MINE.replace("```\n\nRead.", PAPER, 1))
    app = open_link("type", "lesson=mine")
    rows = ("| tokens | about 4 pieces | your answer first |", "| pieces of a cat | 2\\.5 ± 0\\.1 | 1 |", "| a weight | 1 | – |")
    assert all(row in words_on(app) for row in rows) and "Count **again**." not in words_on(app)
    assert "Published: Somebody 2020, table 1." in words_on(app) and "There is no L99 H0 in this model" in words_on(app)
    app.number_input(key="lesson-answer-mine-1").set_value(7).run()
    assert rows[0] in words_on(app), "nor after a wrong answer"
    app.number_input(key="lesson-answer-mine-1").set_value(3).run()
    assert "| tokens | about 4 pieces | 3 pieces |" in words_on(app) and "Count **again**." in words_on(app)


def test_another_model_answers_otherwise_and_that_is_said_instead_of_wrong():
    app = open_link("attention", "lesson=mine&step=2&model=filler&text=The+cat+sat")
    app.radio(key="lesson-answer-mine-2").set_value("No").run()
    assert not app.warning and "answer of “writer”" in app.info[0].value and "“filler” it is “Yes”" in app.info[0].value
    app.radio(key="lesson-answer-mine-2").set_value("Yes").run()
    assert app.success


def test_a_model_without_an_answer_says_why(mine):
    (mine / "mine.md").write_text(
        MINE.replace("answer: looks ahead", "answer: weight\n  given: {layer: 99, head: 1, from: cat, to: sat}")
    )
    app = open_link("type", "lesson=mine&step=2")
    assert any("There is no L99 H1 in this model" in element.value for element in app.info)


def test_a_lesson_that_was_left_is_gone_on_with_from_its_page():
    app = press(open_link("type", "lesson=mine"), "lesson-next-step")
    press(app, "lesson-close")
    assert "Second" not in words_on(app) and app.session_state["lesson"] == ""
    app._page_hash = calc_hash("lessons")
    app.run()
    button = next(button for button in app.button if button.key == "begin-mine")
    assert button.label == "Continue with step 2"
    button.click().run()
    assert "Second" in words_on(app) and "# Attention" in words_on(app)
    press(press(app, "lesson-next-step"), "lesson-next-step")  # Finish, with questions unanswered
    assert "# Lessons" in words_on(app) and app.session_state["lesson"] == ""
    assert next(button for button in app.button if button.key == "begin-mine").label == "Again"


@pytest.mark.parametrize(
    "link, words",
    [("lesson=nothing", "lesson “nothing”"), ("lesson=mine&step=9", "step “9”"), ("lesson=mine&step=x", "step “x”")],
)
def test_a_lesson_or_a_step_that_does_not_exist_is_told_of(link, words):
    app = open_link("type", link)
    assert len(app.warned) == 1 and words in app.warned[0]


def test_a_file_that_is_wrong_is_told_with_its_line_and_the_others_stand(mine):
    (mine / "mine.md").write_text(MINE.replace("page: type", "page: typ"))
    app = open_link("type", "")
    app._page_hash = calc_hash("lessons")
    app.run()
    assert [element.value.split("\\:")[0] for element in app.error] == ["mine\\.md, line 10"]
    assert "Words and tokens" in words_on(app) and not app.exception
    app = open_link("type", "lesson=mine")
    assert len(app.warned) == 1 and "line 10" in app.warned[0] and "# Type" in words_on(app)


def test_a_lesson_is_listed_in_the_language_that_is_chosen_and_the_others_as_they_are(mine):
    (mine / "fr").mkdir()
    (mine / "fr" / "mine.md").write_text(MINE.replace("title: Mine", "title: La mienne").replace("Read.", "Lisez."))
    assert "La mienne" not in words_on(open_link("lessons", ""))
    listed = words_on(open_link("lessons", "language=fr"))
    assert "La mienne" in listed and "**Mine**" not in listed and "Words and tokens" in listed
    assert "Lisez." in words_on(open_link("type", "lesson=fr/mine"))
    (mine / "fr" / "mine.md").write_text(MINE.replace("text: The cat sat", "text: Le chat"))
    app = open_link("lessons", "language=fr", finished=False)
    assert len(app.error) == 1 and "**Mine**" in words_on(app), "said with its line, and shown as it is"


@pytest.mark.parametrize(("level", "first"), [("beginner", "start"), ("expert", "<|start|>")])
def test_an_answer_is_offered_by_the_name_that_the_page_has_for_it(mine, level, first):
    question = "\n".join(
        ["answer: most attended token", "  given: {layer: 2, head: 1, from: sat}", "  expect: cat", "  hint: Look."]
    )
    (mine / "mine.md").write_text(
        HEADER.replace("beginner", level)
        + "## First\n\n```yaml\npage: attention\ntext: The cat sat\nquestion:\n  ask: Where?\n  "
        + question
        + "\n```\n\nRead.\n"
    )
    app = open_link("attention", f"lesson=mine&level={level}")
    assert first in [option.replace("\\", "") for option in app.radio(key="lesson-answer-mine-1").options]


def test_a_step_that_sets_a_model_has_it_on_the_way_there_and_back(mine):
    (mine / "mine.md").write_text(MINE.replace("level: expert", "level: expert\nmodel: filler"))
    loaded.model("filler")  # so that nothing is waited for
    app = press(open_link("type", "lesson=mine"), "lesson-next-step").run()
    app.radio(key="lesson-answer-mine-2").set_value("Yes").run()
    assert app.session_state["model"] == "filler" and app.success
    press(app, "lesson-back").run()
    assert app.session_state["model"] == "writer"
    assert open_link("type", "lesson=mine&step=2").run().session_state["model"] == "filler"


GROWING = """## Cold

```yaml
page: generate
text: The cat sat
generate-temperature: 0.3
generate-seed: 4
```

Draw.

## Hot

```yaml
generate-temperature: 2.0
```

Draw again.
"""


def test_a_step_on_page_generate_begins_with_its_own_numbers_and_nothing_said(mine):
    (mine / "mine.md").write_text(HEADER + GROWING)
    app = open_link("type", "lesson=mine")
    app._page_hash = calc_hash("generate")  # where the step has gone
    press(app, "generate-next")
    assert app.slider(key="generate-temperature").value == 0.3 and app.number_input(key="generate-seed").value == 4
    assert app.session_state["generated"].steps
    press(app, "lesson-next-step")
    assert app.slider(key="generate-temperature").value == 2.0 and app.number_input(key="generate-seed").value == 4
    assert not app.session_state["generated"].steps, "what was said in the step before is gone"


def test_a_step_with_another_model_keeps_its_second_text_and_its_head(mine):
    lesson = MINE.replace("model: writer", "model: translator").replace(
        "text: The cat sat", "text: The cat is black.\ntarget: Le"
    )
    (mine / "mine.md").write_text(lesson.replace("layer: 2\nhead: 3", "layer: 1\nhead: 2"))
    loaded.model("translator")  # so that nothing is waited for
    app = open_link("type", "lesson=mine&step=2")
    assert {name: app.session_state[name] for name in ("model", "text", "target", "layer", "head")} == {
        "model": "translator",
        "text": "The cat is black.",
        "target": "Le",
        "layer": 1,
        "head": 2,
    }


def test_a_link_with_a_lesson_alone_leads_to_the_page_of_its_step_with_all_that_it_sets(mine):
    opened = "./attention?lesson=mine&step=2&level=expert&text=The+cat+sat&view=Heatmap&layer=L2&head=H3"
    assert course.address({"lesson": "mine", "step": "2"}) == opened
    app = open_link("attention", opened.partition("?")[2])
    assert "Second" in words_on(app) and app.session_state["head"] == 3 and not app.warned
    assert app.session_state["lesson-places"] == {"mine": 2}, "it can be gone on with"
    for query in ("", "lesson=nothing", "lesson=mine&step=9", "lesson=mine&step=x", "lesson=mine&text=A"):
        assert course.address(dict(parse_qsl(query))) == ""
    (mine / "mine.md").write_text("no lesson")
    assert course.address({"lesson": "mine"}) == "", "the page says what is wrong with it"


MADE = (
    HEADER
    + """## First

```yaml
page: build
build-layers: 3
build-positions: alibi
build-tied: false
```

Look.

## Second

```yaml
page: train
level: expert
train-layers: 3
train-rate: 1
train-optimizer: adamw
```

Look.

## Third

```yaml
page: build
build-layers: 5
```

Look.
"""
)


def test_what_a_step_sets_of_pages_build_and_train_is_set_by_its_button_too_and_gone_with_the_next(mine):
    (mine / "mine.md").write_text(MADE)
    app = open_link("type", "lesson=mine")
    built = ("build-layers", "build-positions", "build-tied")
    assert [app.session_state[name] for name in built] == [3, "alibi", False]
    press(app, "lesson-next-step")
    assert "# Train" in words_on(app)
    assert (app.number_input(key="train-layers").value, app.number_input(key="train-rate").value) == (3, 1.0)
    assert app.selectbox(key="train-optimizer").value == "adamw"
    press(app, "lesson-next-step")
    assert app.number_input(key="build-layers").value == 5 and app.selectbox(key="build-positions").value != "alibi"
    assert not app.warning and not app.error and not app.exception


COURSE = "---\ntitle: Two of them\nminutes: 12\nlessons: [mine, tokens]\n---\n"


def named(app, key):
    return next(button for button in app.button if button.key == key)


def on_the_list(app):
    app._page_hash = calc_hash("lessons")
    return app.run()


def test_a_course_marks_what_was_finished_and_says_what_comes_next_also_when_that_is_begun_again(mine):
    (mine / "courses").mkdir()
    (mine / "courses" / "two.md").write_text(COURSE)
    app = open_link("type", "lesson=mine&step=2")
    app._page_hash = calc_hash("attention")
    press(press(app, "lesson-next-step"), "lesson-next-step")  # Finish, with questions unanswered
    assert "12 minutes · 2 lessons · 1 finished" in words_on(app)
    done, ahead = named(app, "course-two-mine"), named(app, "course-two-tokens")
    assert (done.label, done.icon) == ("1. Mine", ":material/check:") and ahead.label == "Next: 2. Words and tokens"
    done.click().run()
    app = on_the_list(press(app, "lesson-next-step"))
    assert named(app, "course-two-mine").icon == ":material/check:" and named(app, "begin-mine").label == "Continue with step 2"


def test_of_two_courses_with_the_same_lessons_the_one_that_was_begun_goes_on_and_stands_first(mine):
    (mine / "courses").mkdir()
    for name in ("one", "two"):
        (mine / "courses" / f"{name}.md").write_text(COURSE)
    app = open_link("lessons", "")
    named(app, "course-two-mine").click().run()
    for _ in range(3):  # the last two: Finish, with questions unanswered
        app = press(app, "lesson-next-step")
    app = on_the_list(app)
    cards = [button.key for button in app.button if (button.key or "").startswith("course-") and button.key.endswith("-tokens")]
    labels = [named(app, key).label for key in ("course-two-tokens", "course-one-tokens")]
    assert cards.index("course-two-tokens") == 0 and labels == ["Next: 2. Words and tokens", "2. Words and tokens"]


def test_what_a_browser_has_kept_is_taken_as_far_as_it_can_be_true(monkeypatch):
    asked = {"places": {"mine": 2, "nothing": 3, "tokens": "4", "heads": -1}, "finished": ["tokens", "nothing", 7, "tokens"]}
    said_so = [asked, None, "<b>", {"places": []}, {"places": {}, "finished": {}}]
    monkeypatch.setattr(document, "keep_lessons", lambda *_: [course.bring_back(progress) for progress in said_so])
    app = open_link("lessons", "")
    assert app.session_state["lesson-places"] == {"mine": 2} and app.session_state["lesson-finished"] == ("tokens",)
    assert named(app, "begin-mine").label == "Continue with step 2" and named(app, "begin-tokens").label == "Again"
    assert named(app, "course-forty-five-minutes-prediction").label.startswith("Next: 2.")


@pytest.mark.parametrize("page", ["lessons?learn=Lessons", "lessons?learn=Words to know", "room", "type", "build"])
def test_a_step_stands_beside_every_page_also_the_list_of_lessons(page):
    name, _, more = page.partition("?")
    app = open_link(name, f"lesson=mine&step=2&level=beginner&{more}")
    assert not app.exception and "Look." in words_on(app)
    assert app.button(key="lesson-next-step").label == "Finish", "the panel is drawn to its end"
    app.button(key="lesson-fold").click().run()
    assert not app.exception and app.button(key="lesson-fold").label == "Show the lesson"


@pytest.mark.parametrize("loads", [True, False])
def test_a_question_that_the_model_before_cannot_be_asked_waits_while_the_step_s_own_is_loaded(loads, caplog):
    """The filler reads no second text, which the fourth step of this lesson sets for the translator."""

    def script() -> None:
        import streamlit as st

        from ui import state
        from ui.lessons import files, panel

        lesson = files.find("kinds")
        state.JOB.set(object() if st.session_state["loads"] else None)
        panel.ask(lesson, 4, lesson.steps[3].question, "filler")

    loaded.model("filler")
    app = AppTest.from_function(script, default_timeout=60)
    app.session_state["loads"] = loads
    app.run(timeout=60)
    assert not app.exception
    assert [element.value for element in app.caption] == ["The model of this step is being prepared …"] * loads
    assert ["could not be computed" in element.value for element in app.info] == [True] * (not loads)
    assert ("could not be computed" in caplog.text) != loads


def test_a_step_brings_its_second_text(mine):
    two_texts = "page: change\nexperiment: Two texts\ntext: The boy was tired\nother-text: The girl was tired"
    (mine / "mine.md").write_text(
        f"{HEADER.replace('beginner', 'intermediate')}## First\n\n```yaml\npage: type\ntext: The cat\n```\n\nRead.\n\n"
        f"## Second\n\n```yaml\n{two_texts}\n```\n\nCompare.\n"
    )
    app = press(open_link("type", "lesson=mine"), "lesson-next-step")
    assert (app.text_input(key="text").value, app.text_input(key="other-text").value) == (
        "The boy was tired",
        "The girl was tired",
    )
    app.text_input(key="other-text").set_value("The dog was tired").run()
    press(press(app, "lesson-back"), "lesson-next-step")
    assert app.text_input(key="other-text").value == "The girl was tired", "not what was typed before"
