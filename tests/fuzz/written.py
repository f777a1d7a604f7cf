"""Files that a teacher writes: lessons, courses and words to know, by a grammar and with damage."""

from __future__ import annotations

import inspect
import os
import tempfile
from pathlib import Path

from hypothesis import strategies as st

import models
from analysis.answer_checks import Numbers
from analysis.true_answers import ANSWERS
from models.errors import FileError
from tests.fuzz.texts import TEXT
from tests.fuzz.watching import is_refusal, is_sentence, refused, watched
from tests.pages.opening import open_given, wait
from tests.serving import ROOT
from ui import state
from ui.lessons import answers, files
from ui.lessons.files import FACTS
from ui.lexicon import files as lexicon
from ui.lexicon import follow

SHIPPED = {file.stem: file.read_text("utf-8") for file in sorted((ROOT / "lessons").glob("*.md"))}
WORDS = (ROOT / "lessons" / "lexicon" / "en.md").read_text("utf-8").split("\n## ")
# What YAML reads as something else than a text, or not at all.
ODD = [
    "",
    "~",
    "null",
    "yes",
    "No",
    "1",
    "-1",
    "0",
    "0x1F",
    "0o17",
    "1_000",
    "1e3",
    "1e999",
    ".inf",
    ".nan",
    "1:30",
    "2024-02-30",
    "2024-01-01",
    "9" * 30,
    "9" * 5000,
    "[",
    "]",
    "{",
    "}",
    "[]",
    "{}",
    "[1, [2]]",
    "{a: 1}",
    "{a: {b: [c]}}",
    "[[[[[]]]]]",
    "*a",
    "&a b",
    "&a [*a]",
    "!!python/object:os.system x",
    "!!binary aGk=",
    "!!set {a}",
    "!!float x",
    "!!int x",
    "!!timestamp x",
    "!x y",
    '"\\ud800"',
    '"\\0"',
    '"\\x1b[31m"',
    "'",
    '"',
    "|",
    ">",
    "%",
    "@",
    "`",
    "a: b",
    "a # b",
    "- a",
    "? a",
    "<<: {a: 1}",
    "---",
    "...",
    "\t",
    "\0",
    "\x85",
    "\u2028",
    "\ufeff",
    "\ud800",
    "L2",
    "H99",
    "L-1",
    "true",
    "Head",
    "٣",
    "²",
    "½",
]
ODDLY = st.one_of(st.sampled_from(ODD), TEXT)
SELDOM = (
    60  # once in so many places, so that most files have one thing wrong or nothing, and more of them is tried than their parser
)


