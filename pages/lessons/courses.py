"""A course on page "Lessons": its button, its lessons in order, and everything for its teacher."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from pages.lessons import state as page_state
from ui import state
from ui.escaping import plain
from ui.lessons import course
from ui.lessons.files import Course, Lesson
from ui.words import words

HERE = Path(__file__).parent


def level_of(each: Course, lessons: Mapping[str, Lesson]) -> str:
    """Return the level of most lessons of a course; "" for a course without any."""
    levels = Counter(lessons[name].level for name in each.lessons if name in lessons)
    return levels.most_common(1)[0][0] if levels else ""


def levels_of(each: Course, lessons: Mapping[str, Lesson]) -> str:
    """Return the levels of a course's lessons in words, as "beginner and intermediate"."""
    levels = {lessons[name].level for name in each.lessons if name in lessons}
    return " and ".join(sorted(levels, key=state.LEVELS.index))


def help_for(lesson: Lesson) -> str:
    """Return the help of a button that begins a lesson; it says so if the lesson changes the level."""
    text = f"Begin with “{plain(lesson.title)}”"
    if lesson.level == state.level():
        return text
    return f"{text}. The level becomes “{lesson.level.capitalize()}”, and yours comes back at the end."


def draw(each: Course, lessons: Mapping[str, Lesson], language: str, first: bool) -> None:
    """Draw a course as a card. first: whether it is the course that the visitor should begin or continue."""
    named = [lessons.get(f"{language}/{name}" if language else name, lessons.get(name)) for name in each.lessons]
    numbered = [(number, lesson) for number, lesson in enumerate(named, 1) if lesson]
    ahead = [(number, lesson) for number, lesson in numbered if not course.is_finished(lesson)]
    elsewhere = page_state.LESSON_COURSE.get() not in ("", each.name)  # another course goes on, which may have the same lessons
    facts = f"{each.minutes} minutes · {len(each.lessons)} lessons"
    if done := len(numbered) - len(ahead):
        facts += f" · {done} finished" if ahead else " · all finished"
    facts = " · ".join(filter(None, [facts, levels_of(each, lessons)]))
    with st.container(border=True, key=f"course-{each.name}", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", key=f"course-head-{each.name}"):
            st.markdown(f"### {plain(each.title)} &nbsp; :small[:gray[{facts}]]", width="stretch")
            if numbered:
                start_button(each, (ahead or numbered)[0][1], "Again" if not ahead else "Go on" if done else "Start", first)
        with st.container(horizontal=True, gap="small", key=f"strung-{each.name}"):
            for number, lesson in numbered:
                lesson_button(each, number, lesson, bool(done) and not elsewhere and (number, lesson) in ahead[:1])
        with st.expander(words(HERE, "for the teacher")):
            teachers_page(each, numbered, language)


def start_button(each: Course, lesson: Lesson, label: str, first: bool) -> None:
    """Draw the button that begins or continues a course, at the first unfinished lesson."""
    st.button(
        label,
        key=f"start-{each.name}",
        type="primary" if first else "secondary",
        icon=":material/play_arrow:",
        on_click=begin_of,
        args=(each, lesson),
        help=help_for(lesson),
    )


def lesson_button(each: Course, number: int, lesson: Lesson, comes_next: bool) -> None:
    """Draw the button of a lesson in a course. comes_next: whether it is the first unfinished lesson of a course in progress."""
    title, finished = f"{number}. {plain(lesson.title)}", course.is_finished(lesson)
    st.button(
        f"Next: {title}" if comes_next else title,
        key=f"course-{each.name}-{lesson.name.rpartition('/')[2]}",
        icon=":material/check:" if finished else None,
        help="Finished. Press it to read it again." if finished else help_for(lesson),
        on_click=begin_of,
        args=(each, lesson),
    )


def begin_of(each: Course, lesson: Lesson) -> None:
    """Begin or continue a lesson of a course."""
    page_state.LESSON_COURSE.set(each.name)
    course.begin(lesson, course.last_step(lesson) or 1)


def teachers_page(each: Course, numbered: list[tuple[int, Lesson]], language: str) -> None:
    """Place the teacher's page of a course: words on the course, a handout, and each lesson’s notes with the answers."""
    address = f"./handouts/{language}{'/' * bool(language)}{each.name}"
    st.link_button(words(HERE, "handout"), address, icon=":material/print:")
    if each.teacher:
        st.markdown(each.teacher)
    for number, lesson in numbered:
        st.markdown(f"#### {number}. {plain(lesson.title)}")
        if lesson.teacher:
            st.markdown(lesson.teacher)
        asked = [(step.question.ask, in_words(step.question.expect)) for step in lesson.steps if step.question]
        if asked:
            lines = "\n".join(f"- {plain(ask)} **{plain(answer)}**" for ask, answer in asked)
            st.markdown(f"{words(HERE, 'questions')}\n\n{lines}")


def in_words(expected: object) -> str:
    """Return an answer in words for a teacher."""
    return ("yes" if expected else "no") if isinstance(expected, bool) else "" if expected is None else str(expected)
