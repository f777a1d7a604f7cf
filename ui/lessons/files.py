"""A lesson as its Markdown file says it, checked line by line. How one is written stands in docs/writing-lessons.md."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

import yaml

from analysis.answers import ANSWERS, check_given
from ui import state

SHIPPED = Path(__file__).parents[2] / "lessons"
HEADER, STEP, TEACHER = re.compile(r"\A---\n(.*?\n)---\n", re.S), re.compile(r"^## +(.+)$", re.M), "For the teacher"
BLOCK = re.compile(r"^```yaml\n(.*?)^```\n?", re.M | re.S)
STAYS = ("text", "target", "level")  # from page to page
OUTSIDE = re.compile(r"!\[[^\]]*\]\(\s*<?((?:https?:)?//[^)\s]*)")  # an image
WORDS = 120  # of a step at most
LARGEST = 100_000  # bytes of a file
FACTS = {"title": str, "minutes": int, "level": str, "model": str}
COURSE = {"title": str, "minutes": int, "lessons": list}
QUESTION = {"ask": str, "answer": str, "given": dict, "expect": object, "hint": str, "show": dict}
KINDS = {str: "a text", int: "a whole number", dict: "names and values", list: "a list", object: "a value"}
PAGES = (
    "type", "attention", "layers", "flow", "space", "inside", "generate", "explain", "change", "heads", "build", "train",
)  # fmt: skip


class LessonError(ValueError):
    """A lesson that cannot be read: which file, which line, what is wrong there and what to do."""

    def __init__(self, file: str, line: int, sentence: str) -> None:
        super().__init__(f"{file}, line {line}: {sentence}")
        self.file, self.line, self.sentence = file, line, sentence


@dataclass(frozen=True)
class Question:
    """ask: in words. answer: by which of `analysis.answers` it is computed, with `given`. expect: what the author says that it is,
    on the lesson's own model. hint: what a wrong answer gets. show: choices of the link under which the answer is seen."""

    ask: str
    answer: str
    given: Mapping[str, Any] = field(default_factory=dict)
    expect: object = None
    hint: str = ""
    show: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """page: its name in an address. link: the choices that the step sets, as an address writes them. do: what to do there."""

    title: str
    words: str
    page: str
    link: Mapping[str, str]
    question: Question | None = None

    @property
    def sets(self) -> tuple[object, ...]:
        """What it sets on the page, which no translation changes."""
        return self.page, self.link

    @property
    def asks(self) -> tuple[object, ...] | None:
        """What it asks the model, which no translation changes."""
        asked = self.question
        return (asked.answer, asked.given, asked.expect, asked.show) if asked else None


@dataclass(frozen=True)
class Lesson:
    """name: of its file, with its language's folder ("heads", "fr/heads"). teacher: the page for who teaches it, in Markdown.
    group: the heading under which it is listed, "" for the first one."""

    name: str
    title: str
    minutes: int
    level: str
    model: str
    steps: tuple[Step, ...]
    teacher: str = ""
    about: str = ""
    order: int = 1000
    group: str = ""

    def model_at(self, number: int) -> str:
        """The model for which a step was written, counted from 1: the last one that was set up to there."""
        return next((step.link["model"] for step in reversed(self.steps[:number]) if "model" in step.link), self.model)


@dataclass(frozen=True)
class Course:
    """Lessons one after the other, for so many minutes. teacher: for who teaches it, in Markdown."""

    name: str
    title: str
    minutes: int
    lessons: tuple[str, ...]
    teacher: str = ""


def folders() -> list[Path]:
    """Where lessons stand: those that ship, and a teacher's own, named by HEADLIGHT_LESSONS."""
    own = os.environ.get("HEADLIGHT_LESSONS", "")
    return [SHIPPED, *([Path(own)] if own else [])]


def files() -> dict[str, Path]:
    """Every lesson's file by its name; one's own takes the place of a shipped one of that name."""
    found = {}
    for folder in folders():
        for file in sorted([*folder.glob("*.md"), *folder.glob("[a-z][a-z]/*.md")]):
            found[file.relative_to(folder).with_suffix("").as_posix()] = file
    return found


def languages() -> list[str]:
    """The folders of translations there are, "" for the first language."""
    return sorted({name.rpartition("/")[0] for name in files()} | {""})


def courses() -> list[Course]:
    """The courses, the shortest first. Errors: LessonError where a file is wrong."""
    found = {}
    for folder in folders():
        for file in sorted(folder.glob("courses/*.md")):
            found[file.stem] = course_of(file)
    return sorted(found.values(), key=lambda course: course.minutes)


def course_of(file: Path) -> Course:
    text = text_of(file)
    header = header_of(text, file.name, "course")
    header.allow(COURSE, COURSE, "course")
    facts, known = header.values, files()
    if missing := [name for name in facts["lessons"] if name not in known]:
        header.refuse("lessons", f"There is no lesson “{missing[0]}”. There are {', '.join(known)}.")
    return Course(file.stem, facts["title"], facts["minutes"], tuple(facts["lessons"]), text[header.end :].strip())


