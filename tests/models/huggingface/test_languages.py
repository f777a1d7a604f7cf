"""Translators of many languages: which language they read and write is asked for, and never taken from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as T

import models
from models.language_model import LanguageModel
from models.reading.languages import in_language, language_of
from tests.models.huggingface.families import folder, m2m, unigram

SMALL = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
}
END = {"pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
UNNAMED = END | {"decoder_start_token_id": None}


def nllb(tmp: Path, **choices) -> T.NllbTokenizer:
    letters = ["<s>", "<pad>", "</s>", "<unk>", *"▁abcdefghijklmnopqrstuvwxyz"]
    return T.NllbTokenizer(vocab={piece: id for id, piece in enumerate(letters)}, merges=[], **choices)


def pieces(tmp: Path) -> list[tuple[str, float]]:
    return [(name, 0.0) for name in ("<s>", "<pad>", "</s>", "<unk>")] + unigram(tmp)[3:]


def m2m_of_no_language(tmp: Path) -> T.M2M100Tokenizer:
    tokenizer = m2m(tmp)
    return T.M2M100Tokenizer(tokenizer.vocab_file, tokenizer.spm_file)


@dataclass(frozen=True)
class Family:
    make: Callable[[Path], T.PreTrainedTokenizerBase]
    network: str
    config: dict
    source: str
    target: str
    written: str  # the sign of the target


FAMILIES = {
    "M2M100": Family(m2m_of_no_language, "M2M100", END, "de", "fr", "__fr__"),
    "NLLB": Family(nllb, "M2M100", END, "deu_Latn", "fra_Latn", "fra_Latn"),
    "NLLB, older": Family(lambda tmp: nllb(tmp, legacy_behaviour=True), "M2M100", END, "deu_Latn", "fra_Latn", "fra_Latn"),
    "mBART-50": Family(lambda tmp: T.MBart50Tokenizer(vocab=pieces(tmp)), "MBart", END, "de_DE", "fr_XX", "fr_XX"),
    "mBART": Family(lambda tmp: T.MBartTokenizer(vocab=pieces(tmp)), "MBart", UNNAMED, "de_DE", "fr_XX", "fr_XX"),
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory) -> Callable[..., tuple[LanguageModel, T.PreTrainedTokenizerBase]]:
    tmp = folder(tmp_path_factory.mktemp("languages"))

    def open(name: str, forced: str = "") -> tuple[LanguageModel, T.PreTrainedTokenizerBase]:
        family = FAMILIES[name]
        tokenizer = family.make(tmp)
        torch.manual_seed(0)
        settings = getattr(T, f"{family.network}Config")(vocab_size=300, **SMALL, **family.config)
        network = getattr(T, f"{family.network}ForConditionalGeneration")(settings)
        if forced:
            network.generation_config.forced_bos_token_id = tokenizer.convert_tokens_to_ids(forced)
        home = tmp / f"{name} {forced}"
        network.save_pretrained(home)
        tokenizer.save_pretrained(home)
        return models.load(str(home)), T.AutoTokenizer.from_pretrained(home)

    return open


@pytest.mark.parametrize("name", FAMILIES)
def test_a_text_is_read_and_written_in_the_language_that_is_asked_for(name, opened):
    family = FAMILIES[name]
    model, theirs = opened(name)
    assert {family.source, family.target} <= set(model.info.languages)
    code = theirs.convert_tokens_to_ids(family.written)
    body = theirs("the cat", add_special_tokens=False)["input_ids"]
    start = [] if name == "mBART" else [2]

    bare = model.trace("the cat")
    assert [token.id for token in bare.tokens] == theirs("the cat")["input_ids"], "the language that the tokenizer has for texts"
    assert not {token.id for token in bare.target} & set(model.vocabulary.languages.values()), "and none that nobody asked for"
    begun = model.trace("the cat", "the cat").target
    assert [token.id for token in begun][1:] == body and (not start or begun[0].id == 2)

    theirs.src_lang = family.source
    trace = model.trace("the cat", "the cat", source_language=family.source, target_language=family.target)
    assert [token.id for token in trace.tokens] == theirs("the cat")["input_ids"]
    assert [token.id for token in trace.target] == [*start, code, *body]
    named = model.trace("the cat", f"{family.written} the cat", source_language=family.source)
    assert [token.id for token in named.target] == [*start, code, *body]
    typed = [token for token in named.target if not token.special]
    place = len(family.written) + 1
    assert (typed[0].start, typed[-1].end) == (place, place + len("the cat")), "tokens stand where they were typed"
    with torch.no_grad():
        logits = model.network(
            input_ids=torch.tensor([theirs("the cat")["input_ids"]]), decoder_input_ids=torch.tensor([[*start, code, *body]])
        ).logits[0]
    np.testing.assert_allclose(trace.logits, logits, atol=1e-4)
    again = model.trace("the cat")
    assert [token.id for token in again.tokens] == [token.id for token in bare.tokens], "the next text is in its own language"


@pytest.mark.parametrize("name", FAMILIES)
def test_it_generates_in_that_language_as_transformers_does(name, opened):
    family = FAMILIES[name]
    model, theirs = opened(name)
    theirs.src_lang = family.source
    code = theirs.convert_tokens_to_ids(family.written)
    start = {"decoder_start_token_id": code} if name == "mBART" else {"forced_bos_token_id": code}
    ids = theirs("the cat", return_tensors="pt")
    expected = model.network.generate(**ids, **start, max_new_tokens=6, num_beams=1, do_sample=False, forced_eos_token_id=None)[
        0
    ].tolist()
    languages = {"source_language": family.source, "target_language": family.target}
    steps = list(model.generate("the cat", max_new_tokens=5, **languages))
    begun = expected.index(code) + 1
    assert list(steps[-1].continuation) == expected[begun : begun + len(steps)]
    assert model.predict("the cat", top=1, **languages)[0].id == steps[0].continuation[0]


def test_a_model_that_was_made_for_one_language_writes_it(opened):
    model, theirs = opened("NLLB", forced="fra_Latn")
    code = theirs.convert_tokens_to_ids("fra_Latn")
    assert [token.id for token in model.trace("the cat").target] == [2, code]
    assert [token.id for token in model.trace("the cat", target_language="deu_Latn").target][1] != code


def test_a_language_that_is_not_there_is_a_sentence(opened):
    model, _ = opened("NLLB")
    with pytest.raises(ValueError, match=r"has no language 'French': its languages are .* \(see `info.languages`\)"):
        model.trace("the cat", target_language="French")
    with pytest.raises(ValueError, match="put the id of the language among them"):
        model.trace([5, 6], source_language="fra_Latn")
    with pytest.raises(ValueError, match="takes no name of a language"):
        models.load("writer").predict("The cat", target_language="fra_Latn")


def test_a_language_that_the_network_has_no_vector_for_is_not_offered_and_another_one_is_asked_for(tmp_path):
    tokenizer = m2m_of_no_language(folder(tmp_path))
    ids = tokenizer.lang_code_to_id
    rows = ids["en"]  # English and all that come after it are missing
    torch.manual_seed(0)
    network = T.M2M100ForConditionalGeneration(T.M2M100Config(vocab_size=rows, **SMALL, **END))
    network.save_pretrained(tmp_path / "few")
    tokenizer.save_pretrained(tmp_path / "few")
    model = models.load(str(tmp_path / "few"))
    assert set(model.info.languages) == {code for code, id in ids.items() if id < rows}
    with pytest.raises(ValueError, match=r"no vector for the language “en”\. Choose others.*source_language="):
        model.trace("the cat")
    assert model.trace("the cat", source_language="af", target_language="de").logits.shape[-1] == rows


def test_the_sign_of_a_language_is_a_first_word_of_its_own():
    languages = ("fr", "fra_Latn")
    assert language_of("__fr__ le chat", languages) == ("fr", 7) and language_of(" fra_Latn", languages) == ("fra_Latn", 9)
    for text in ("", " ", "fr le chat", "fra_Latnle", "le fra_Latn", "__de__ die Katze"):
        assert language_of(text, languages) == ("", 0)
    for text in ("", "le chat", "__fr__ le chat"):
        for language in languages:
            signed = in_language(text, language, languages)
            assert language_of(signed, languages)[0] == language
            assert in_language(signed, "", languages) == text.removeprefix("__fr__ ")
