"""Reads lessons from their Markdown files and checks them line by line; docs/writing-lessons.md has the format."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from analysis.true_answers import ANSWERS, check_given
from models.errors import FileError
from models.huggingface.names import quoted, short
from ui import state
from ui.escaping import number_below
from ui.written import Block, header_of, mapping, text_of

SHIPPED = Path(__file__).parents[2] / "lessons"
STEP, TEACHER = re.compile(r"^## +(.+)$", re.M), "For the teacher"
BLOCK = re.compile(r"^```yaml\n(.*?)^```\n?", re.M | re.S)
OWN = ("lesson", "step", "language", "room")  # where somebody is
STAYS = ("text", "target", "level")  # from page to page
OUTSIDE = re.compile(r"!\[[^\]]*\]\(\s*<?((?:https?:)?//[^)\s]*)")  # an image
WORDS = 120  # of a step at most
LARGEST = 100_000  # bytes of a file
MANY = 1000  # layers or heads, more than a model has
FACTS = {"title": str, "minutes": int, "level": str, "model": str}
COURSE = {"title": str, "minutes": int, "lessons": list}
QUESTION = {"ask": str, "answer": str, "given": dict, "expect": object, "hint": str, "show": dict, "heading": str}
PUBLISHED = {"source": str, "numbers": list, "differ": str}
NUMBER = {"of": str, "number": object, "unit": str, "answer": str, "given": dict}
PAGES = (
    "overview",
    "type",
    "attention",
    "layers",
    "flow",
    "space",
    "inside",
    "generate",
    "explain",
    "change",
    "heads",
    "build",
    "train",
    "adapt",
)


@dataclass(frozen=True)
class Question:
    """A step's question. ask: its words. answer: the function of `analysis.true_answers` that computes the answer, with `given`
    as arguments. expect: the answer that the author expects on the lesson's own model. hint: the reply to a wrong answer. show:
    choices of a link that shows the answer; heading: the heading below which it is then seen, "" at the top of the page."""

    ask: str
    answer: str
    given: Mapping[str, Any] = field(default_factory=dict)
    expect: object = None
    hint: str = ""
    show: Mapping[str, str] = field(default_factory=dict)
    heading: str = ""


@dataclass(frozen=True)
class Number:
    """A published number. of: the quantity. number: as it is published, such as “0.71 ± 0.24”. unit: of the published and the
    measured number, "" for none. answer: the function of `analysis.true_answers` that computes the same here, with `given` as
    arguments; "" for the answer to the step's question."""

    of: str
    number: str
    unit: str = ""
    answer: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Published:
    """Published numbers of a paper. source: the paper, and where in it. differ: what to conclude where the numbers differ."""

    source: str
    numbers: tuple[Number, ...]
    differ: str

    @property
    def measured(self) -> tuple[object, ...]:
        """The parts that a translation may not change."""
        return tuple((number.number, number.answer, number.given) for number in self.numbers)


@dataclass(frozen=True)
class Step:
    """A step of a lesson. page: its name in an address. link: the choices that the step sets, as an address writes them.
    published: numbers of a paper that are measured here too."""

    title: str
    words: str
    page: str
    link: Mapping[str, str]
    question: Question | None = None
    published: Published | None = None

    @property
    def sets(self) -> tuple[object, ...]:
        """The choices that it sets on the page; a translation may not change them."""
        return self.page, self.link

    @property
    def asks(self) -> tuple[object, ...] | None:
        """The questions that it asks the model; a translation may not change them."""
        asked, published = self.question, self.published.measured if self.published else None
        return (asked.answer, asked.given, asked.expect, asked.show, asked.heading, published) if asked else published


