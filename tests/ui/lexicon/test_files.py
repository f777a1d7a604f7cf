"""The file of the lexicon is read as it is written, and what is wrong with it is said with its line and what to do."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import FileError
from tests.serving import ROOT
from ui import state
from ui.lexicon import files, follow
from ui.lexicon.files import parse

TOKEN = "## token\n\n```yaml\nsee: {page: type}\nlesson: tokens\nalso: [chip]\n```\n\n**Beginner.** A piece of text.\n"


def with_block(*lines: str) -> str:
    return "## token\n\n```yaml\n" + "\n".join(lines) + "\n```\n\n**Beginner.** A piece of text.\n"


def test_a_level_that_is_left_out_says_what_the_one_below_says():
    entry = parse(f"Words before the first.\n\n{TOKEN}**Expert.** More\nof it.\n")["token"]
    assert entry.meanings == ("A piece of text.", "A piece of text.", "More of it.")
    assert (entry.title, entry.also, dict(entry.see), entry.lesson) == ("token", ("chip",), {"page": "type"}, "tokens")
    assert files.LEVELS == state.LEVELS


def test_what_ships_leads_somewhere_and_says_more_to_an_expert():
    entries = files.entries()
    follow.check(entries)
    assert 55 <= len(entries) <= 90
    assert all(entry.see for entry in entries.values())
    assert sum(entry.meanings[0] != entry.meanings[1] != entry.meanings[2] for entry in entries.values()) > 0.9 * len(entries)


WRONG = {
    "no entry": ("Words alone.", 1, "There is no entry."),
    "no sentence": ("## token\n", 1, "needs “**Beginner.** …”"),
    "no beginner": ("## token\n\n**Expert.** A piece.\n", 1, "needs “**Beginner.** …”"),
    "words of no level": ("## token\n\nA piece.\n", 1, "begins with its level"),
    "a level that does not exist": ("## token\n\n**Teacher.** A piece.\n", 1, "They are Beginner, Intermediate and Expert."),
    "a level twice": (TOKEN + "**Beginner.** Again.\n", 1, "stands here twice"),
    "no full stop": ("## token\n\n**Beginner.** A piece\n", 1, "ends with its full stop"),
    "too long": (f"## token\n\n**Beginner.** {'word ' * 100}.\n", 1, "Make it shorter"),
    "Markdown": ("## token\n\n**Beginner.** A *piece*.\n", 1, "plain text"),
    "a word twice": (f"{TOKEN}\n{TOKEN}", 11, "stands here twice"),
    "a form of two words": (f"{TOKEN}\n## chip\n\n**Beginner.** A chip.\n", 11, "already stands for “token”"),
    "an unknown fact": (with_block("page: type"), 4, "An entry has no “page”."),
    "a fact of another kind": (with_block("lesson: tokens", "also: chip"), 5, "“also:” needs a list"),
    "broken YAML": (with_block("lesson: tokens", "see: a: b"), 5, "It cannot be read: "),
    "a value that is no date, as it says": (with_block("title: !!timestamp x"), 4, "It cannot be read."),
    "half of a sign": (with_block("lesson: tokens", 'title: "\\ud83d"'), 5, "Here stands half of a sign."),
    "a heading that does not print": ("## a\x85b\n", 1, "“a b” needs “**Beginner.** …”"),
    "a page that does not exist": (with_block("see: {page: heds}"), 4, "The page “heds” does not exist."),
    "a choice that does not exist": (with_block("lesson: tokens", "see: {page: type, veiw: Head}"), 5, "no choice “veiw”"),
    "a place without a page": (with_block("see: {view: Head}"), 4, "“see:” needs a page"),
    "a lesson that does not exist": (with_block("lesson: heds"), 4, "There is no lesson “heds”."),
}


@pytest.mark.parametrize("text, line, words", WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_with_its_line(text, line, words):
    with pytest.raises(FileError) as refusal:
        follow.check(parse(text, "en.md"))
    assert words in str(refusal.value) and str(refusal.value).startswith(f"en.md, line {line}: ")


@given(st.text(max_size=300), st.integers(0, 4))
def test_whatever_a_file_holds_it_is_a_lexicon_or_a_sentence(text, where):
    pieces = ["## token\n\n", "```yaml\nlesson: ", "tokens\n```\n", "**Beginner.** A piece.\n"]
    pieces.insert(where, text)
    try:
        follow.check(parse("".join(pieces)))
    except FileError as error:
        assert error.sentence.endswith((".", "”"))


def test_a_translation_changes_what_is_said_and_not_where_it_leads(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_LESSONS", str(tmp_path))
    (tmp_path / "lexicon").mkdir()
    (tmp_path / "lexicon" / "fr.md").write_text("## token\n\n```yaml\ntitle: jeton\n```\n\n**Beginner.** Un morceau.\n", "utf-8")
    assert files.languages() == ["en", "fr"]
    first, other = files.entries()["token"], files.entries("fr")["token"]
    assert (other.title, other.meanings[0], other.word, other.see) == ("jeton", "Un morceau.", "token", first.see)
    assert files.entries("fr")["layer"] == files.entries()["layer"], "what is not translated stays"
    (tmp_path / "lexicon" / "fr.md").write_text("## jeton\n\n**Beginner.** Un morceau.\n", "utf-8")
    with pytest.raises(FileError, match="The heading of a translation is the English word"):
        files.entries("fr")


def test_the_check_of_a_folder_says_what_is_wrong_and_where(tmp_path):
    (tmp_path / "lexicon").mkdir()
    (tmp_path / "lexicon" / "en.md").write_text(with_block("lesson: heds"), "utf-8")
    check = [sys.executable, str(ROOT / "bin" / "check_lessons.py"), str(tmp_path)]
    ran = subprocess.run(check, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 1 and "en.md, line 4: There is no lesson “heds”." in ran.stdout