def find(name: str) -> Lesson | None:
    """The lesson of that name, or None. Errors: LessonError where its file is wrong, or is no translation of its original."""
    known = files()
    file, original = known.get(name), known.get(name.rpartition("/")[2]) if "/" in name else None
    if file and original:
        return translated(file, name, file.stat().st_mtime_ns, original, original.stat().st_mtime_ns)
    return read(file, name, file.stat().st_mtime_ns) if file else None


@lru_cache(maxsize=256)
def read(file: Path, name: str, changed: int = 0) -> Lesson:
    """A lesson from its file. changed: when, so that a file that was changed is read again. Errors: LessonError."""
    return parse(text_of(file), name, file.name)


@lru_cache(maxsize=256)
def translated(file: Path, name: str, changed: int, original: Path, original_changed: int) -> Lesson:
    """A lesson that says in another language what another file says, and sets and asks the same at each step. Errors: LessonError,
    with the line of the first step that does not; an original that is wrong itself is held against nothing."""
    lesson = read(file, name, changed)
    try:
        other = read(original, original.stem, original_changed)
    except LessonError:
        return lesson
    text, named = text_of(file), f"{file.parent.name}/{file.name}"
    lines = [text.count("\n", 0, step.start()) + 1 for step in STEP.finditer(text) if step[1].strip() != TEACHER]
    if (own := len(lesson.steps)) != (wanted := len(other.steps)):
        raise LessonError(named, lines[-1], f"The translation has {own} steps, and {original.name} has {wanted}. Give it as many.")
    for line, step, of in zip(lines, lesson.steps, other.steps, strict=True):
        for what, one, same in (("sets", step.sets, of.sets), ("asks", step.asks, of.asks)):
            if one != same:
                raise LessonError(named, line, f"This step {what} something else than in {original.name}. Translate its words alone.")
    return lesson


