"""Tokenizers of every family of the Hub, small ones, and texts that are hard to cut."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from functools import cache
from pathlib import Path

import sentencepiece
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy

LETTERS = "the cat sat on the mat and the dog sat on the cat. fine naïve cafe café Straße İstanbul 猫が座った שלום עולם 👩‍👩‍👧 😀"


SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


@cache
def folder(tmp: Path) -> Path:
    (tmp / "letters.txt").write_text("\n".join([LETTERS] * 5))
    return tmp


def byte_bpe(end_of_word: str = "") -> dict:
    tokenizer = Tokenizer(models.BPE(end_of_word_suffix=end_of_word))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    suffixed = [character + end_of_word for character in alphabet] if end_of_word else []
    trainer = trainers.BpeTrainer(
        vocab_size=500 + 2 * len(suffixed),
        special_tokens=SPECIAL + suffixed,
        initial_alphabet=alphabet,
        end_of_word_suffix=end_of_word,
    )
    tokenizer.train_from_iterator([LETTERS] * 3, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return {"vocab": model["vocab"], "merges": [tuple(merge) for merge in model["merges"]]}


def roberta(tmp: Path, **choices) -> transformers.RobertaTokenizer:
    return transformers.RobertaTokenizer(**byte_bpe(), **choices)


def gpt2(tmp: Path) -> transformers.GPT2Tokenizer:
    return transformers.GPT2Tokenizer(**byte_bpe(), unk_token="</s>", bos_token="</s>", eos_token="</s>")


def clip(tmp: Path) -> transformers.CLIPTokenizer:
    return transformers.CLIPTokenizer(**byte_bpe("</w>"), unk_token="<unk>", bos_token="<s>", eos_token="</s>")


def word_pieces(lower: bool) -> dict[str, int]:
    whole = [*["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], "cat", "sat", "do", "##g", "the", "fi", "##ne", "stra"]
    letters = {part for word in LETTERS.split() for letter in word for part in normal_forms(letter, lower)}
    return {piece: id for id, piece in enumerate(dict.fromkeys([*whole, *sorted(letters), *("##" + x for x in sorted(letters))]))}


def normal_forms(letter: str, lower: bool) -> str:
    return unicodedata.normalize("NFD", letter.lower()) if lower else letter


def bert(tmp: Path, lower: bool) -> transformers.BertTokenizer:
    return transformers.BertTokenizer(vocab=word_pieces(lower), do_lower_case=lower)


def bert_in_python(tmp: Path) -> BertTokenizerLegacy:
    (tmp / "vocab.txt").write_text("\n".join(word_pieces(lower=True)))
    return BertTokenizerLegacy(str(tmp / "vocab.txt"))


@cache
def piece_model(tmp: Path, name: str) -> Path:
    kinds = {
        "unigram": {"vocab_size": 110, "pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1},
        "bytes": {"vocab_size": 360, "model_type": "bpe", "byte_fallback": True},
    }
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp / "letters.txt"), model_prefix=str(tmp / name), minloglevel=2, hard_vocab_limit=False, **kinds[name]
    )
    return tmp / f"{name}.model"


def from_pieces(tmp: Path, name: str, kind: str, file: str) -> transformers.PreTrainedTokenizerBase:
    """As the Hub has many: a SentencePiece model and a config, no tokenizer.json."""
    home = tmp / f"{kind}-{name}"
    home.mkdir(exist_ok=True)
    (home / file).write_bytes(piece_model(tmp, name).read_bytes())
    (home / "config.json").write_text(json.dumps({"model_type": kind}))
    return transformers.AutoTokenizer.from_pretrained(home)


def unigram(tmp: Path) -> list[tuple[str, float]]:
    trainer = trainers.UnigramTrainer(vocab_size=110, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>")
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.train_from_iterator([LETTERS] * 5, trainer)
    return [tuple(piece) for piece in json.loads(tokenizer.to_str())["model"]["vocab"]]


def llama(tmp: Path) -> transformers.LlamaTokenizer:
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁acdehot", "▁c", "▁ca", "▁cat"]
    merges = [("▁", "c"), ("▁c", "a"), ("▁ca", "t")]
    return transformers.LlamaTokenizer(vocab={piece: id for id, piece in enumerate(pieces)}, merges=merges)


def mbart(tmp: Path) -> transformers.MBartTokenizer:
    vocab = [(name, 0.0) for name in ("<s>", "<pad>", "</s>", "<unk>")] + unigram(tmp)[3:]
    return transformers.MBartTokenizer(vocab=vocab, src_lang="en_XX", tgt_lang="ro_RO")


def m2m(tmp: Path) -> transformers.M2M100Tokenizer:
    model = sentencepiece.SentencePieceProcessor(model_file=str(piece_model(tmp, "unigram")))
    pieces = [model.id_to_piece(id) for id in range(model.get_piece_size())]
    (tmp / "m2m.json").write_text(json.dumps({piece: id for id, piece in enumerate([*pieces, "<s>"])}))
    return transformers.M2M100Tokenizer(str(tmp / "m2m.json"), str(piece_model(tmp, "unigram")), src_lang="en", tgt_lang="fr")


def ctrl(tmp: Path) -> transformers.CTRLTokenizer:
    letters = sorted(set("".join(LETTERS.split())) - {"g"})
    pieces = ["<unk>", "the", "ca@@", *letters, *(letter + "@@" for letter in letters)]
    (tmp / "ctrl.json").write_text(json.dumps({piece: id for id, piece in enumerate(pieces)}))
    (tmp / "ctrl.txt").write_text("#version\nt h\nth e</w>\nc a\n\n")
    return transformers.CTRLTokenizer(str(tmp / "ctrl.json"), str(tmp / "ctrl.txt"))


def words(tmp: Path) -> transformers.PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "[MASK]": 1, "the": 2, "cat": 3}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", mask_token="[MASK]")


FAMILIES: dict[str, Callable[[Path], transformers.PreTrainedTokenizerBase]] = {
    "GPT-2": gpt2,
    "RoBERTa": lambda tmp: roberta(tmp),
    "RoBERTa, trimmed": lambda tmp: roberta(tmp, trim_offsets=True),
    "RoBERTa, prefixed": lambda tmp: roberta(tmp, add_prefix_space=True, trim_offsets=False),
    "RoBERTa, prefixed and trimmed": lambda tmp: roberta(tmp, add_prefix_space=True, trim_offsets=True),
    "CLIP": clip,
    "BERT": lambda tmp: bert(tmp, lower=True),
    "BERT, cased": lambda tmp: bert(tmp, lower=False),
    "BERT, in Python": bert_in_python,
    "T5": lambda tmp: transformers.T5Tokenizer(vocab=unigram(tmp), extra_ids=3),
    "T5, of a .model": lambda tmp: from_pieces(tmp, "unigram", "t5", "spiece.model"),
    "Llama": llama,
    "Llama, of a .model": lambda tmp: from_pieces(tmp, "bytes", "llama", "tokenizer.model"),
    "mBART": mbart,
    "SentencePiece": lambda tmp: transformers.BertGenerationTokenizer(str(piece_model(tmp, "unigram"))),
    "SentencePiece with bytes": lambda tmp: transformers.BertGenerationTokenizer(str(piece_model(tmp, "bytes"))),
    "SentencePiece in lower case": lambda tmp: transformers.SiglipTokenizer(str(piece_model(tmp, "unigram"))),
    "M2M100": m2m,
    "CTRL": ctrl,
    "ByT5": lambda tmp: transformers.ByT5Tokenizer(),
    "Perceiver": lambda tmp: transformers.PerceiverTokenizer(),
    "CANINE": lambda tmp: transformers.CanineTokenizer(),
    "words": words,
}


# Joiners, CJK, right-to-left, ligatures and widths that NFKC changes, letters whose lower case is longer, marks, controls,
# lone surrogates, and what vocabularies write with.
TRICKY = [
    *["the", " cat", " ", "  ", "\n", "\t", "\r\n", "dog", ".", "é", "e\u0301", "\u0301", "\u0344", "ß", "İ", "ﬁ", "Ｆｕ"],
    *[
        "…",
        "½",
        "¨",
        "ĳ",
        "한",
        "\u1112\u1161\u11ab",
        "猫",
        "שלום",
        "👩‍👩‍👧",
        "😀",
        "\u3000",
        "\xa0",
        "\u200b",
        "\ufeff",
        "\ufffd",
    ],
    *["\0", "\x07", "\ud800", "\ud83d\ude00", "▁", "Ġ", "##", "@@", "</w>", "<0xF0>", "[MASK]", "<mask>", "\ue003"],
    *["[UNK]", "<unk>", "[CLS]", "<s>", "</s>", "<extra_id_0>", "__en__"],
]
