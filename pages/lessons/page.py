"""Page "Lessons": guided lessons that run beside the other pages, courses of them, and what their teachers need."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from models.errors import FileError
from pages.lessons import wordlist
from ui import shell, state
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
    lessons, wrong = readable()
    for error in wrong:
        st.error(plain(str(error)), icon=":material/report:")
    say(HERE, "how")
    try:
        for each in files.courses():
            course_card(each, lessons, language)
    except FileError as error:
        st.error(plain(str(error)), icon=":material/report:")
    st.markdown(f"## {words(HERE, 'all lessons')}")
    here = in_language(lessons, language)
    here.sort(key=lambda lesson: (lesson.order, lesson.name))
    ahead = next((lesson for lesson in here if course.reached(lesson) != 0), None)
    for group in sorted({lesson.group for lesson in here}):
        if group:
            st.markdown(f"## {plain(group)}")
        for lesson in here:
            if lesson.group == group:
                line(lesson, lesson is ahead)


def in_language(lessons: dict[str, Lesson], language: str) -> list[Lesson]:
    """Each lesson in that language ("" for the first one), and as it is where it has no translation."""
    first = [lesson for name, lesson in lessons.items() if "/" not in name and f"{language}/{name}" not in lessons]
    return first + [lesson for name, lesson in lessons.items() if language and name.startswith(f"{language}/")]


def readable() -> tuple[dict[str, Lesson], list[FileError]]:
    """The lessons that can be read, by their names, and what is wrong with the others."""
    lessons, wrong = {}, []
    for name in files.files():
        try:
            if lesson := files.find(name):
                lessons[name] = lesson
        except FileError as error:
            wrong.append(error)
    return lessons, wrong


def course_card(each: Course, lessons: dict[str, Lesson], language: str) -> None:
    """A course in one card: its lessons, one after the other, and its teacher's page."""
    with st.container(border=True, key=f"course-{each.name}"):
        st.markdown(f"### {plain(each.title)}\n\n:small[:gray[{each.minutes} minutes · {len(each.lessons)} lessons]]")
        with st.container(horizontal=True, gap="small"):
            for number, name in enumerate(each.lessons, 1):
                lesson = lessons.get(f"{language}/{name}" if language else name, lessons.get(name))
                if lesson:
                    st.button(
                        f"{number}. {plain(lesson.title)}", key=f"course-{each.name}-{name}", type="tertiary",
                        on_click=course.begin, args=(lesson, course.reached(lesson) or 1),
                    )  # fmt: skip
        if each.teacher:
            with st.expander(words(HERE, "for the teacher")):
                st.markdown(each.teacher)


def line(lesson: Lesson, ahead: bool) -> None:
    """One lesson: what it is about, how long it takes, and a button that begins it or goes on with it. ahead: whether it is the
    first one that is not finished."""
    at = course.reached(lesson)
    with st.container(border=True, key=f"lesson-{lesson.name.replace('/', '-')}"):
        left, right = st.columns([5, 2], vertical_alignment="center")
        model = "" if lesson.model == "writer" else f" · model “{plain(lesson.model)}”"
        left.markdown(
            f"**{plain(lesson.title)}** &nbsp; :small[:gray[{lesson.minutes} minutes · {lesson.level} · "
            f"{len(lesson.steps)} steps{model}]]  \n{plain(lesson.about)}"
        )
        label = "Again" if at == 0 else "Start" if at in (None, 1) else f"Continue with step {at}"
        right.button(
            label, key=f"begin-{lesson.name}", width="stretch", type="primary" if ahead else "secondary",
            icon=":material/check:" if at == 0 else ":material/play_arrow:", on_click=course.begin, args=(lesson, at or 1),
            help=f"Begin the lesson “{plain(lesson.title)}”",
        )  # fmt: skip
        if lesson.teacher:
            with st.expander(words(HERE, "for the teacher")):
                st.markdown(lesson.teacher)


shell.still(HERE, draw)
