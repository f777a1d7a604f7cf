"""A lesson's file is read as it is written, and what is wrong with it is said with its line and what to do."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.true_answers import ANSWERS
from models.errors import FileError
from tests.grids import grid
from tests.serving import ROOT
from ui.lessons import files
from ui.lessons.files import parse

HEADER = "---\ntitle: A lesson\nminutes: 5\nlevel: beginner\nmodel: writer\n---\n"
STEP = "## Look\n\n```yaml\npage: type\ntext: The cat\n```\n\nRead this.\n"


def with_block(*lines: str) -> str:
    return HEADER + "## Look\n\n```yaml\n" + "\n".join(lines) + "\n```\n\nRead this.\n"


def test_a_step_keeps_what_the_one_before_has_set_and_on_another_page_only_the_text():
    more = "## Again\n\nMore.\n\n## There\n\n```yaml\npage: attention\nview: Head\nlayer: 2\nhead: L3\n```\n\nMore.\n"
    lesson = parse(HEADER + STEP.replace("text:", "bars: 5\ntext:") + more, "a")
    first, again, there = lesson.steps
    assert first.link == {"level": "beginner", "model": "writer", "bars": "5", "text": "The cat"} and first.words == "Read this."
    assert (again.page, again.link) == ("type", {"level": "beginner", "bars": "5", "text": "The cat"})
    assert there.link == {"level": "beginner", "text": "The cat", "view": "Head", "layer": "L2", "head": "H3"}


def test_the_teachers_page_is_no_step():
    lesson = parse(HEADER + STEP + "## For the teacher\n\n**Aim.** That.\n", "a")
    assert len(lesson.steps) == 1 and lesson.teacher == "**Aim.** That."


SOURCE = "  source: Somebody 2020, table 1"


def with_published(*lines: str) -> str:
    """A step with no question whose numbers begin on line 12."""
    return with_block("page: type", "published:", *lines, "  differ: Think again.")


WRONG = {
    "no header": ("# A lesson", 1, "begins with a header"),
    "no title": (HEADER.replace("title: A lesson\n", "") + STEP, 2, "needs “title: …” with a text"),
    "minutes in words": (HEADER.replace("5", "five") + STEP, 3, "“minutes:” needs a whole number"),
    "a level that does not exist": (HEADER.replace("beginner", "easy") + STEP, 4, "beginner, intermediate, expert"),
    "an unknown fact": (HEADER.replace("level:", "author: me\nlevel:") + STEP, 4, "no “author”"),
    "half of a sign": (HEADER.replace("A lesson", '"\\ud83d"') + STEP, 2, "Here stands half of a sign."),
    "no step": (HEADER + "Words alone.", 2, "at least one step"),
    "a page that does not exist": (with_block("page: heds"), 10, "The page “heds” does not exist. It is one of overview, type,"),
    "a choice that does not exist": (with_block("page: type", "veiw: Head"), 11, "no choice “veiw”"),
    "a value that does not exist": (with_block("page: attention", "view: Heads"), 11, "It is one of Head, Reading"),
    "a number in words": (with_block("page: type", "bars: many"), 11, "“bars:” needs a number."),
    "a number with too many digits": (with_block("page: type", f"bars: {'9' * 50}"), 11, "“bars:” needs a number."),
    "a part of a whole number": (with_block("page: type", "bars: 2.5"), 11, "“bars:” needs a whole number."),
    "a layer with too many digits": (with_block("page: type", f"layer: {'9' * 50}"), 11, "needs a number, as L2"),
    "a switch that is neither": (with_block("page: type", "special: perhaps"), 11, "needs true or false"),
    "a question without words": (with_block("page: type", "question:", "  answer: number of tokens"), 10, "needs “ask: …”"),
    "an answer that cannot be computed": (
        with_block("page: type", "question:", "  ask: What?", "  answer: the truth"),
        13,
        "“the truth” cannot be computed. It is one of ",
    ),
    "an answer without what it needs": (
        with_block("page: type", "question:", "  ask: What?", "  answer: weight", "  given: {layer: 1}"),
        14,
        "needs “head”",
    ),
    "an answer with more than it takes": (
        with_block("page: type", "question:", "  ask: What?", "  answer: number of tokens", "  given: {layer: 1}"),
        14,
        "no “layer”",
    ),
    "a published number without its source": (
        with_published("  numbers: [{of: a share, number: 5, answer: number of tokens}]"),
        12,
        "needs “source: …”",
    ),
    "a published number in words": (
        with_published(SOURCE, "  numbers:", "    - {of: a, number: 5, answer: looks ahead}", "    - of: b", "      number: a"),
        16,
        "as the paper has it",
    ),
    "a published number that nothing is measured for": (
        with_published(SOURCE, "  numbers: [{of: a share, number: 5}]"),
        13,
        "the step has no question",
    ),
    "a published number whose answer lacks something": (
        with_published(SOURCE, "  numbers:", "    - of: a", "      number: 5", "      answer: weight", "      given: {layer: 1}"),
        17,
        "needs “head”",
    ),
    "a published number with more than it has": (with_published(SOURCE, "  page: 3"), 13, "A published number has no “page”"),
    "broken YAML": (with_block("page: type", "text: a: b"), 11, "Put a value that holds a colon"),
    "a value that is no date, as it says": (with_block("page: type", "text: !!timestamp x"), 10, "It cannot be read."),
    "an endless name": (with_block("page: type", f"{'x' * 500}: 1"), 11, f"no choice “{'x' * 59}…”"),
    "what an answer takes, of another kind": (
        with_block("page: type", "question:", "  ask: What?", "  answer: tokens of a word", "  given: {word: 99}"),
        14,
        "“word:” needs a text",
    ),
    "what an answer takes, not whole": (
        with_block("page: type", "question:", "  ask: What?", "  answer: likeliest token after a layer", "  given: {layer: 1.5}"),
        14,
        "“layer:” needs a whole number",
    ),
    "what an answer takes, in a list of lists": (
        with_block("page: type", "question:", "  ask: What?", "  answer: verb agrees", "  given: {beside: [[1]]}"),
        14,
        "“beside:” needs a list of numbers",
    ),
    "where somebody is": (with_block("page: type", "step: 3"), 11, "A step does not set “step”"),
    "no number of generating": (with_block("page: generate", "generate-temperature: zzz"), 11, "needs a number"),
    "a heading without “show:”": (
        with_block("page: type", "question:", "  ask: What?", "  answer: looks ahead", "  heading: Bars"),
        14,
        "Write “show:”",
    ),
    "too many words": (HEADER + STEP + "word " * 121, 7, "at most 120 are read"),
    "an image from outside": (HEADER + STEP + "![x](https://example.org/a.png)", 7, "would be fetched from the internet"),
}


@pytest.mark.parametrize("text, line, words", WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_with_its_line(text, line, words):
    with pytest.raises(FileError) as refusal:
        parse(text, "a", "a.md")
    assert words in str(refusal.value) and str(refusal.value).startswith(f"a.md, line {line}: ")


@given(st.text(max_size=300), st.integers(0, 4))
def test_whatever_a_file_holds_it_is_a_lesson_or_a_sentence(text, where):
    pieces = ["", "## Look\n\n```yaml\n", "page: type\n", "```\n", "words\n"]
    pieces.insert(where, text)
    try:
        assert parse(HEADER + "".join(pieces), "a").steps
    except FileError as error:
        assert error.sentence.endswith((".", "?")) and error.line >= 1


def checked(folder) -> tuple[int, str]:
    """What the script that checks a folder ends with, and says."""
    ran = subprocess.run([sys.executable, ROOT / "bin" / "check_lessons.py", folder], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout


def test_a_folder_of_ones_own_and_its_translations(tmp_path, monkeypatch):
    (tmp_path / "fr").mkdir()
    (tmp_path / "courses").mkdir()
    (tmp_path / "mine.md").write_text(HEADER + STEP)
    (tmp_path / "fr" / "mine.md").write_text(HEADER + STEP)
    (tmp_path / "courses" / "two.md").write_text("---\ntitle: Two\nminutes: 10\nlessons: [mine, tokens]\n---\nAsk them.")
    monkeypatch.setenv("HEADLIGHT_LESSONS", str(tmp_path))
    assert {"mine", "fr/mine", "tokens"} <= set(files.files()) and files.languages() == ["", "fr"]
    assert checked(tmp_path)[0] == 0
    assert next(course for course in files.courses() if course.name == "two").lessons == ("mine", "tokens")
    (tmp_path / "mine.md").write_text(HEADER + STEP.replace("type", "typ"))
    (tmp_path / "courses" / "two.md").write_text("---\ntitle: Two\nminutes: 10\nlessons: [yours]\n---\n")
    wrong, notices = checked(tmp_path)
    assert wrong == 1
    assert "mine.md, line 10: The page “typ” does not exist." in notices and "There is no lesson “yours”." in notices


ASKED = STEP.replace("```\n\n", "question:\n  ask: How many?\n  answer: number of tokens\n  expect: 2\n  hint: Two.\n```\n\n")
TRANSLATED = ASKED.replace("## Look", "## Regardez").replace("How many?", "Combien ?").replace("Read this.", "Lisez.")
PAPER = "published: {source: A paper, numbers: [{of: tokens, number: 3}], differ: Why}\n```\n\n"
UNLIKE = {
    "another published number": (TRANSLATED.replace("```\n\n", PAPER), 8, "asks something else"),
    "another text": (TRANSLATED.replace("The cat", "Le chat"), 8, "This step sets something else than in mine.md."),
    "another page": (TRANSLATED.replace("page: type", "page: layers"), 8, "sets something else"),
    "another answer": (TRANSLATED.replace("expect: 2", "expect: 3"), 8, "This step asks something else than in mine.md."),
    "no question": (STEP, 8, "asks something else"),
    "a step more": (TRANSLATED + "## Encore\n\nLisez.\n", 21, "The translation has 2 steps, and mine.md has 1."),
}


@pytest.mark.parametrize("text, line, words", grid(UNLIKE.values(), [*UNLIKE.values()][::3]), ids=UNLIKE)
def test_a_translation_changes_words_and_nothing_else(text, line, words, tmp_path, monkeypatch):
    (tmp_path / "fr").mkdir()
    monkeypatch.setenv("HEADLIGHT_LESSONS", str(tmp_path))
    (tmp_path / "mine.md").write_text(HEADER + ASKED)
    (tmp_path / "fr" / "mine.md").write_text(HEADER.replace("A lesson", "Une leçon") + "\n" + TRANSLATED)
    assert files.find("fr/mine").steps[0].question.ask == "Combien ?" and files.find("fr/mine").title == "Une leçon"
    (tmp_path / "fr" / "mine.md").write_text(HEADER + "\n" + text)
    with pytest.raises(FileError) as refusal:
        files.find("fr/mine")
    assert str(refusal.value).startswith(f"fr/mine.md, line {line}: ") and words in str(refusal.value)
    assert checked(tmp_path)[0] == 1
    (tmp_path / "mine.md").write_text("wrong")
    assert files.find("fr/mine").steps, "an original that cannot be read is held against nothing"


GUIDE = (ROOT / "docs" / "writing-lessons.md").read_text(encoding="utf-8")


def test_the_smallest_lesson_of_the_guide_is_one():
    example = re.search(r"````markdown\n(.*?)````", GUIDE, re.S)
    assert parse(example[1], "cat").steps[0].question.expect == "mat"


def test_the_guide_lists_every_answer_with_what_it_needs():
    rows = dict(re.findall(r"^\| ([a-z ]+) \| ([^|]*) \|", GUIDE.partition("| `given` | meaning |")[2], re.M))
    assert rows.keys() == ANSWERS.keys()
    for name, ask in ANSWERS.items():
        needed = list(inspect.signature(ask).parameters)[2:]
        assert re.findall("`([a-z]+)`", rows[name]) == [argument.rstrip("_") for argument in needed]


def test_what_is_no_file_is_no_lesson_and_one_that_has_gone_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_LESSONS", str(tmp_path))
    (tmp_path / "folder.md").mkdir()
    (tmp_path / ".#open.md").symlink_to("nobody@nowhere")
    (tmp_path / "dangling.md").symlink_to("nowhere")
    (tmp_path / "mine.md").write_text("\ufeff" + HEADER + STEP, encoding="utf-8")
    assert not {"folder", ".#open", "dangling"} & set(files.files()) and files.find("mine").title
    (tmp_path / "mine.md").unlink()
    monkeypatch.setattr(files, "files", lambda: {"mine": tmp_path / "mine.md"})
    with pytest.raises(FileError, match="cannot be read"):
        files.find("mine")


@pytest.mark.parametrize(
    ("names", "words"),
    [("[tokens, [x]]", "names of lessons"), ("[tokens, 5]", "names of lessons"), ("[tokens, tokens]", "twice")],
)
def test_a_course_names_each_lesson_once(names, words, tmp_path, monkeypatch):
    (tmp_path / "courses").mkdir()
    (tmp_path / "courses" / "short.md").write_text(f"---\ntitle: A\nminutes: 5\nlessons: {names}\n---\n")
    monkeypatch.setenv("HEADLIGHT_LESSONS", str(tmp_path))
    with pytest.raises(FileError, match=words):
        files.courses()
