"""Tokenizers that take without end for some texts: these are refused with a sentence, and nothing waits for the library."""

from __future__ import annotations

import json
import time

import pytest
import transformers as T
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from models.errors import ModelError
from models.huggingface import guard
from models.huggingface.guard import FAILURES, PLAIN, guard_of
from models.huggingface.open import open_model, open_vocabulary
from models.huggingface.text import TextTokens
from models.pieces.apart import pieces_of
from tests.grids import grid
from tests.models.huggingface.families import FAMILIES
from tests.models.huggingface.families import folder as family_folder
from tests.models.networks import network, tokenizer

# Two ways to read each letter, so that a run of 30 letters is read in a million of ways before it fails; it begins after a sign.
SLOW = r"№(?:[q-s]|[q-s]{2})*[xy]{2}"
TEXT = ("№" + "r" * 30 + "!") * 200
QUICK = "the r r r cat № 12"


def made(**steps) -> T.PreTrainedTokenizerFast:
    backend = Tokenizer(models.WordLevel({"<unk>": 0, "a": 1}, unk_token="<unk>"))
    for name, step in steps.items():
        setattr(backend, name, step)
    return T.PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>")


def split(pattern: str) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Split(Regex(pattern), "isolated")


@pytest.mark.parametrize("way", ["tokens", "target", "placed", "pieces"])
def test_a_text_that_takes_too_long_is_refused(way, monkeypatch):
    monkeypatch.setattr(guard, "SECONDS", 0.1)
    monkeypatch.setattr(guard, "EACH", 0.0)
    vocabulary = TextTokens(made(pre_tokenizer=split(SLOW)))
    read = (lambda text: pieces_of(vocabulary, text)) if way == "pieces" else getattr(vocabulary, way)
    assert read(QUICK)
    with pytest.raises(ValueError, match=r"takes more than 0\.1 s for a text of 6,400 characters, so Headlight does not read it"):
        read(TEXT)
    assert read(QUICK) and read("a text that is read next"), "the others are read as before"


def test_after_some_texts_it_is_not_asked_again(monkeypatch):
    monkeypatch.setattr(guard, "SECONDS", 0.1)
    monkeypatch.setattr(guard, "EACH", 0.0)
    vocabulary = TextTokens(made(pre_tokenizer=split(SLOW)))
    vocabulary.tokens(QUICK)
    for count in range(FAILURES):
        with pytest.raises(ValueError, match="takes more than"):
            vocabulary.tokens(TEXT + "!" * count)
    monkeypatch.setattr(vocabulary.guard._answerer, "ask", lambda *_: pytest.fail("it was asked again"))
    with pytest.raises(ValueError, match="has taken too long for several texts"):
        vocabulary.tokens("another text")
    assert vocabulary.tokens(QUICK), "which was tried before"


def test_tokens_that_take_long_to_become_text_are_refused(monkeypatch):
    monkeypatch.setattr(guard, "SECONDS", 0.1)
    backend = Tokenizer(models.WordLevel({"<unk>": 0, "a": 1, TEXT: 2}, unk_token="<unk>"))
    backend.decoder = decoders.Replace(Regex(SLOW), "x")
    vocabulary = TextTokens(T.PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>"))
    assert vocabulary.decode([1]) == "a"
    with pytest.raises(ValueError, match="takes more than"):
        vocabulary.decode([2])


@pytest.mark.parametrize("pattern", [r"a*a*a*[xy]{2}", r"(?:\w|\w\w)*[;,]{2}", r"(?:ж|жж)+[xy]{2}"])
def test_a_folder_whose_tokenizer_is_slow_where_something_repeats_is_not_opened(pattern, tmp_path):
    network("Llama, grouped-query").save_pretrained(tmp_path)
    tokenizer("decoder").save_pretrained(tmp_path)
    file = tmp_path / "tokenizer.json"
    content = json.loads(file.read_text())
    content["pre_tokenizer"] = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    file.write_text(json.dumps(content))
    for opened in (open_model, open_vocabulary):
        with pytest.raises(ModelError, match="takes too long for a text that repeats something, or cannot read it"):
            opened(str(tmp_path))


@pytest.mark.parametrize(("times", "count"), [(100, 500), (9_000, 5_000)])
def test_a_text_that_becomes_a_flood_is_refused(times, count):
    vocabulary = TextTokens(made(normalizer=normalizers.Replace("e", "e " * times), pre_tokenizer=pre_tokenizers.Whitespace()))
    assert vocabulary.tokens("a cat")
    with pytest.raises(ValueError, match=f"makes a flood of tokens of {count:,} characters"):
        vocabulary.tokens("e" * count)


@pytest.mark.parametrize("family", grid(FAMILIES, [*FAMILIES][::3]))
def test_no_honest_tokenizer_is_refused(family, tmp_path_factory):
    vocabulary = TextTokens(FAMILIES[family](family_folder(tmp_path_factory.getbasetemp())))
    vocabulary.guard.try_repetitions()
    for text in ("The cat sat.", "ab 12, é日🙂\n" * 200):
        assert vocabulary.tokens(text)


@pytest.mark.parametrize("pattern", grid(sorted(PLAIN), sorted(PLAIN)[::4]))
def test_patterns_that_are_not_watched_take_a_time_in_proportion_to_the_text(pattern):
    backend = made(pre_tokenizer=split(pattern)).backend_tokenizer

    def seconds(count: int) -> float:
        begun = time.process_time()
        for part in guard.REPEATS:
            backend.encode(part * count + "\u0001")
        return time.process_time() - begun

    assert seconds(20_000) < 40 * max(seconds(2_000), 0.01), "ten times the text; a square would take a hundred times as long"


@pytest.mark.parametrize(
    "steps",
    [
        {"pre_tokenizer": split(r"(?:a|b)+c")},
        {"pre_tokenizer": pre_tokenizers.Sequence([pre_tokenizers.Digits(), split("x+x+y")])},
        {"normalizer": normalizers.Replace(Regex(" +▁"), "▁")},
        {"normalizer": normalizers.Replace("a", "b" * 1_000)},
        {"decoder": decoders.Replace(Regex("x+x+y"), "")},
        {"model": models.WordPiece({"<unk>": 0}, unk_token="<unk>", max_input_chars_per_word=10**6)},
        {"model": models.Unigram([("<unk>", 0.0), ("a" * 1_000, -1.0)], 0, False)},
    ],
)
def test_what_may_be_slow_is_watched(steps):
    assert guard_of(made(**steps)).watches


def test_signs_that_have_all_that_stands_before_them_looked_at_are_watched():
    signed = made()
    signed.add_tokens([AddedToken("a", lstrip=True)])
    assert guard_of(signed).watches
    usual = made(pre_tokenizer=pre_tokenizers.ByteLevel(), normalizer=normalizers.NFC())
    usual.add_tokens([AddedToken("<mask>", lstrip=True)])
    assert not guard_of(usual).watches and guard_of(usual) is guard_of(usual)
