"""Every kind of tokenizer says what its tokens are and where they stood, and gives the ids that transformers gives."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import transformers
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from models.huggingface.offsets import align
from models.huggingface.text import TextTokens
from models.reading.languages import language_of
from tests.grids import grid
from tests.models.huggingface.families import FAMILIES, TRICKY, folder, llama

SHARED = Path(__file__).parents[4] / "shared"
needs_shared = pytest.mark.skipif(not SHARED.exists(), reason="the large tokenizers and texts are not in the repository")


@pytest.fixture(scope="session")
def workshop(tmp_path_factory) -> Path:
    return folder(tmp_path_factory.mktemp("tokenizers"))


BYTE_LEVEL = [name for name in FAMILIES if name.startswith(("GPT-2", "RoBERTa"))]
OF_BYTES = ["ByT5", "Perceiver"]
LOSSLESS = [*BYTE_LEVEL, *OF_BYTES, "CANINE"]


@pytest.fixture(scope="session")
def make(workshop) -> Callable[[str], TextTokens]:
    return cache(lambda name: TextTokens(FAMILIES[name](workshop)))


@pytest.fixture(scope="session", params=grid(FAMILIES, [*FAMILIES][::3]))
def family(request, make) -> TextTokens:
    return make(request.param)


@pytest.fixture(scope="session", params=LOSSLESS)
def lossless(request, make) -> TextTokens:
    return make(request.param)


anything = st.lists(st.sampled_from(TRICKY) | st.characters(codec=None), max_size=12).map("".join)
examples = settings(max_examples=40, deadline=None)
pytestmark = pytest.mark.filterwarnings("ignore:This sequence already has")  # ByT5 and SigLIP about "</s>" that was typed


def readable(text: str) -> str:
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def names_its_language(vocabulary: TextTokens, text: str) -> bool:
    """Whether a text begins with the sign of a language, and is then read in that one: see test_languages.py."""
    return bool(language_of(readable(text), vocabulary.languages)[0])


@examples
@given(text=anything, second=st.none() | anything)
def test_ids_are_those_of_transformers(family, text, second):
    texts = [readable(part) for part in (text, second) if part is not None]
    assume(second is not None or not names_its_language(family, text))
    assert [token.id for token in family.tokens(text, second)] == list(family.tokenizer(*texts)["input_ids"])


@examples
@given(text=anything)
def test_target_ids_are_those_of_transformers_without_the_end(family, text):
    assume(not names_its_language(family, text))
    ids = list(family.tokenizer(text_target=readable(text))["input_ids"])
    if ids and ids[-1] == family.tokenizer.eos_token_id:
        ids.pop()
    assert [token.id for token in family.target(text)] == ids


@examples
@given(text=anything, second=anything)
def test_offsets_never_decrease_and_lie_within_their_text(family, text, second):
    tokens = family.tokens(text, second)
    for segment, typed in enumerate((text, second)):
        own = [token for token in tokens if token.segment == segment]
        assert all(0 <= token.start <= token.end <= len(typed) for token in own)
        assert all(a.start <= b.start and a.end <= b.end for a, b in itertools.pairwise(own))


@examples
@given(text=anything)
def test_a_token_is_what_its_id_stands_for(family, text):
    for token in family.tokens(text):
        assert (token.text, token.fragment) == family.text(token.id)
        assert token.special == (token.id in family.special)


@examples
@given(text=anything)
def test_where_no_text_is_lost_the_tokens_cover_all_of_it(lossless, text):
    tokens = lossless.tokens(text)
    covered = {i for token in tokens for i in range(token.start, token.end)}
    missing = "".join(character for i, character in enumerate(text) if i not in covered)
    assert not missing.strip(), "only special tokens may swallow something, and only the spaces around them"
    assert not missing or any(token.special and token.start < token.end for token in tokens)


@examples
@given(text=anything)
def test_where_no_text_is_lost_a_token_spells_its_stretch(lossless, text):
    typed = readable(text)
    for token in lossless.tokens(text):
        if token.special or token.fragment:
            continue
        stretch = typed[token.start : token.end]
        assert stretch == token.text or " " + stretch == token.text, "a prefix space was not typed"


@examples
@given(text=st.text(st.characters(exclude_characters="<[", codec="utf-8"), max_size=40))  # with which special tokens begin
@pytest.mark.parametrize("name", OF_BYTES)
def test_a_byte_has_the_offsets_of_its_character(make, name, text):
    tokens = [token for token in make(name).tokens(text) if not token.special]
    assert [(token.start, token.end) for token in tokens] == [(i, i + 1) for i, c in enumerate(text) for _ in c.encode()]
    assert [token.fragment for token in tokens] == [not c.isascii() for c in text for _ in c.encode()]


@pytest.mark.parametrize("name", ["Llama", "SentencePiece with bytes", "Llama, of a .model"])
def test_byte_fallback_has_the_offsets_of_its_character(make, name):
    text = "cat 語🦕 cat"
    fragments = [token for token in make(name).tokens(text) if token.fragment]
    assert "".join(token.text for token in fragments) == "".join(f"<0x{byte:02X}>" for byte in "語🦕".encode())
    assert [text[token.start : token.end] for token in fragments] == ["語"] * 3 + ["🦕"] * 4


def test_a_byte_that_is_a_character_is_no_fragment(make):
    newline = next(token for token in make("Llama").tokens("a\nc") if token.start == 1)
    assert (newline.text, newline.end, newline.fragment) == ("\n", 2, False)


@examples
@given(text=anything)
@example(text="<mask>the")
@example(text="<unk>猫")
def test_trimmed_offsets_come_back(make, text):
    for plain, trimmed in (("RoBERTa", "RoBERTa, trimmed"), ("RoBERTa, prefixed", "RoBERTa, prefixed and trimmed")):
        assert make(plain).tokens(text) == make(trimmed).tokens(text)


@pytest.fixture(scope="session")
def writers(writer) -> TextTokens:
    backend = Tokenizer.from_str(writer.vocabulary.tokenizer.to_str())
    return TextTokens(transformers.PreTrainedTokenizerFast(tokenizer_object=backend, split_special_tokens=True))


@settings(max_examples=200, deadline=None)
@given(text=anything)
def test_the_conventions_are_the_writers(writer, writers, text):
    assert writers.tokens(readable(text)) == writer.tokenize(readable(text))[1:]


known = st.lists(
    st.sampled_from(["the", "cat", "dog", "fine", "ﬁne", "Straße", "café", "cafe\u0301", "naïve", "猫", "😀", "mat."]), max_size=8
)


@examples
@given(typed=known, gaps=st.lists(st.sampled_from([" ", "  "]), min_size=8, max_size=8))
@pytest.mark.parametrize("slow, fast", [("BERT, in Python", "BERT"), ("SentencePiece", "T5, of a .model")])
def test_what_is_reconstructed_is_what_a_fast_tokenizer_says(make, slow, fast, typed, gaps):
    text = "".join(word + gap for word, gap in zip(typed, gaps, strict=False))
    pieces = {token.end: token for token in make(fast).tokens(text) if not token.special}
    for token in make(slow).tokens(text):
        same = pieces.get(token.end)
        if same is not None and same.text == token.text:
            assert (token.start, token.end) == (same.start, same.end)
    words = {(match.start(), match.end()) for match in re.finditer(r"\S+", text)}
    for start, end in words:
        inside = [token for token in make(slow).tokens(text) if start < token.end <= end and token.start < token.end]
        assert inside and inside[-1].end == end, "the last token of a word ends where the word ends"


letters = st.characters(categories=["Lu", "Ll", "Lo", "Nd", "Po"])


@examples
@given(text=st.text(letters, max_size=30), form=st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]), lower=st.booleans())
def test_align_finds_each_character_whatever_was_done_to_it(text, form, lower):
    text = "".join(c for c in text if unicodedata.normalize("NFKD", c).strip()[:1].isalnum())
    surfaces = [unicodedata.normalize(form, c.lower() if lower else c).encode() for c in text]
    assert align(surfaces, text) == [(i, i + 1) for i in range(len(text))]


@examples
@given(spelling=st.lists(st.tuples(st.sampled_from(["cat", "dog", "sat"]), st.booleans()), max_size=12))
def test_align_gives_the_gap_to_what_is_unknown(spelling):
    words = [word if known else "γάτα" for word, known in spelling]
    text = " ".join(words)
    starts = [len(" ".join(words[:i])) + (i > 0) for i in range(len(words))]
    surfaces = [word.encode() if known else None for word, known in spelling]
    assert align(surfaces, text) == [(start, start + len(word)) for start, word in zip(starts, words, strict=True)]


def test_a_known_end_is_the_end_of_the_text_whatever_the_unknown_words_before_it_hold():
    assert align([None, None, b"fine"], "ﬁne ﬁne fine ") == [(0, 3), (4, 7), (8, 12)]


def stretches(tokens: TextTokens, text: str) -> list[tuple[str, str]]:
    return [(token.text, text[token.start : token.end]) for token in tokens.tokens(text) if token.start < token.end]


def test_lower_case_and_lost_accents_point_to_what_was_typed(make):
    for name in ("BERT", "BERT, in Python"):
        assert stretches(make(name), "CAT, Cafe\u0301\tDoG")[:1] == [("cat", "CAT")]
        assert stretches(make(name), "CAT, Cafe\u0301\tDoG")[-2:] == [("do", "Do"), ("##g", "G")]
        assert stretches(make(name), "se\u0301 cat")[-2:] == [("##e", "e\u0301"), ("cat", "cat")]
        assert stretches(make(name), "aİß cat")[-3:] == [("##i", "İ"), ("##ß", "ß"), ("cat", "cat")]
    [(text, stretch)] = stretches(make("SentencePiece in lower case"), "CAT!")
    assert (text, stretch) == (" cat", "CAT")


def test_a_space_that_was_typed_belongs_to_the_word_after_it_even_where_that_was_changed(make):
    for name in ("SentencePiece", "T5, of a .model"):
        assert stretches(make(name), "the ｃat")[-1] == (" cat", " ｃat")


def test_a_ligature_that_becomes_two_tokens_is_the_stretch_of_both(make):
    for name in ("SentencePiece", "T5, of a .model"):
        assert [piece for piece in stretches(make(name), "the ﬁ") if piece[1] == "ﬁ"] == [("f", "ﬁ"), ("i", "ﬁ")]


def test_what_a_tokenizer_drops_leaves_the_rest_in_place(make):
    text = "t.h.e.c.a.t.s.a.t"
    stretch_pairs = stretches(make("SentencePiece in lower case"), text)
    assert "".join(piece for piece, _ in stretch_pairs).strip() == "thecatsat"
    assert all(piece.strip() == stretch.replace(".", "") for piece, stretch in stretch_pairs)


def test_an_unknown_word_that_resembles_the_next_keeps_its_place(make):
    assert stretches(make("BERT, in Python"), "ﬁne fine") == [("[UNK]", "ﬁne"), ("fi", "fi"), ("##ne", "ne")]


def test_an_unknown_word_is_special_and_has_its_place(make):
    for name in ("BERT", "BERT, in Python", "words"):
        assert stretches(make(name), "the Ψυχή cat") == [("the", "the"), ("[UNK]", "Ψυχή"), ("cat", "cat")]


@pytest.mark.parametrize("after", [" sat", "\u0301"])
@pytest.mark.parametrize(
    "name, mask",
    [("BERT", "[MASK]"), ("BERT, in Python", "[MASK]"), ("RoBERTa", "<mask>"), ("mBART", "<mask>"), ("words", "[MASK]")],
)
def test_a_mask_that_is_typed_is_the_mask_token(make, name, mask, after):
    tokens, text = make(name), f"the {mask}{after}"
    assert tokens.mask == mask
    [mask_token] = [token for token in tokens.tokens(text) if token.id == tokens.tokenizer.mask_token_id]
    assert mask_token.special and mask_token.text == text[mask_token.start : mask_token.end] == mask


def test_a_special_token_that_is_typed_is_told_from_one_that_is_added(make):
    for name in ("BERT", "BERT, in Python"):
        assert [(t.text, t.start, t.end) for t in make(name).tokens("[CLS]")] == [
            *[("[CLS]", 0, 0), ("[CLS]", 0, 5), ("[SEP]", 5, 5)]
        ]
    assert stretches(make("ByT5"), "<unk>k") == [("<unk>", "<unk>"), ("k", "k")]


def test_a_model_without_a_mask_says_so(make):
    assert make("GPT-2").mask == ""


def test_what_an_encoder_adds_has_no_stretch(make):
    first, *middle, last = make("BERT").tokens("the cat")
    assert (first.text, first.start, first.end, first.special) == ("[CLS]", 0, 0, True)
    assert (last.text, last.start, last.end, last.special) == ("[SEP]", 7, 7, True)
    assert [(token.text, token.start, token.end) for token in middle] == [("the", 0, 3), ("cat", 4, 7)]


def test_the_second_text_counts_its_own_characters(make):
    for name in ("BERT", "BERT, in Python"):
        tokens = make(name).tokens("the cat", "dog")
        assert [(t.text, t.segment, t.start, t.end) for t in tokens] == [
            *[("[CLS]", 0, 0, 0), ("the", 0, 0, 3), ("cat", 0, 4, 7), ("[SEP]", 0, 7, 7)],
            *[("do", 1, 0, 2), ("##g", 1, 2, 3), ("[SEP]", 1, 3, 3)],
        ]


def test_only_those_that_end_the_first_text_join_pairs(make):
    encoders = ["RoBERTa", "BERT", "BERT, in Python", "T5", "ByT5", "Perceiver", "CANINE"]
    assert all(make(name).pairs for name in encoders)
    assert not any(make(name).pairs for name in ("GPT-2", "Llama", "CTRL", "words", "M2M100", "mBART"))


def test_a_start_token_before_each_text_joins_no_pair(workshop):
    tokenizer = llama(workshop)
    tokenizer.add_bos_token = True
    tokens = TextTokens(tokenizer)
    assert [(t.text, t.segment) for t in tokens.tokens("a", "a")] == [
        ("<s>", 0),
        (" ", 0),
        ("a", 0),
        ("<s>", 1),
        (" ", 1),
        ("a", 1),
    ]
    assert not tokens.pairs


def test_the_marks_of_vocabularies(make):
    def texts(name: str, text: str) -> list[str]:
        return [token.text for token in make(name).tokens(text) if not token.special]

    for name in ("GPT-2", "RoBERTa", "Llama", "SentencePiece", "T5, of a .model", "M2M100"):
        assert " cat" in texts(name, "the cat")
    assert texts("BERT", "dog") == ["do", "##g"]
    assert texts("CTRL", "the cat") == ["the", "ca@@", "t"]
    assert texts("CLIP", "cat cat")[-1].endswith("</w>")


def test_a_translator_shared_by_threads_never_mixes_its_languages(make):
    tokens = make("M2M100")
    with ThreadPoolExecutor(4) as pool:
        first = pool.map(lambda i: (tokens.target if i % 2 else tokens.tokens)("the cat")[0].text, range(400))
        assert list(first) == ["__en__", "__fr__"] * 200


def test_an_id_that_no_token_has_is_still_shown(make):
    for name in ("GPT-2", "SentencePiece", "Llama"):
        assert make(name).text(10**6) == ("<unused 1000000>", False)


class LowerCase(transformers.ByT5Tokenizer):
    """Changes the text where `tokenize` does not show it."""

    def _encode_plus(self, text, *rest, **choices):
        return super()._encode_plus(text.lower(), *rest, **choices)


def test_a_tokenizer_that_hides_what_it_does_is_read_by_its_ids():
    assert stretches(TextTokens(LowerCase()), "Añ") == [("a", "A"), ("<0xC3>", "ñ"), ("<0xB1>", "ñ")]


def test_a_text_beyond_a_vocabularys_characters_has_no_tokens_but_places(make):
    assert stretches(make("words"), "🦕 the 🦖")[1] == ("the", "the")


def test_a_word_level_vocabulary_behind_byte_level_splitting_is_read_as_bytes():
    backend = Tokenizer(models.WordLevel({"the": 0, "Ġcat": 1, "Ã©": 2}, unk_token="the"))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens = TextTokens(transformers.PreTrainedTokenizerFast(tokenizer_object=backend))
    assert [tokens.text(id)[0] for id in range(3)] == ["the", " cat", "é"]
    assert stretches(tokens, "the cat") == [("the", "the"), (" cat", " cat")]


@pytest.fixture(scope="session")
def real_gpt2() -> TextTokens:
    return TextTokens(transformers.AutoTokenizer.from_pretrained(SHARED / "models" / "gpt2-tokenizer"))


@needs_shared
def test_every_text_of_gpt2s_vocabulary_is_what_transformers_decodes(real_gpt2):
    for id in range(real_gpt2.size):
        text, fragment = real_gpt2.text(id)
        decoded = real_gpt2.tokenizer.decode([id], clean_up_tokenization_spaces=False)
        assert (text == decoded) != fragment
        assert "\ufffd" in decoded or not fragment


@needs_shared
def test_gpt2_spells_a_corpus(real_gpt2):
    corpus = (SHARED / "data" / "english_valid.txt").read_text(encoding="utf-8")[:300_000]
    done = 0
    for token in real_gpt2.tokens(corpus):
        if token.fragment:
            assert token.start >= done - 1
        else:
            assert token.start == done and token.text == corpus[token.start : token.end]
        done = token.end
    assert done == len(corpus)


@needs_shared
def test_gpt2_reads_what_it_wrote(real_gpt2):
    golden = sorted((SHARED / "data" / "gpt2-golden").glob("gpt2_ex*.npz"))
    assert golden
    for file in golden:
        ids = np.load(file)["ids"].tolist()
        assert not any(real_gpt2.text(id)[1] for id in ids)
        assert [token.id for token in real_gpt2.tokens("".join(real_gpt2.text(id)[0] for id in ids))] == ids


@needs_shared
@examples
@given(text=st.lists(st.sampled_from(["Once", " upon", "a", " time", "é", "猫", "\n", "  ", "😀"]), max_size=12).map("".join))
def test_a_real_llama_vocabulary_covers_all_that_was_typed(text):
    tokens = real_llama().tokens(text)
    assert {i for token in tokens for i in range(token.start, token.end)} == set(range(len(text)))
    for token in tokens:
        if not token.fragment and token.start < token.end and not token.special:
            assert token.text in (text[token.start : token.end], " " + text[token.start : token.end])


@cache
def real_llama() -> TextTokens:
    return TextTokens(transformers.AutoTokenizer.from_pretrained(SHARED / "models" / "stories260k"))
