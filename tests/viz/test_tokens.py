"""What stands for a token on screen can be seen, whatever the token is."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from models.tokens import Token
from viz.tokens import is_fragment, label, listed, named, pieces, plain_name, plain_sign, plain_signs, reading_pieces, row_names

TEXTS = st.text(st.characters(exclude_categories=()), max_size=12)  # every code point, lone surrogates too


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("The", "The"),
        (" dog", "·dog"),
        ("   ", "···"),
        ("end ", "end·"),
        ("two words", "two words"),
        ("\n", "↵"),
        ("\n\n", "↵↵"),
        ("\t", "⇥"),
        ("\x00", "␀"),
        ("\x1b[", "␛["),
        ("\x7f", "␡"),
        ("\x85", "U+0085"),
        ("\u200d", "U+200D"),
        (" \u202eabc", "·U+202Eabc"),
        ("❤\ufe0f", "❤U+FE0F"),
        ("\ufeff", "U+FEFF"),
        ("\u00a0", "U+00A0"),
        ("\u2028", "U+2028"),
        ("\ud800", "U+D800"),
        ("\u0301", "◌\u0301"),
        ("e\u0301", "e\u0301"),
        (" <0xF0>", "·<0xF0>"),
        ("\ufffd", "\ufffd"),
        ("<b>", "<b>"),
        ("", ""),
    ],
)
def test_what_cannot_be_seen_is_written_out(text, written):
    assert label(text) == written


def invisible(character: str) -> bool:
    known_signs = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
    category = unicodedata.category(character)
    return (
        category in ("Cc", "Cs", "Zl", "Zp")
        or (category == "Cf" and character not in known_signs)
        or (category == "Zs" and character != " ")
    )


@given(TEXTS)
@example("\ud83d")
@example("\U000e0041\u3164\u034f")
def test_a_label_is_never_empty_and_hides_nothing(text):
    written = label(text)
    assert bool(written) == bool(text)
    assert not any(invisible(character) for character in written)
    assert written == written.strip(" ")
    assert ("\ufffd" in written) == ("\ufffd" in text)
    written.encode("utf-8")  # no lone surrogate is left


@given(TEXTS)
def test_two_texts_without_our_own_signs_never_share_a_label(text):
    doubt = re.search(r"U\+[0-9A-F]{4,6}[0-9A-F]", label(text))
    if doubt:  # "U+200D" before an "A", of which the label does not say where the number ends
        return
    if not set(text) & set("·↵⇥◌U+") and not any(0x2400 <= ord(c) <= 0x2421 for c in text):
        back = re.sub(r"U\+([0-9A-F]{4,6})", lambda m: chr(int(m[1], 16)), label(text).replace("◌", ""))
        back = back.replace("·", " ").replace("↵", "\n").replace("⇥", "\t")
        back = re.sub("[\u2400-\u2421]", lambda m: chr(0x7F if m[0] == "\u2421" else ord(m[0]) - 0x2400), back)
        assert back == text


@given(TEXTS)
def test_pieces_alternate_and_make_up_the_label(text):
    parts = pieces(text)
    assert "".join(parts) == label(text)
    assert all(parts[1:])
    assert "".join(parts[0::2]) == "" or set("".join(parts[0::2])) <= set(text)


@given(TEXTS)
def test_a_paragraph_keeps_its_spaces_and_breaks_and_hides_no_control(text):
    parts = reading_pieces(text)
    own = "".join(parts[0::2])
    assert [c for c in own if c in " \n\t"] == [c for c in text if c in " \n\t"]
    assert not any(invisible(c) for c in own if c not in "\n\t\u200c\u200d\ufe0e\ufe0f")
    "".join(parts).encode("utf-8")


def test_a_joined_emoji_stays_joined_in_the_paragraph_only():
    family = "👩\u200d👩\u200d👧"
    assert reading_pieces(family) == [family]
    assert label(family) == "👩U+200D👩U+200D👧"
    assert reading_pieces("\u200d") == ["", "U+200D"]


def test_fragments_are_known_by_their_text():
    assert is_fragment("<0xF0>") and is_fragment(" <0xF0><0x9F>")
    assert not is_fragment("<0xF0> dog") and not is_fragment("dog")


@pytest.mark.parametrize("text", [" ", "   ", "\n", "\n\n", "\t", "\u00a0", "\u200b", " \n", "\r\n"])
def test_a_blank_inside_a_sentence_is_seen(text):
    """“ ” would read as nothing at all."""
    assert named(text).strip() and not any(character.isspace() for character in named(text))


def test_a_word_inside_a_sentence_is_without_its_space():
    assert named(" dog") == "dog" and named("dog") == "dog" and named(" dog\n") == "dog↵"


def sign(text: str, at: int = 0, **more) -> Token:
    return Token(0, text, at, at, special=True, **more)


@pytest.mark.parametrize(
    ("first", "last"),
    [("<|start|>", "<|end|>"), ("<s>", "</s>"), ("[CLS]", "[SEP]"), ("</s>", "</s>"), ("<pad>", "</s>"), ("<|endoftext|>", "")],
)
def test_beginners_read_the_signs_of_any_model_as_start_and_end(first, last):
    dog = Token(1, " dog", 0, 3)
    tokens = [sign(first), dog, *([sign(last, 3)] if last else [])]
    assert [token.text for token in plain_signs(tokens)] == ["start", " dog", *(["end"] if last else [])]
    assert [(token.id, token.start, token.special) for token in plain_signs(tokens)] == [
        (token.id, token.start, token.special) for token in tokens
    ]


@given(TEXTS)
def test_what_was_typed_and_signs_that_say_more_stay_as_they_are(text):
    typed = [Token(0, text, 0, 3), Token(0, "[MASK]", 4, 10, special=True), Token(0, "<|start|>", 11, 20), sign("__fr__", 20)]
    assert plain_signs(typed) == typed


def test_the_rows_of_cross_attention_name_the_start_in_words():
    start, le = sign("<|start|>"), Token(1, "Le", 0, 2)
    rows = [Token(1, "Le", 0, 2, after=start), sign("what comes next", 2, after=le)]
    assert row_names(plain_signs(rows)) == ["after start, choosing “Le”", "after “Le”, choosing what comes next"]


def test_what_a_window_cuts_off_is_not_taken_for_the_start():
    assert [token.text for token in plain_signs([sign("</s>", 9)], first=False)] == ["end"]


def test_beginners_read_the_same_name_of_the_end_in_a_text_and_among_the_guesses():
    guesses = ("</s>", "<|end|>", " dog", "<|start|>", "end.")
    assert [plain_sign(text) for text in guesses] == ["end", "end", " dog", "<|start|>", "end."]
    assert [plain_name(text) for text in guesses] == ["end", "end", " dog", "start", "end."]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<0xC3>", "part of a character (byte C3)"),
        (" <0xE2><0x80>", "·part of a character (bytes E2 80)"),
        (" dog", "·dog"),
        ("é<0xC3>", "épart of a character (byte C3)"),
        ("<0x>", "<0x>"),
    ],
)
def test_a_menu_names_bytes_in_words(text, words):
    assert listed(text) == words
    assert listed(text, fragment=False) == label(text)


def test_beginners_read_a_token_of_bytes_as_a_part_of_a_character():
    tokens = [Token(1, "<0xC3>", 0, 1, fragment=True), Token(2, " <0xC3>", 1, 7)]
    assert [token.text for token in plain_signs(tokens)] == ["part of a character", " <0xC3>"]


def test_a_beginner_reads_no_byte_among_the_guesses():
    guesses = ["<0xC3>", " <0xE2><0x80>", " dog", "<0xC3> dog"]
    assert [plain_sign(text) for text in guesses] == ["part of a character", "part of a character", " dog", "<0xC3> dog"]