def mostly(*right: str, seldom: int = SELDOM) -> st.SearchStrategy[str]:
    """One of these, and now and then something odd."""
    return st.integers(1, seldom).flatmap(lambda at: ODDLY if at == seldom // 2 else st.sampled_from(right))


KEYS = {key.name: key for key in state.linked_keys()}
CHOICE = mostly(*KEYS, "build-layers", "train-steps", "generate-top-k")
BY_KIND = {bool: ["true", "false"], int: ["1", "3"], float: ["0.5", "2"], str: ["The cat", "1", '"..."', "a [MASK]"]}
RIGHT = {
    name: [str(value) for value in key.values] or BY_KIND.get(type(key.default), ["1", "3", "L1"]) for name, key in KEYS.items()
}
RIGHT |= {"layer": ["L2", "L0", "5"], "head": ["H1", "0", "H7"]}


@st.composite
def lines(draw: st.DrawFn) -> str:
    """One choice of a step: its name, and a value that it may have or one that is odd."""
    name = draw(CHOICE)
    return f"{name}: {draw(mostly(*RIGHT.get(name, ['1', '3'])))}"


GIVEN = [
    "layer",
    "head",
    "kind",
    "word",
    "first",
    "second",
    "without",
    "beside",
    "of",
    "places",
    "shown",
    "heads",
    "token",
    "at",
    "from",
    "with",
    "count",
]


# What an answer takes, by the kind that it names; the last ones of each are of that kind, and lead nowhere in most texts.
TAKEN: dict[object, list[str]] = {
    str: ["cat", "sat", "self", "h1.2", "every", "'-1'", "dog", "layer", "'0'", "no such"],
    int: ["0", "1", "3", "-1", "2", "99", "1000000000"],
    int | None: ["0", "1", "~", "-1", "99"],
    float: ["0.5", "1", "0", "-1.5", "1e3"],
    bool: ["true", "false"],
    Numbers: ["[0, 1]", "[1]", "[0.5, 2, 3]", "[]", "[-1, 99]"],
}


@st.composite
def questions(draw: st.DrawFn) -> str:
    """A question by its grammar. Most of what it gives to its answer is of the kind that the answer takes."""
    answer = draw(mostly(*ANSWERS))
    takes = list(inspect.signature(ANSWERS[answer]).parameters.values())[2:] if answer in ANSWERS else []
    own = {
        parameter.name.rstrip("_"): TAKEN[kind_of(parameter)]
        for parameter in takes
        if parameter.default is parameter.empty or draw(st.booleans())
    }
    if draw(st.integers(1, SELDOM)) == SELDOM // 2:
        own |= {name: ["1", "cat"] for name in draw(st.lists(st.sampled_from(GIVEN), max_size=3))}
    notices = ["  ask: What?", f"  answer: {answer}"]
    if own:
        notices.append("  given: {" + ", ".join(f"{name}: {draw(mostly(*values))}" for name, values in own.items()) + "}")
    for name, right in (("expect", "2"), ("hint", "No."), ("show", "{layer: 1}")):
        if draw(st.integers(0, 5)) == 0:
            notices.append(f"  {name}: {draw(mostly(right))}")
    if draw(st.integers(1, SELDOM)) == SELDOM // 2:
        notices.append(f"  {draw(st.sampled_from(['other', 'given', 'ask']))}: {draw(ODDLY)}")
    return "question:\n" + "\n".join(draw(st.permutations(notices)))


def kind_of(parameter: inspect.Parameter) -> object:
    """Return what an answer declares that it needs, from the register of `analysis.answer_checks`."""
    assert parameter.annotation in TAKEN, f"nothing is tried for {parameter}"
    return parameter.annotation


@st.composite
def published(draw: st.DrawFn) -> str:
    """Numbers of a paper beside those measured here, with few things wrong."""
    rows = []
    for _ in range(draw(st.integers(1, 2))):
        row = [f"of: {draw(mostly('heads'))}", f"number: {draw(mostly('94.3', '0.71 ± 0.24'))}"]
        row.append(draw(mostly("answer: number of tokens", "answer: probability", "answer: size of the vocabulary")))
        row += ["unit: '%'"] if draw(st.booleans()) else []
        if draw(st.integers(1, SELDOM)) == SELDOM // 2:
            row.append(draw(st.sampled_from(["given: {layer: 1}", "answer: heads that look", "x: 1"])))
        rows.append("    - " + "\n      ".join(row))
    notices = ["  source: A paper", "  numbers:\n" + "\n".join(rows), f"  differ: {draw(mostly('Another model.'))}"]
    return "published:\n" + "\n".join(draw(st.permutations(notices)))


@st.composite
def steps(draw: st.DrawFn) -> str:
    block = [f"page: {draw(mostly(*files.PAGES))}"]
    block += draw(st.lists(lines(), max_size=3))
    if draw(st.booleans()):
        block.append(draw(questions()))
    if not draw(st.integers(0, 4)):
        block.append(draw(published()))
    words = draw(mostly("Read this.", "A [token](#w-token).", "**Look** at it.", seldom=8))
    if draw(st.integers(1, SELDOM)) == SELDOM // 2:
        words += " ![x](//a.b/c)"
    return f"## {draw(mostly('Look', 'Two', 'Three', seldom=8))}\n\n```yaml\n" + "\n".join(block) + f"\n```\n\n{words}\n\n"


@st.composite
def grown(draw: st.DrawFn) -> str:
    """A lesson by its grammar, with few things wrong."""
    facts = {
        "title": "A lesson",
        "minutes": "5",
        "level": draw(st.sampled_from(state.LEVELS)),
        "model": draw(st.sampled_from(models.names())),
    }
    if draw(st.integers(1, 12)) == 6:
        facts[draw(st.sampled_from([*FACTS, "about", "order", "group", "author", "1", "~"]))] = draw(ODDLY)
    header = "".join(f"{name}: {value}\n" for name, value in facts.items())
    return f"---\n{header}---\n" + "".join(draw(st.lists(steps(), min_size=1, max_size=3)))


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """A text of which a few lines or signs are gone, twice there, in another place, or something else."""
    for _ in range(draw(st.sampled_from([1, 1, 1, 1, 2, 3]))):
        rows = text.split("\n")
        at, to = draw(st.integers(0, len(rows) - 1)), draw(st.integers(0, len(rows) - 1))
        match draw(st.sampled_from(["cut", "twice", "moved", "sign", "value", "indent", "inserted"])):
            case "cut":
                del rows[at]
            case "twice":
                rows.insert(to, rows[at])
            case "moved":
                rows[at], rows[to] = rows[to], rows[at]
            case "sign":
                place = draw(st.integers(0, len(rows[at])))
                rows[at] = rows[at][:place] + draw(st.characters()) + rows[at][place + 1 :]
            case "value":
                rows[at] = rows[at].partition(":")[0] + ": " + draw(ODDLY)
            case "indent":
                rows[at] = draw(st.sampled_from([" ", "    ", "\t"])) + rows[at]
            case _:
                rows.insert(at, draw(ODDLY))
        text = "\n".join(rows)
    return text


def lessons() -> st.SearchStrategy[str]:
    return st.one_of(grown(), grown(), st.sampled_from(sorted(SHIPPED)).flatmap(lambda name: damaged(SHIPPED[name]))).map(whole)


def whole(text: str) -> str:
    """Without halves of signs, which no file in UTF-8 has."""
    return text.encode("utf-8", "replace").decode()


def check_refusal(error: FileError, text: str) -> None:
    assert 1 <= error.line <= text.count("\n") + 1, error
    assert is_sentence(str(error)), error


def tried_lesson(text: str) -> bool:
    """Whether a lesson was refused; of one that was not, each step has what a page and its link need."""
    with watched():
        try:
            lesson = files.parse(text, "fuzz", "fuzz.md")
        except FileError as error:
            check_refusal(error, text)
            return True
        repr(lesson).encode()
        for number, step in enumerate(lesson.steps, 1):
            assert set(step.link) >= {"level"} or number > 1
            lesson.model_at(number)
            "".join([lesson.title, step.title, step.words, *step.link, *step.link.values()]).encode()
    return False


def asking() -> st.SearchStrategy[str]:
    """Lessons with little wrong but in their questions."""
    step = st.builds(
        "## Look\n\n```yaml\npage: type\ntext: {}\n{}\n```\n\nRead.\n".format,
        st.sampled_from(["The cat", "I am", '"..."']),
        questions(),
    )
    header = "---\ntitle: A lesson\nminutes: 5\nlevel: expert\nmodel: {}\n---\n".format
    return st.builds("".join, st.tuples(st.sampled_from(models.names()).map(header), step)).map(whole)


def asked(text: str) -> bool:
    """Whether a lesson, or the question of a lesson that can be read, was refused; else the question has an answer."""
    with watched():
        try:
            return asked_of(files.parse(text, "fuzz", "fuzz.md"), 1)
        except FileError as error:
            check_refusal(error, text)
            return True


def asked_of(lesson: files.Lesson, number: int) -> bool:
    """Whether what a page does with a question ends in a sentence."""
    asked = lesson.steps[number - 1].question
    assert asked is not None
    link, model = lesson.steps[number - 1].link, lesson.model_at(number)
    text = tuple(link.get(key.name, key.default)[:300] for key in (state.TEXT, state.TARGET))
    try:
        right = answers.compute_answer(model, None, asked.answer, text, tuple(asked.given.items()))
    except ValueError as error:
        if not is_refusal(error):
            raise
        return True
    answers.in_words(right.value)
    right.accepts(right.choices[0] if right.choices else 1.0)
    return False


def shown_lessons() -> st.SearchStrategy[tuple[str, str]]:
    return st.tuples(lessons(), st.sampled_from(["lessons", "type", "attention"]))


def shown_lesson(case: tuple[str, str]) -> bool:
    """A lesson's file in a folder of a teacher's own, listed on page Lessons or opened beside a page."""
    text, page = case
    with tempfile.TemporaryDirectory() as folder, watched():
        Path(folder, "fuzz.md").write_bytes(text.encode("utf-8", "surrogatepass"))
        before = os.environ.get("HEADLIGHT_LESSONS")
        os.environ["HEADLIGHT_LESSONS"] = folder
        try:
            given = {"text": "The cat sat"} if page == "lessons" else {"lesson": "fuzz", "step": "1", "text": "The cat sat"}
            return refused(wait(open_given(page, given)))
        finally:
            os.environ.pop("HEADLIGHT_LESSONS") if before is None else os.environ.update({"HEADLIGHT_LESSONS": before})


ENTRY = {
    "also": ("[chip]", "[chips, '1']", "[]"),
    "unless": ("[a b]", "[chip of]"),
    "title": ("jeton", "'1'"),
    "lesson": ("tokens", "heads"),
    "see": ("{page: type, layer: 2}", "{page: attention, head: H1}", "{page: build}"),
}


@st.composite
def entries(draw: st.DrawFn) -> str:
    """A few words to know by their grammar, with few things wrong."""
    results = []
    for word in draw(st.lists(st.sampled_from(["token", "head", "key", "query"]), min_size=1, max_size=3, unique=True)):
        names = draw(st.lists(st.sampled_from([*ENTRY]), max_size=3, unique=True))
        block = [f"{name}: {draw(mostly(*ENTRY[name], seldom=20))}" for name in names]
        if draw(st.integers(1, SELDOM)) == SELDOM // 2:
            block.append(f"{draw(st.sampled_from(['page', 'also', 'other']))}: {draw(ODDLY)}")
        levels = ["Beginner", *draw(st.lists(st.sampled_from(["Intermediate", "Expert"]), max_size=2, unique=True))]
        if draw(st.integers(1, SELDOM)) == SELDOM // 2:
            levels = draw(st.lists(st.sampled_from(["Beginner", "Expert", "Teacher"]), max_size=3))
        meanings = "".join(f"**{level}.** {draw(mostly('A piece of text.', 'Is it one?', seldom=15))}\n\n" for level in levels)
        heading = draw(mostly(word, seldom=15))
        results.append(f"## {heading}\n\n```yaml\n" + "\n".join(block) + f"\n```\n\n{meanings}")
    return "\n".join(results)


def lexicons() -> st.SearchStrategy[str]:
    some = st.lists(st.sampled_from(WORDS[1:]), min_size=1, max_size=3).map(
        lambda parts: "".join(f"## {part}\n" for part in parts)
    )
    return st.one_of(entries(), some.flatmap(damaged)).map(whole)


def tried_lexicon(text: str) -> bool:
    """Whether a file of words was refused; of one that was not, every word leads somewhere."""
    with watched():
        try:
            result = lexicon.parse(text, "en.md")
            follow.check(result)
        except FileError as error:
            check_refusal(error, text)
            return True
        for entry in result.values():
            "".join([entry.word, entry.title, *entry.also, *entry.unless, *entry.meanings]).encode()
            if entry.see:
                page, link = follow.place_of(entry)
                "".join([page, *link.values()]).encode()
    return False
