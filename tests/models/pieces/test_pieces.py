"""The steps by which a text became pieces end with the tokenizer's own tokens, and each of them is what its rule says."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import pytest
import transformers
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers, trainers
from tokenizers import models as cutters

import models
from models.huggingface.text import TextTokens
from models.pieces.apart import DIFFERS, HIDDEN, WHOLE, pieces_of
from models.pieces.unigram import PENALTY
from models.pieces.values import Lattice, Merges, Pieces, Tries
from models.tokens import SURROGATE
from tests.grids import grid
from tests.models.huggingface.families import FAMILIES, LETTERS, TRICKY, folder

SIGNS = ["<s>", "</s>", "<unk>"]


def train_fast(model, trainer, *steps) -> transformers.PreTrainedTokenizerFast:
    """A tokenizer of one kind, trained on a few sentences. steps: its normalizer and its pre-tokenizer."""
    tokenizer = Tokenizer(model)
    for step in steps:
        setattr(tokenizer, "normalizer" if isinstance(step, normalizers.Normalizer) else "pre_tokenizer", step)
    tokenizer.train_from_iterator([LETTERS, "unbelievable unhappy readable reading 1234567"] * 4, trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")


def bpe(steps: tuple, size: int = 400, byte_level: bool = False, **choices) -> transformers.PreTrainedTokenizerFast:
    marks = {name: choices[name] for name in ("continuing_subword_prefix", "end_of_word_suffix") if name in choices}
    alphabet = pre_tokenizers.ByteLevel.alphabet() if byte_level else []
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=SIGNS, initial_alphabet=alphabet, show_progress=False, **marks)
    return train_fast(cutters.BPE(**choices), trainer, *steps)


def with_bytes(tmp) -> transformers.PreTrainedTokenizerFast:
    """A tokenizer like Llama's: no pre-tokenizer, spaces written as ▁, and bytes for characters that are not in the
    vocabulary."""
    tokenizer = Tokenizer(cutters.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    signs = [*SIGNS, *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=420, special_tokens=signs, limit_alphabet=20, show_progress=False)
    tokenizer.train_from_iterator([LETTERS] * 4, trainer)
    tokenizer.pre_tokenizer = None
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")


def whole_first(tmp) -> transformers.PreTrainedTokenizerFast:
    """A tokenizer like Llama 3's: a word in the vocabulary is taken whole, even if no merges lead to it."""
    tokenizer = bpe((pre_tokenizers.ByteLevel(add_prefix_space=False),), 330, byte_level=True)
    described = tokenizer.backend_tokenizer
    described.model.ignore_merges = True
    return tokenizer


def unigram_with_bytes(tmp) -> transformers.PreTrainedTokenizerFast:
    vocabulary = [("<unk>", 0.0), *((f"<0x{byte:02X}>", -6.0) for byte in range(256))]
    vocabulary += [("▁", -2.0), ("▁the", -1.5), ("t", -3.0), ("th", -3.5), ("he", -3.0), ("h", -4.0), ("e", -3.0), ("cat", -5.0)]
    tokenizer = Tokenizer(cutters.Unigram(vocabulary, 0, True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")


def albert(tmp) -> transformers.PreTrainedTokenizerFast:
    """A unigram model that changes the text first, as ALBERT's does."""
    trainer = trainers.UnigramTrainer(vocab_size=150, special_tokens=SIGNS, unk_token="<unk>", show_progress=False)
    steps = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()])
    return train_fast(cutters.Unigram(), trainer, steps, pre_tokenizers.Metaspace())


def with_added(tmp) -> transformers.PreTrainedTokenizerFast:
    """Added tokens of all sorts: some swallow spaces, some are looked for after the normalizer, some are whole words alone."""
    tokenizer = bpe((normalizers.Lowercase(), pre_tokenizers.Whitespace()), unk_token="<unk>")
    added = [
        AddedToken("<mask>", lstrip=True, rstrip=True),
        AddedToken("DOG", normalized=True),
        AddedToken("cat", single_word=True),
    ]
    tokenizer.add_tokens(added)
    return tokenizer


