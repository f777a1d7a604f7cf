"""Page "Lessons": guided lessons that run beside the other pages, courses of them, and pages for teachers."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from models.errors import FileError
from pages.lessons import state as page_state
from pages.lessons import wordlist
from ui import document, shell, state
from ui.choices.widgets import one_of, tabs
from ui.lessons import course, files
from ui.lessons.files import Course, Lesson
from ui.lexicon import files as lexicon
from ui.lexicon.follow import LISTED
from ui.text import plain
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
        for each in sorted(files.courses(), key=lambda listed: listed.name != page_state.LESSON_COURSE.get()):
            course_card(each, lessons, language)
    except FileError as error:
        st.error(plain(str(error)), icon=":material/report:")
    st.markdown(f"## {words(HERE, 'all lessons')}")
    here = in_language(lessons, language)
    here.sort(key=lambda lesson: (lesson.order, lesson.name))
    ahead = next((lesson for lesson in here if not course.is_finished(lesson)), None)
    for group in sorted({lesson.group for lesson in here}):
        if group:
            st.markdown(f"## {plain(group)}")
        for lesson in here:
            if lesson.group == group:
                line(lesson, lesson is ahead)


def in_language(lessons: dict[str, Lesson], language: str) -> list[Lesson]:
    """Return each lesson in a language ("" for English), and as it is where it has no translation."""
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


def course_card(each: Course, lessons: dict[str, Lesson], language: str) -> None:
    """Draw a course as a card: its lessons in order, with a mark on finished ones, and its teacher's page."""
    named = [lessons.get(f"{language}/{name}" if language else name, lessons.get(name)) for name in each.lessons]
    numbered = [(number, lesson) for number, lesson in enumerate(named, 1) if lesson]
    ahead = [(number, lesson) for number, lesson in numbered if not course.is_finished(lesson)]
    elsewhere = page_state.LESSON_COURSE.get() not in ("", each.name)  # another course goes on, which may have the same lessons
    facts = f"{each.minutes} minutes · {len(each.lessons)} lessons"
    if done := len(numbered) - len(ahead):
        facts += f" · {done} finished" if ahead else " · all finished"
    with st.container(border=True, key=f"course-{each.name}"):
        st.markdown(f"### {plain(each.title)}\n\n:small[:gray[{facts}]]")
        with st.container(horizontal=True, gap="small", key=f"strung-{each.name}"):
            for number, lesson in numbered:
                lesson_button(each, number, lesson, bool(done) and not elsewhere and (number, lesson) in ahead[:1])
        if each.teacher:
            with st.expander(words(HERE, "for the teacher")):
                st.markdown(each.teacher)


def lesson_button(each: Course, number: int, lesson: Lesson, comes_next: bool) -> None:
    """Draw the button of a lesson in a course. comes_next: whether it is the first unfinished lesson of a course in progress."""
    title, finished = f"{number}. {plain(lesson.title)}", course.is_finished(lesson)
    st.button(
        f"Next: {title}" if comes_next else title, key=f"course-{each.name}-{lesson.name.rpartition('/')[2]}",
        type="secondary" if comes_next else "tertiary", icon=":material/check:" if finished else None,
        help="Finished. Press it to read it again." if finished else None,
        on_click=begin_of, args=(each, lesson),
    )  # fmt: skip


def begin_of(each: Course, lesson: Lesson) -> None:
    """Begin a lesson of a course, or go on with it."""
    page_state.LESSON_COURSE.set(each.name)
    course.begin(lesson, course.last_step(lesson) or 1)


def line(lesson: Lesson, ahead: bool) -> None:
    """Draw a lesson: its subject, its length, and a button that begins or continues it. ahead: whether it is the first unfinished
    lesson."""
    at = course.last_step(lesson)
    with st.container(border=True, key=f"lesson-{lesson.name.replace('/', '-')}"):
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
            label, key=f"begin-{lesson.name}", width="stretch", type="primary" if ahead else "secondary",
            icon=":material/check:" if finished else ":material/play_arrow:", on_click=course.begin, args=(lesson, at or 1),
            help=f"Begin the lesson “{plain(lesson.title)}”",
        )  # fmt: skip
        if lesson.teacher:
            with st.expander(words(HERE, "for the teacher")):
                st.markdown(lesson.teacher)


shell.still(HERE, draw)
