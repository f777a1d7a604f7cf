"""The handout of a course: one page to print, with its lessons, room for notes, and the terms to know."""

from __future__ import annotations

import re
from html import escape

from ui.lessons import files
from ui.lessons.files import Course, Lesson
from ui.lexicon import files as lexicon
from ui.lexicon.marks import spots

WORDS = 12  # that are explained at most
WIDE = 6  # lessons up to which each has the whole width
STYLE = """
@page { size: A4; margin: 14mm; }
body { font: 10.5pt/1.35 "Source Sans", "Helvetica Neue", Arial, sans-serif; color: #111; background: #fff; max-width: 182mm; margin: 8mm auto; }
h1 { font-size: 17pt; margin: 0 0 1mm; } h2 { font-size: 12pt; margin: 4mm 0 1mm; } p { margin: 0; }
.facts { display: flex; justify-content: space-between; color: #444; margin-bottom: 3mm; }
ol { margin: 0; padding-left: 6mm; } ol.two, dl { columns: 2; column-gap: 8mm; }
li { break-inside: avoid; padding-bottom: 2mm; } li::marker { font-weight: 600; }
small { color: #555; } .seen { border-bottom: 0.3mm solid #999; height: 7mm; color: #777; font-size: 8.5pt; padding-top: 1.5mm; box-sizing: border-box; }
dl { margin: 0; font-size: 9pt; } dt { font-weight: 600; display: inline; } dd { display: inline; margin: 0; } dl div { break-inside: avoid; padding-bottom: 1mm; }
footer { margin-top: 4mm; color: #555; font-size: 9pt; }
button { font: inherit; padding: 1mm 5mm; cursor: pointer; }
@media print { body { margin: 0; max-width: none; } button { display: none; } }
"""  # noqa: E501
PRINT = "document.querySelector('button').addEventListener('click', () => print());"


def page(course: Course, language: str = "") -> str:
    """Return the handout as an HTML page. language: of the lessons, where they are translated; "" for English. Errors: FileError
    where a lesson's file is wrong."""
    lessons = lessons_of(course, language)
    listed = "".join(item(lesson) for lesson in lessons)
    words = words_of(course, language)
    known = "".join(f"<div><dt>{escape(word)}</dt>: <dd>{escape(meaning)}</dd></div>" for word, meaning in words)
    facts = f"{course.minutes} minutes · {len(lessons)} lessons"
    return (
        f'<!doctype html><html lang="{escape(language or "en")}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(course.title)}</title><style>{STYLE}</style></head>'
        f"<body><h1>{escape(course.title)}</h1>"
        f'<div class="facts"><span>{facts}</span><span>Name: ______________________</span><button>Print</button></div>'
        f'<ol class="{"two" if len(lessons) > WIDE else "one"}">{listed}</ol>'
        f"<h2>Words to know</h2><dl>{known}</dl>"
        f"<footer>Headlight: open page Lessons, and press “Start” at “{escape(course.title)}”.</footer>"
        f"<script>{PRINT}</script></body></html>"
    )


def item(lesson: Lesson) -> str:
    """Return a lesson with its subject and a line to write on."""
    return (
        f"<li><b>{escape(lesson.title)}</b> <small>{lesson.minutes} minutes</small><p>{escape(lesson.about)}</p>"
        '<p class="seen">What I have seen:</p></li>'
    )


def lessons_of(course: Course, language: str) -> list[Lesson]:
    """Return the lessons of a course, translated where they are."""
    known = files.files()
    names = [translated if (translated := f"{language}/{name}") in known else name for name in course.lessons]
    return [lesson for name in names if (lesson := files.find(name))]


def words_of(course: Course, language: str) -> list[tuple[str, str]]:
    """Return the terms of the lexicon that these lessons use, with their meanings for beginners, in the order of their use."""
    entries = lexicon.entries(language if language in lexicon.languages() else lexicon.FIRST)
    steps = [step for lesson in lessons_of(course, "") for step in lesson.steps]
    names = dict.fromkeys(spot.name for step in steps for spot in spots(unfolded(step.words)) if spot.name in entries)
    return [(entries[name].title, entries[name].meanings[0]) for name in names if "{" not in entries[name].meanings[0]][:WORDS]


def unfolded(text: str) -> str:
    """Return a text with each of its paragraphs on one line."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)