@dataclass(frozen=True)
class Lesson:
    """A lesson. name: of its file, with its language's folder ("heads", "fr/heads"). teacher: the page for teachers, in Markdown.
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
        """Return the model for which a step (counted from 1) was written: the last model that it or an earlier step sets."""
        return next((step.link["model"] for step in reversed(self.steps[:number]) if "model" in step.link), self.model)


@dataclass(frozen=True)
class Course:
    """Lessons in order, for so many minutes. teacher: notes for teachers, in Markdown. order: its place among courses."""

    name: str
    title: str
    minutes: int
    lessons: tuple[str, ...]
    teacher: str = ""
    order: int = 1000


def folders() -> list[Path]:
    """Return the folders of lessons: the one that ships, and a teacher's own, named by HEADLIGHT_LESSONS."""
    own = os.environ.get("HEADLIGHT_LESSONS", "")
    return [SHIPPED, *([Path(own)] if own else [])]


def files() -> dict[str, Path]:
    """Return every lesson's file by its name; a teacher's own replaces a shipped one of the same name."""
    paths = {}
    for folder in folders():
        for file in texts([*folder.glob("*.md"), *folder.glob("[a-z][a-z]/*.md")]):
            paths[file.relative_to(folder).with_suffix("").as_posix()] = file
    return paths


def texts(paths: Iterable[Path]) -> list[Path]:
    """Return the text files among these paths: no folders, and no hidden files, such as an editor's lock files."""
    return sorted(path for path in paths if path.is_file() and not path.name.startswith("."))


