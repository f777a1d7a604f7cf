"""Files that ask for minutes or gigabytes in a few lines are refused with a sentence, by their line."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from models.errors import FileError
from ui.lexicon.files import Entry, values_of
from ui.written import DEEPEST, DIGITS, NAMES, mapping

LEVELS = list(zip("abcdef", "bcdefg", strict=True))  # each repeats the one before nine times
REPEATED = "&a [x,x,x,x,x,x,x,x,x]" + "".join(f", &{name} [{','.join([f'*{before}'] * 9)}]" for before, name in LEVELS)
MERGED = "a: &a {k: v}\n" + "".join(f"{name}: &{name} {{<<: [{','.join([f'*{before}'] * 9)}]}}\n" for before, name in LEVELS)
DEEP = "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"page: [{REPEATED}]", "repeats itself too often"),
        (MERGED, f"more than {NAMES:,} names"),
        (f"text: {DEEP}", f"more than {DEEPEST} deep"),
        ("layer: 0x" + "f" * 300, f"more than {DIGITS} digits"),
        ("layer: " + "1:" * 3000 + "1", f"more than {DIGITS} digits"),
        ("layer: " + "1" * 5000, "It cannot be read"),
    ],
)
def test_what_asks_for_too_much_is_refused_with_a_sentence(text, why):
    with pytest.raises(FileError, match=why) as refusal:
        mapping(text, "hostile.md", 3)
    assert str(refusal.value).startswith("hostile.md, line ") and len(str(refusal.value)) < 400


@given(
    st.dictionaries(
        st.text("abc", min_size=1),
        st.recursive(st.integers(-9, 9) | st.text("xyz [{", max_size=4), st.lists, max_leaves=5),
        max_size=4,
    )
)
def test_what_people_write_is_read_as_yaml_has_it(values):
    assert mapping(yaml.safe_dump(values), "lesson.md", 1) == values


def test_a_few_names_may_be_repeated():
    words = mapping("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: [*a, *a]", "lesson.md", 1)
    assert words["b"] == {"x": 1, "y": 3} and words["c"] == [words["a"]] * 2


def test_a_word_to_know_is_read_in_the_same_way():
    entry = Entry("word", "word", (), (), ("", "", ""), file="words.md", line=1, block="", begins=2)
    with pytest.raises(FileError, match="repeats itself too often"):
        values_of(entry, f"also: [{REPEATED}]")
