"""Names of models on the Hub and of folders, and the words of strangers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import ModelError
from models.huggingface.names import HubName, is_folder_name, short
from tests.models.huggingface.folders import refusal


def test_what_is_a_folder():
    assert all(map(is_folder_name, ["/x", "./x", "../x", "~/x", "C:\\x", "\\\\host\\x", ".", ".."]))
    assert not any(map(is_folder_name, ["gpt2", "owner/name", "x.y", "", ".hidden", "a\\b"]))


def test_names_on_the_hub():
    assert HubName.parse("gpt2") == HubName("gpt2")
    assert HubName.parse("a-b/c.d_e@refs/pr/1") == HubName("a-b/c.d_e", "refs/pr/1")


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "a b",
        "a/b/c",
        "..",
        "../../etc",
        "a/../b",
        "a@",
        "a@b c",
        "a@../x",
        "@x",
        "-x",
        "x" * 5000,
        "a\x00b",
        "käse",
        "a--b",
    ],
)
def test_nonsense_is_no_name(name):
    refusal(name)


@given(st.text(max_size=200))
def test_any_text_is_a_folder_a_name_or_refused(text):
    if not is_folder_name(text):
        try:
            parsed = HubName.parse(text)
        except ModelError as error:
            assert str(error).isprintable()
        else:
            assert text == parsed.repository + (f"@{parsed.revision}" if parsed.revision else "")
            assert ".." not in text and " " not in text


@given(st.text())
def test_words_of_strangers_are_made_short_and_plain(text):
    assert short(text).isprintable() and len(short(text)) <= 60