def changed_at(file: Path) -> int:
    """Return when a file was last changed; 0 if it has been removed, which is reported when it is read."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def languages() -> list[str]:
    """Return the folders of translations, "" for the first language."""
    return sorted({name.rpartition("/")[0] for name in files()} | {""})


def courses() -> list[Course]:
    """Return the courses in their order; those without an order follow, the shortest first. Errors: FileError where a file is
    wrong.
    """
    by_name = {}
    for folder in folders():
        for file in texts(folder.glob("courses/*.md")):
            by_name[file.stem] = course_of(file)
    return sorted(by_name.values(), key=lambda course: (course.order, course.minutes))


def course_of(file: Path) -> Course:
    text = text_of(file, LARGEST)
    header = header_of(text, file.name, "course")
    header.allow({**COURSE, "order": int}, COURSE, "course")
    facts, known = header.values, files()
    for number, name in enumerate(facts["lessons"]):
        if not isinstance(name, str):
            header.refuse("lessons", f"“lessons:” needs names of lessons, and {quoted(str(name))} is none.")
        if name in facts["lessons"][:number]:
            header.refuse("lessons", f"The lesson {quoted(name)} stands there twice. Name it once.")
    if missing := [name for name in facts["lessons"] if name not in known]:
        header.refuse("lessons", f"There is no lesson {quoted(missing[0])}. There are {', '.join(known)}.")
    teacher, order = text[header.end :].strip(), facts.get("order", Course.order)
    return Course(file.stem, facts["title"], facts["minutes"], tuple(facts["lessons"]), teacher, order)


def find(name: str) -> Lesson | None:
    """Return the lesson of that name, or None. Errors: FileError if its file is wrong, or is no translation of its original."""
    known = files()
    file, original = known.get(name), known.get(name.rpartition("/")[2]) if "/" in name else None
    if file and original:
        return read_translation(file, name, changed_at(file), original, changed_at(original))
    return read(file, name, changed_at(file)) if file else None


@lru_cache(maxsize=256)
def read(file: Path, name: str, changed: int = 0) -> Lesson:
    """Read a lesson from its file. changed: when it was changed, so that a changed file is read again. Errors: FileError."""
    return parse(text_of(file, LARGEST), name, file.name)


@lru_cache(maxsize=256)
def read_translation(file: Path, name: str, changed: int, original: Path, original_changed: int) -> Lesson:
    """Read a translated lesson, which must set and ask the same as its original at each step. Errors: FileError, with the line of
    the first step that does not; it is not compared with a wrong original."""
    lesson = read(file, name, changed)
    try:
        other = read(original, original.stem, original_changed)
    except FileError:
        return lesson
    text, named = text_of(file, LARGEST), f"{file.parent.name}/{file.name}"
    lines = [text.count("\n", 0, step.start()) + 1 for step in STEP.finditer(text) if step[1].strip() != TEACHER]
    if (own := len(lesson.steps)) != (wanted := len(other.steps)):
        raise FileError(named, lines[-1], f"The translation has {own} steps, and {original.name} has {wanted}. Give it as many.")
    for line, step, of in zip(lines, lesson.steps, other.steps, strict=True):
        for what, own_part, its_part in (("sets", step.sets, of.sets), ("asks", step.asks, of.asks)):
            if own_part != its_part:
                raise FileError(
                    named, line, f"This step {what} something else than in {original.name}. Translate its words alone."
                )
    return lesson


def parse(text: str, name: str, file: str = "lesson") -> Lesson:
    """Parse a lesson from the text of its file. Errors: FileError."""
    header = header_of(text, file, "lesson")
    header.allow({**FACTS, "about": str, "order": int, "group": str}, FACTS, "lesson")
    facts = header.values
    if facts["level"] not in state.LEVELS:
        header.refuse("level", f"The level {quoted(facts['level'])} does not exist. It is one of {', '.join(state.LEVELS)}.")
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


def step_of(title: str, body: str, file: str, line: int, first: Mapping[str, str], before: Step | None) -> Step:
    """Return one step. Choices that its block does not set are those of the step before."""
    block = Block({}, "", file, line)
    if match := BLOCK.search(body):
        begins = line + body[: match.start(1)].count("\n")
        block = Block(mapping(match[1], file, begins), match[1], file, begins)
    words = BLOCK.sub("", body, count=1).strip()
    if (count := len(words.split())) > WORDS:
        raise FileError(file, line, f"The step has {count} words, and at most {WORDS} are read beside a page. Make two of it.")
    if outside := OUTSIDE.search(words):
        raise FileError(
            file, line, f"{quoted(outside[1])} would be fetched from the internet, and nothing here is. Leave the image out."
        )
    values = dict(block.values)
    question_values, page = values.pop("question", None), values.pop("page", before.page if before else None)
    published = values.pop("published", None)
    if page not in PAGES:
        block.refuse("page", f"The page {quoted(page)} does not exist. It is one of {', '.join(PAGES)}.")
    link = {**first, **inherited_choices(before, page), **choices(block, values)}
    question = question_of(question_values, block) if question_values is not None else None
    published_numbers = published_of(published, block, question_values is not None) if published is not None else None
    return Step(title, words, page, link, question, published_numbers)


def inherited_choices(before: Step | None, page: str) -> dict[str, str]:
    """Return the choices that a step inherits from the step before: all of them on the same page, the text on another page."""
    link = before.link if before else {}
    return {key: value for key, value in link.items() if key != "model" and (key in STAYS or (before and before.page == page))}


def choices(block: Block, of: Mapping[str, Any], more: tuple[str, ...] = ()) -> dict[str, str]:
    """Return choices as an address writes them. of: the values that are choices; more: allowed names besides an address's."""
    keys = {key.name: key for key in state.linked_keys()}
    link = {}
    for name, value in of.items():
        if name in OWN:
            block.refuse(name, f"A step does not set {quoted(name)}: who reads it has that already. Leave it out.")
        if name not in keys and name not in more and not state.family_of(str(name)):
            block.refuse(str(name), f"A page has no choice {quoted(name)}. Names are those of an address, such as view or head.")
        if isinstance(value, dict | list) or value is None:
            block.refuse(str(name), f"“{short(name)}:” needs one value.")
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if name in ("layer", "head"):
            if number_below(number := text.lstrip("LHlh"), MANY) is None:
                block.refuse(name, f"“{name}:” needs a number, as {name[0].upper()}2 or 2.")
            text = f"{name[0].upper()}{number}"
        default = keys[name].default if name in keys else ""
        if isinstance(default, bool) and text not in ("true", "false"):
            block.refuse(name, f"“{name}:” needs true or false.")
        counts = isinstance(default, int | float) and not isinstance(default, bool)
        family = None if name in keys else state.family_of(str(name))
        if counts or (family and family.numbers):
            if not re.fullmatch(r"-?\d{1,9}(\.\d{1,9})?", text):
                block.refuse(name, f"“{name}:” needs a number.")
            if isinstance(default, int) and "." in text:
                block.refuse(name, f"“{name}:” needs a whole number.")
        allowed = PAGES if name == "page" else keys[name].values if name in keys else ()
        if allowed and text not in allowed:
            block.refuse(name, f"The {name} {quoted(text)} does not exist. It is one of {', '.join(allowed)}.")
        link[name] = text
    return link