def text_of(file: Path) -> str:
    if file.stat().st_size > LARGEST:
        raise LessonError(file.name, 1, f"The file has more than {LARGEST:,} bytes. Make it shorter, or two lessons of it.")
    try:
        return file.read_text(encoding="utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise LessonError(file.name, 1, "The file is not UTF-8 text. Save it as UTF-8.") from None


def parse(text: str, name: str, file: str = "lesson") -> Lesson:
    """A lesson from the text of its file. Errors: LessonError."""
    header = header_of(text, file, "lesson")
    header.allow({**FACTS, "about": str, "order": int, "group": str}, FACTS, "lesson")
    facts = header.values
    if facts["level"] not in state.LEVELS:
        header.refuse("level", f"The level “{facts['level']}” does not exist. It is one of {', '.join(state.LEVELS)}.")
    body, begins = text[header.end :], text[: header.end].count("\n") + 1
    parts, teacher, steps = STEP.split(body), "", list[Step]()
    lines = [begins + body[: heading.start()].count("\n") for heading in STEP.finditer(body)]
    for title, words, line in zip(parts[1::2], parts[2::2], lines, strict=True):
        if title.strip() == TEACHER:
            teacher = words.strip()
        else:
            first = {} if steps else {"level": facts["level"], "model": facts["model"]}
            steps.append(step_of(title.strip(), words, file, line, first, steps[-1] if steps else None))
    if not steps:
        header.refuse("", "A lesson needs at least one step, which begins with “## ” and its title.")
    return Lesson(name, steps=tuple(steps), teacher=teacher, **facts)


@dataclass(frozen=True)
class Block:
    """Lines of the form “name: value” in a file. line: of the first one; end: where the text goes on."""

    values: dict[str, Any]
    text: str
    file: str
    line: int
    end: int = 0

    def refuse(self, name: str, sentence: str) -> NoReturn:
        """Errors: LessonError with the line of that name; of none, the first."""
        places = [at for at, line in enumerate(self.text.split("\n")) if name and re.match(rf"[\s{{,]*{re.escape(name)}\s*:", line)]
        raise LessonError(self.file, self.line + (places[0] if places else 0), sentence)

    def allow(self, kinds: Mapping[str, type], needed: Iterable[str], where: str) -> None:
        """Errors: LessonError for a name that means nothing, which would otherwise be passed over in silence, for one that is
        needed and not there, and for a value of another kind."""
        for name, value in self.values.items():
            if name not in kinds:
                self.refuse(str(name), f"A {where} has no “{name}”. It has {', '.join(kinds)}.")
            if not isinstance(value, kinds[name]) or (kinds[name] is int and isinstance(value, bool)):
                self.refuse(name, f"“{name}:” needs {KINDS[kinds[name]]}.")
        if missing := [name for name in needed if name not in self.values]:
            self.refuse("", f"A {where} needs “{missing[0]}: …” with {KINDS[kinds[missing[0]]]}.")

    def choices(self, of: Mapping[str, Any], more: tuple[str, ...] = ()) -> dict[str, str]:
        """Choices as an address writes them. of: those of the values that are choices; more: names beside those of an address."""
        keys = {key.name: key for key in state.linked_keys()}
        link = {}
        for name, value in of.items():
            if name not in keys and name not in more and not re.match("(build|train|generate)-", str(name)):
                self.refuse(str(name), f"A page has no choice “{name}”. The names are those of an address, such as view or head.")
            if isinstance(value, dict | list) or value is None:
                self.refuse(name, f"“{name}:” needs one value.")
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if name in ("layer", "head"):
                if not (number := text.lstrip("LHlh")).isdecimal():
                    self.refuse(name, f"“{name}:” needs a number, as {name[0].upper()}2 or 2.")
                text = f"{name[0].upper()}{number}"
            default = keys[name].default if name in keys else ""
            if isinstance(default, bool) and text not in ("true", "false"):
                self.refuse(name, f"“{name}:” needs true or false.")
            if isinstance(default, int | float) and not isinstance(default, bool) and not re.fullmatch(r"-?\d+(\.\d+)?", text):
                self.refuse(name, f"“{name}:” needs a number.")
            allowed = PAGES if name == "page" else keys[name].values if name in keys else ()
            if allowed and text not in allowed:
                self.refuse(name, f"The {name} “{text}” does not exist. It is one of {', '.join(allowed)}.")
            link[name] = text
        return link


def header_of(text: str, file: str, what: str) -> Block:
    """The lines between the two lines of dashes at the beginning of a file."""
    if not (found := HEADER.match(text)):
        raise LessonError(file, 1, f"A {what} begins with a header between two lines of three dashes (---).")
    return Block(mapping(found[1], file, 2), found[1], file, 2, found.end())


def step_of(title: str, body: str, file: str, line: int, first: Mapping[str, str], before: Step | None) -> Step:
    """One step. What its block does not set, the step before has set."""
    block = Block({}, "", file, line)
    if found := BLOCK.search(body):
        begins = line + body[: found.start(1)].count("\n")
        block = Block(mapping(found[1], file, begins), found[1], file, begins)
    words = BLOCK.sub("", body, count=1).strip()
    if (count := len(words.split())) > WORDS:
        raise LessonError(file, line, f"The step has {count} words, and at most {WORDS} are read beside a page. Make two of it.")
    if outside := OUTSIDE.search(words):
        raise LessonError(file, line, f"“{outside[1]}” would be fetched from the internet, and nothing here is. Leave the image out.")
    values = dict(block.values)
    asked, page = values.pop("question", None), values.pop("page", before.page if before else None)
    if page not in PAGES:
        block.refuse("page", f"The page “{page}” does not exist. It is one of {', '.join(PAGES)}.")
    link = {**first, **stays(before, page), **block.choices(values)}
    return Step(title, words, page, link, question_of(asked, block) if asked is not None else None)


def stays(before: Step | None, page: str) -> dict[str, str]:
    """Of the step before, what a step need not say again: all on the same page, the text on another."""
    link = before.link if before else {}
    return {key: value for key, value in link.items() if key != "model" and (key in STAYS or (before and before.page == page))}


def question_of(asked: object, block: Block) -> Question:
    if not isinstance(asked, dict):
        block.refuse("question", "Under “question:” stand lines of its own, with two spaces before each: ask, answer, and more.")
    Block(asked, block.text, block.file, block.line).allow(QUESTION, ("ask", "answer"), "question")
    if asked["answer"] not in ANSWERS:
        block.refuse("answer", f"The answer “{asked['answer']}” cannot be computed. It is one of {', '.join(ANSWERS)}.")
    if complaint := check_given(asked["answer"], asked.get("given", {})):
        block.refuse("given" if "given" in asked else "answer", complaint)
    show = block.choices(asked.get("show", {}), ("page",))
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in asked.get("given", {}).items()}
    return Question(asked["ask"], asked["answer"], given, asked.get("expect"), asked.get("hint", ""), show)


def mapping(text: str, file: str, line: int) -> dict[str, Any]:
    """What YAML says, as names and values. line: of the first one."""
    try:
        said = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or "this is not YAML"
        hint = "Put a value that holds a colon, a # or quotes into quotes."
        raise LessonError(file, line + (mark.line if mark else 0), f"It cannot be read: {problem}. {hint}") from None
    except (RecursionError, ValueError):  # too deep, or a date that does not exist
        raise LessonError(file, line, "It cannot be read. Here stand lines of the form “name: value”.") from None
    if not isinstance(said, dict):
        raise LessonError(file, line, "Here stand lines of the form “name: value”.")
    return said
