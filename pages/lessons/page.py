"""Page "Lessons": guided lessons that run beside the other pages, courses of them, and pages for teachers."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from models.errors import FileError
from pages.lessons import courses as courses_view
from pages.lessons import state as page_state
from pages.lessons import wordlist
from ui import document, shell, state
from ui.choices.widgets import one_of, tabs
from ui.escaping import plain
from ui.lessons import course, files
from ui.lessons.files import Lesson
from ui.lexicon import files as lexicon
from ui.lexicon.follow import LISTED
from ui.words import say, words

HERE = Path(__file__).parent
ALL = "all"


def draw() -> None:
    part = tabs(state.LEARN, "the list")
    own = sorted({*files.languages(), *lexicon.languages()} - {"", lexicon.FIRST})
    language = ""
    if own:
        language = one_of(state.LESSON_LANGUAGE, ["en", *own], "the language")
        state.keep(state.LESSON_LANGUAGE, language, "en")
        language = "" if language == "en" else language
    if part == LISTED:
        wordlist.draw(language)
    else:
        list_lessons(language)


def list_lessons(language: str) -> None:
    lessons, wrong = read_lessons()
    for error in wrong:
        st.error(plain(str(error)), icon=":material/report:")
    say(HERE, "how")
    document.keep_lessons(course.saved_progress(), lambda: course.bring_back(state.selection(document.KEPT).kept))
    try:
        courses = files.courses()
    except FileError as error:
        courses = []
        st.error(plain(str(error)), icon=":material/report:")
    begun, level = page_state.LESSON_COURSE.get(), state.level()
    listed_courses = sorted(
        courses, key=lambda listed: (listed.name != begun, courses_view.level_of(listed, lessons) != level, listed.order)
    )
    for each in listed_courses:
        courses_view.draw(each, lessons, language, each is listed_courses[0])
    taught = {name for each in courses for name in each.lessons}
    here = in_language(lessons, language)
    for heading, listed in sections(here, level).items():
        st.markdown(f"## {plain(heading)}")
        for lesson in listed:
            line(lesson, lesson.name.rpartition("/")[2] in taught)


def sections(lessons: list[Lesson], level: str) -> dict[str, list[Lesson]]:
    """Return the lessons by their headings: those at the reader's level first. A lesson of a group stands below its group."""

    def place(lesson: Lesson) -> tuple[bool, int, str, int, str]:
        return lesson.level != level, state.LEVELS.index(lesson.level), lesson.group, lesson.order, lesson.name

    listed: dict[str, list[Lesson]] = {}
    for lesson in sorted(lessons, key=place):
        heading = "lessons at own level" if lesson.level == level else "lessons at another level"
        listed.setdefault(lesson.group or words(HERE, heading, level=lesson.level.capitalize()), []).append(lesson)
    return listed


def in_language(lessons: dict[str, Lesson], language: str) -> list[Lesson]:
    """Return each lesson in a language ("" for English); a lesson without a translation stays in English."""
    first = [lesson for name, lesson in lessons.items() if "/" not in name and f"{language}/{name}" not in lessons]
    return first + [lesson for name, lesson in lessons.items() if language and name.startswith(f"{language}/")]


def read_lessons() -> tuple[dict[str, Lesson], list[FileError]]:
    """Return the lessons that can be read, by their names, and the errors of the others."""
    lessons, wrong = {}, []
    for name in files.files():
        try:
            if lesson := files.find(name):
                lessons[name] = lesson
        except FileError as error:
            wrong.append(error)
    return lessons, wrong


def line(lesson: Lesson, taught: bool) -> None:
    """Draw a lesson: its subject, its length, and a button that begins or continues it. taught: whether it is part of a course,
    which has its teacher's page."""
    at = course.last_step(lesson)
    with st.container(border=True, key=f"lesson-{lesson.name.replace('/', '-')}", gap="xsmall"):
        left, right = st.columns([5, 2], vertical_alignment="center")
        model = "" if lesson.model == "writer" else f" · model “{plain(lesson.model)}”"
        left.markdown(
            f"**{plain(lesson.title)}** &nbsp; :small[:gray[{lesson.minutes} minutes · {lesson.level} · "
            f"{len(lesson.steps)} steps{model}]]  \n{plain(lesson.about)}"
        )
        finished = course.is_finished(lesson)
        go_on = f"Continue with step {at}" if at and at > 1 else ""
        label = go_on or ("Again" if finished else "Start")
        right.button(
            label,
            key=f"begin-{lesson.name}",
            width="stretch",
            icon=":material/check:" if finished else ":material/play_arrow:",
            on_click=course.begin,
            args=(lesson, at or 1),
            help=courses_view.help_for(lesson),
        )
        if lesson.teacher and not taught:
            with st.expander(words(HERE, "for the teacher")):
                st.markdown(lesson.teacher)


shell.still(HERE, draw)