def question_of(values: object, block: Block) -> Question:
    if not isinstance(values, dict):
        block.refuse("question", "Under “question:” stand lines of its own, with two spaces before each: ask, answer, and more.")
    Block(values, block.text, block.file, block.line).allow(QUESTION, ("ask", "answer"), "question")
    if values["answer"] not in ANSWERS:
        block.refuse(
            "answer", f"The answer {quoted(values['answer'])} cannot be computed. It is one of {', '.join(sorted(ANSWERS))}."
        )
    if complaint := check_given(values["answer"], values.get("given", {})):
        block.refuse("given" if "given" in values else "answer", complaint)
    show, heading = choices(block, values.get("show", {}), ("page",)), values.get("heading", "")
    if heading and not show:
        block.refuse("heading", "“heading:” says where “show:” shows the answer. Write “show:” too.")
    given = freeze(values.get("given", {}))
    return Question(values["ask"], values["answer"], given, values.get("expect"), values.get("hint", ""), show, heading)


def published_of(values: object, block: Block, asks: bool) -> Published:
    """Return the published numbers under “published:” in a block. asks: whether the step has a question. Errors: FileError."""
    if not isinstance(values, dict):
        block.refuse(
            "published", "Under “published:” stand lines of its own, with two spaces before each: source, numbers, differ."
        )
    inner = block.part(values, "published")
    inner.allow(PUBLISHED, PUBLISHED, "published number")
    if not values["numbers"]:
        inner.refuse("numbers", "“numbers:” needs at least one number.")
    rows = []
    for index, row in enumerate(values["numbers"]):
        if not isinstance(row, dict):
            inner.refuse("numbers", "Each of the “numbers:” has lines of its own, the first after a dash: of, number, and more.")
        rows.append(number_of(block.part(row, "published", "numbers", index), asks))
    return Published(values["source"], tuple(rows), values["differ"])


def number_of(row: Block, asks: bool) -> Number:
    values = row.values
    row.allow(NUMBER, ("of", "number"), "number")
    if isinstance(values["number"], bool) or not re.search(r"\d", str(values["number"])):
        row.refuse("number", "“number:” needs the number as the paper has it, such as 94.3 or 0.71 ± 0.24.")
    name, given = values.get("answer", ""), values.get("given", {})
    if not name and not asks:
        row.refuse("number", "This number needs “answer: …”, by which the same is computed here, for the step has no question.")
    if not name and given:
        row.refuse("given", "“given:” belongs to an “answer: …”. Without one the answer to the step’s question stands here.")
    if name and name not in ANSWERS:
        row.refuse("answer", f"The answer {quoted(name)} cannot be computed. It is one of {', '.join(sorted(ANSWERS))}.")
    if name and (complaint := check_given(name, given)):
        row.refuse("given" if given else "answer", complaint)
    return Number(values["of"], str(values["number"]), values.get("unit", ""), name, freeze(given))


def freeze(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer's arguments in a hashable form, so that answers can be cached."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