KINDS: dict[str, Callable] = {
    **FAMILIES,
    "bytes for the unknown": with_bytes,
    "whole words first": whole_first,
    "ModernBERT's": lambda tmp: bpe((normalizers.NFC(), pre_tokenizers.ByteLevel(add_prefix_space=False)), 420, byte_level=True),
    "prefix": lambda tmp: bpe((pre_tokenizers.Whitespace(),), continuing_subword_prefix="##", unk_token="<unk>"),
    "suffix": lambda tmp: bpe((pre_tokenizers.WhitespaceSplit(),), end_of_word_suffix="</w>", unk_token="<unk>", fuse_unk=True),
    "unknown dropped": lambda tmp: bpe((pre_tokenizers.Digits(individual_digits=True),)),
    "dropout": lambda tmp: bpe((pre_tokenizers.Whitespace(),), dropout=0.5, unk_token="<unk>"),
    "unigram with bytes": unigram_with_bytes,
    "ALBERT's": albert,
    "added tokens": with_added,
    "split by an expression": lambda tmp: bpe(
        (pre_tokenizers.Split(Regex(r"\p{N}{1,3}| ?\p{L}+"), "isolated"),), unk_token="<unk>"
    ),
}
SLOW = ["BERT, in Python", "SentencePiece", "SentencePiece with bytes", "M2M100", "CTRL", "ByT5", "Perceiver", "CANINE"]
SEEN = [name for name in KINDS if name not in [*SLOW, "SentencePiece in lower case"]]
anything = st.lists(st.sampled_from([*TRICKY, "unbelievable", " reading", "1234567"]) | st.characters(codec=None), max_size=12)
texts = anything.map("".join)
examples = settings(max_examples=60, deadline=None)
pytestmark = pytest.mark.filterwarnings("ignore:This sequence already has")


@pytest.fixture(scope="session")
def make(tmp_path_factory) -> Callable[[str], TextTokens]:
    home = folder(tmp_path_factory.mktemp("pieces"))
    return cache(lambda name: TextTokens(KINDS[name](home)))


@pytest.fixture(scope="session", params=grid(SEEN, SEEN[::3]))
def seen(request, make) -> TextTokens:
    return make(request.param)


@pytest.fixture(scope="session", params=models.names())
def shipped(request):
    return models.load(request.param)


def own_ids(vocabulary: TextTokens, text: str) -> list[int]:
    """Return the ids as transformers gives them, without those that it adds; a tokenizer that leaves merges out at random leaves
    none out."""
    backend = vocabulary.tokenizer.backend_tokenizer
    if getattr(backend.model, "dropout", None):
        backend = Tokenizer.from_str(backend.to_str())
        backend.model.dropout = None
    return backend.encode(SURROGATE.sub("\ufffd", text), add_special_tokens=False).ids


@examples
@given(text=texts)
@example(text="reading unbelievable cats 1234567 <mask> the DOG")
def test_the_steps_end_with_the_tokenizers_own_tokens(seen, text):
    pieces = pieces_of(seen, text)
    assert pieces.note in ("", WHOLE) and list(pieces.ids) == own_ids(seen, text)


@settings(max_examples=150, deadline=None)
@given(text=texts)
@example(text="\u3000[MASK]")
def test_the_steps_of_the_models_that_ship_end_with_their_tokens(shipped, text):
    pieces = shipped.pieces(text)
    typed = [token for token in shipped.tokenize(text) if token.start < token.end or not token.special]
    cut = [(token.id, token.text.lstrip() if word.added else token.text) for word in pieces.words for token in word.pieces]
    assert cut == [(token.id, token.text) for token in typed], "but for the spaces that a mask takes with it"
    assert "".join(word.text for word in pieces.words) == SURROGATE.sub("\ufffd", text), "nothing of the text is lost"


def check_merges(steps: Merges, ranks: dict) -> None:
    for count, merge in enumerate(steps.merges):
        before, after = steps.after(count), steps.after(count + 1)
        pairs = [(ranks.get((a.written, b.written), math.inf), a.start) for a, b in pairwise(before)]
        assert min(pairs) == (merge.rank, merge.left.start), "the pair of the lowest rank, and of equals the first"
        at = before.index(merge.left)
        assert before[at + 1] == merge.right
        assert after == (*before[:at], merge.result, *before[at + 2 :])
    assert not any((a.written, b.written) in ranks for a, b in pairwise(steps.pieces)), "no rule is left"


@examples
@given(text=texts)
@example(text="the cat sat on the mat and the dog unbelievable")
def test_each_merge_is_the_one_of_the_lowest_rank_then(seen, text):
    described = seen.tokenizer.backend_tokenizer
    ranks = merges_of(described) if "BPE" in type(described.model).__name__ else {}
    for word in pieces_of(seen, text).words:
        if isinstance(word.steps, Merges) and not word.steps.whole:
            check_merges(word.steps, ranks)


@cache
def merges_of(described: Tokenizer) -> dict[tuple[str, str], int]:
    return {tuple(pair): rank for rank, pair in enumerate(json.loads(described.to_str())["model"]["merges"])}


@examples
@given(word=st.text(alphabet="thecatfidog", min_size=1, max_size=12))
def test_wordpiece_takes_the_longest_stretch_that_the_vocabulary_has(make, word):
    vocabulary = make("BERT").tokenizer.get_vocab()
    (word_cut,) = pieces_of(make("BERT"), word).words
    assert isinstance(word_cut.steps, Tries)
    accepted = [attempt.piece for attempt in word_cut.steps.tries if attempt.in_vocabulary]
    for attempt in word_cut.steps.tries:
        assert attempt.in_vocabulary == (
            ("##" if attempt.piece.start else "") + word[attempt.piece.start : attempt.piece.end] in vocabulary
        )
    for piece in accepted:
        longer = [
            attempt for attempt in word_cut.steps.tries if attempt.piece.start == piece.start and attempt.piece.end > piece.end
        ]
        assert [attempt.piece.end for attempt in longer] == list(range(len(word), piece.end, -1)) and not any(
            attempt.in_vocabulary for attempt in longer
        )
    assert word_cut.steps.unknown or tuple(accepted) == word_cut.pieces


