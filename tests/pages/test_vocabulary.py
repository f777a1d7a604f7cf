"""Beginners read one word for each thing, and heads are named in one way at all levels: docs/levels.md holds the list."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.pages.levels import labels, read
from tests.pages.opening import PAGES, open_link, words_on
from tests.serving import ROOT
from ui.lessons import files
from ui.lexicon import files as lexicon
from ui.lexicon.marks import sections

LIST = (ROOT / "docs" / "levels.md").read_text("utf-8").partition("## Which words")[2].partition("\n## ")[0]
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in LIST.splitlines() if line.startswith("| ")][1:]
NAMED = re.compile(  # a head or a layer in another way than L2 H1, “layer 2, head 1” beside it, or “layer 2”
    r"\bhead (\d+|\{head\}) (of|in) layer|\b(block|Block) \d+|\b(layer|block) (\d+|\{\w+\}) of \d|\bcounted from 1\b"
)
LINKS = (  # parts of pages that a beginner opens, beside those that a page opens with
    *(page for page in PAGES if page != "lessons"),  # which lists lessons of all levels
    "attention?view=Reading",
    "attention?view=Heatmap",
    "layers?part=Evolution",
    "layers?part=Statistics",
    "inside?stage=queries",
    "inside?stage=feed-forward",
    "inside?stage=pieces",
    "inside?stage=order",
    "change?experiment=Steer",
    "type?model=filler&text=The+cat+[MASK]+on+the+mat.",
)


def pattern(word: str) -> str:
    """Find a word, or several of it."""
    return rf"{re.escape(word)}" if word.startswith("(") else rf"\b{re.escape(word)}s?\b"


@cache
def forbidden() -> tuple[tuple[str, re.Pattern[str], str], ...]:
    """Return for each thing its word, what it is not called, and what is passed over."""
    return tuple(
        (
            row[1],
            re.compile("|".join(map(pattern, re.findall(r"`([^`]+)`", row[2]))), re.I),
            "|".join(re.findall(r"`([^`]+)`", row[3])) or "(?!)",
        )
        for row in ROWS
    )


def strangers(text: str) -> list[str]:
    """Return the words in a text for which there is another one."""
    plain = re.sub(r"\{[a-z_]+\}|\]\(#[a-z0-9-]+\)", " ", text)
    return [
        f"“{match[0]}”, and not “{word}”: … {plain[max(0, match.start() - 40) : match.end() + 40]} …"
        for word, never, but in forbidden()
        for match in never.finditer(re.sub(but, "", plain, flags=re.I))
    ]


def is_beginners(lesson: files.Lesson) -> bool:
    return lesson.level == "beginner" and all(step.link.get("level", "beginner") == "beginner" for step in lesson.steps)


def lesson_words(lesson: files.Lesson) -> str:
    """Return all that a lesson says to those who follow it."""
    steps = "\n".join(f"{step.title}\n{step.words}" for step in lesson.steps)
    questions = "\n".join(f"{step.question.ask}\n{step.question.hint}" for step in lesson.steps if step.question)
    return f"{lesson.title}\n{lesson.about}\n{steps}\n{questions}"


def all_lessons() -> list[files.Lesson]:
    return [lesson for name in files.files() if (lesson := files.find(name))]


def test_the_list_names_each_thing_and_what_it_is_not_called():
    assert len(ROWS) >= 7 and all(len(row) == 4 and "`" in row[2] for row in ROWS)
    assert {"token", "head", "feed-forward", "guess"} <= {row[1] for row in ROWS}


@pytest.mark.parametrize(
    "path",
    sorted([*(ROOT / "pages").rglob("beginner.md"), *(ROOT / "ui").rglob("beginner.md")]),
    ids=lambda path: path.parent.name,
)
def test_words_of_pages_for_beginners_name_each_thing_in_one_way(path):
    wrong = [f"{heading}: {each}" for heading, text in sections(path).items() for each in strangers(text)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.thorough
@pytest.mark.parametrize("link", LINKS)
def test_a_page_as_beginners_see_it_names_each_thing_in_one_way(link):
    page, _, choices = link.partition("?")
    app = open_link(page, f"level=beginner&{choices}")
    titles = re.findall(r'"([A-Z][^"\\]* [^"\\]*)"', read(app))  # on boards
    assert titles or page in ("room", "train", "build")
    assert not (wrong := strangers("\n".join([words_on(app), *labels(app), *titles]))), "\n".join(wrong)


def test_lessons_for_beginners_name_each_thing_in_one_way():
    lessons = [lesson for lesson in all_lessons() if is_beginners(lesson)]
    wrong = [f"{lesson.name}: {each}" for lesson in lessons for each in strangers(lesson_words(lesson))]
    assert lessons and not wrong, "\n".join(wrong)


def test_the_lexicon_explains_in_words_that_beginners_have():
    wrong = [f"{entry.word}: {each}" for entry in lexicon.entries().values() for each in strangers(entry.meanings[0])]
    assert not wrong, "\n".join(wrong)


def test_heads_and_layers_are_named_in_one_way_at_all_levels():
    texts = {str(path): path.read_text("utf-8") for path in (ROOT / "pages").rglob("*.md")}
    texts |= {lesson.name: lesson_words(lesson) for lesson in all_lessons()}
    assert not [(name, match[0]) for name, text in texts.items() for match in NAMED.finditer(text)]