def all_ways(word: str, scores: dict[str, float]) -> list[tuple[float, tuple[str, ...]]]:
    """Return every way to cut a word, with its sum, by trying all."""
    if not word:
        return [(0.0, ())]
    ways = []
    penalty = min(scores.values()) - PENALTY
    for end in range(1, len(word) + 1):
        first = word[:end]
        score = scores.get(first, penalty if end == 1 else None)
        if score is not None:
            ways += [(score + rest, (first, *pieces)) for rest, pieces in all_ways(word[end:], scores)]
    return ways


@examples
@given(word=st.text(alphabet="thecasionz", min_size=1, max_size=8))
@pytest.mark.parametrize("name", ["T5", "ALBERT's"])
def test_the_ways_of_a_unigram_model_are_the_best_of_all(make, name, word):
    scores = dict(json.loads(make(name).tokenizer.backend_tokenizer.to_str())["model"]["vocab"])
    (word_cut,) = pieces_of(make(name), word).words
    assert isinstance(word_cut.steps, Lattice)
    tried = sorted(all_ways(word_cut.written, scores), key=lambda way: -way[0])
    assert [way.score for way in word_cut.steps.ways] == pytest.approx([score for score, _ in tried[:4]])
    best = {pieces for score, pieces in tried if score == pytest.approx(tried[0][0])}
    assert tuple(piece.written for piece in word_cut.steps.ways[0].pieces) in best
    for way in word_cut.steps.ways:
        at = {(candidate.piece.start, candidate.piece.end): candidate.score for candidate in word_cut.steps.candidates}
        assert way.score == pytest.approx(sum(at[piece.start, piece.end] for piece in way.pieces))


@examples
@given(text=texts)
def test_the_parts_of_a_word_are_what_happens_to_them_alone(make, text):
    """A tokenizer without a pre-tokenizer has the whole text for a word; what is shown of it by parts is true of the whole."""
    vocabulary = make("bytes for the unknown")
    pieces = pieces_of(vocabulary, text)
    ranks = merges_of(vocabulary.tokenizer.backend_tokenizer)
    for word in pieces.words:
        if word.steps:
            check_merges(word.steps, ranks)
    assert "".join(word.written for word in pieces.words) == "".join(pieces.sections)


def test_a_long_word_is_shown_in_parts(make):
    for name in ("bytes for the unknown", "GPT-2", "ALBERT's"):
        pieces = pieces_of(make(name), "the" * 100)
        assert len(pieces.words) > 3 and list(pieces.ids) == own_ids(make(name), "the" * 100)
        assert all(word.pieces[-1].end <= 63 for word in pieces.words)


def test_what_cannot_be_seen_is_said(make):
    for name in SLOW:
        pieces = pieces_of(make(name), "the cat")
        assert (pieces.note, pieces.words) == (HIDDEN, ())
    assert pieces_of(make("words"), "the dog").note == WHOLE
    assert [word.pieces[0].text for word in pieces_of(make("words"), "the dog").words] == ["the", "[UNK]"]


def test_what_differs_from_the_tokenizer_is_not_shown(make, monkeypatch):
    tokens = make("GPT-2")
    monkeypatch.setattr(tokens.rules, "ids", lambda text: [1, 2, 3])
    assert pieces_of(tokens, "the cat") == Pieces("the cat", "BPE", tokens.size, note=DIFFERS)


def test_what_was_typed_as_a_special_token_is_cut_out_first(make):
    pieces = pieces_of(make("added tokens"), "the <mask> Dog")
    assert [(word.text, word.added) for word in pieces.words if word.added] == [(" <mask> ", True), ("dog", True)]
    assert pieces.sections == ("the", " <mask> ", "dog")


def test_normalizer_and_pre_tokenizer_are_the_librarys(make):
    pieces = pieces_of(make("ALBERT's"), "Café")
    assert pieces.normalizer == "Sequence(normalizers=[NFKD(), StripAccents(), Lowercase()])"
    assert pieces.pre_tokenizer.startswith("Metaspace(") and pieces.sections == ("cafe",)


def test_a_text_that_is_none_is_refused(writer):
    with pytest.raises(TypeError, match="must be a str"):
        writer.pieces(None)


def test_a_tokenizer_alone_is_that_of_its_model(shipped):
    alone = models.load_tokenizer(shipped.info.name)
    assert alone.tokens("The cat [MASK] sat.") == shipped.vocabulary.tokens("The cat [MASK] sat.")
    assert pieces_of(alone, "unbelievable") == shipped.pieces("unbelievable")
