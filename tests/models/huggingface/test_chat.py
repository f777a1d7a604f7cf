"""A text as a turn of a chat: the tokens that transformers makes of it, and nothing that is typed becomes a sign."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
import transformers as T
from hypothesis import given, settings
from hypothesis import strategies as st

import models
from models.generation.strategy import Strategy
from models.huggingface.chat import as_chat, has_chat_template
from models.huggingface.model import HuggingFaceModel
from models.huggingface.text import TextTokens
from tests.grids import grid
from tests.models.chatting import CHATML, LLAMA, SIGNS, chat_model
from tests.models.huggingface.families import FAMILIES, folder
from tests.models.networks import network, tokenizer

KINDS = {
    "ChatML": (CHATML, True),
    "signs that are added only": (CHATML, False),
    "signs that are plain text": (LLAMA, True),
    "a tokenizer in Python": (CHATML, True, False),
}
WORDS = st.text(st.sampled_from("ab é\n\t😀<|>_imstarend[INST]/0"), max_size=20)
TYPED = st.lists(st.one_of(WORDS, st.sampled_from([*SIGNS, "<s>", "</s>", "user\n"])), max_size=4).map("".join)


@cache
def opened(kind: str) -> HuggingFaceModel:
    return chat_model(*KINDS[kind])


def theirs(model: HuggingFaceModel, text: str) -> list[int]:
    """What transformers itself makes of it."""
    conversation = [{"role": "user", "content": text}]
    encoding = model.vocabulary.tokenizer.apply_chat_template(conversation, add_generation_prompt=True, return_dict=True)
    return list(encoding["input_ids"])


@pytest.mark.parametrize("kind", KINDS)
@given(text=WORDS)
def test_the_tokens_are_those_of_transformers(kind, text):
    if not any(sign in text for sign in (*SIGNS, "<s>", "</s>", "<pad>", "<unk>")):
        assert [token.id for token in opened(kind).as_chat(text).tokens] == theirs(opened(kind), text)


@pytest.mark.parametrize("kind", grid(KINDS, [*KINDS][:1]))
@given(text=TYPED)
@settings(max_examples=200)
def test_what_is_typed_never_becomes_a_sign(kind, text):
    model = opened(kind)
    try:
        turn = model.as_chat(text)
    except ValueError as error:
        assert kind == "signs that are added only" and "has a sign in it" in str(error) and any(sign in text for sign in SIGNS)
        return
    signs = {*model.vocabulary.special, *model.vocabulary.tokenizer.convert_tokens_to_ids(list(SIGNS))}
    put = [id for id in theirs(model, "") if id in signs]
    assert [token.id for token in turn.tokens if token.id in signs] == put, "the template's own signs alone"
    decoded = model.vocabulary.tokenizer.decode([token.id for token in turn.tokens], clean_up_tokenization_spaces=False)
    assert decoded == turn.written, "and no letter is lost"


@pytest.mark.parametrize("kind", KINDS)
@given(text=TYPED)
def test_each_typed_token_stands_where_it_was_typed(kind, text):
    try:
        turn = opened(kind).as_chat(text)
    except ValueError:
        return
    typed = [token for token in turn.tokens if token.start < token.end]
    assert [token.start for token in typed] == sorted(token.start for token in typed) and not any(
        token.special for token in typed
    )
    covered = {place for token in typed for place in range(token.start, token.end)}
    assert covered >= {place for place, letter in enumerate(text) if not letter.isspace()}, "every letter belongs to a token"
    for token in typed:
        if not token.fragment and token.text.strip():
            assert token.text.strip() in text[token.start : token.end] or token.text.strip() in turn.written


@pytest.mark.parametrize("family", grid(FAMILIES, [*FAMILIES][::8]))
def test_every_kind_of_tokenizer_with_a_template_keeps_it(family, tmp_path_factory):
    family_tokenizer = FAMILIES[family](folder(tmp_path_factory.getbasetemp()))
    family_tokenizer.add_tokens([T.AddedToken(sign, special=True, normalized=False) for sign in SIGNS], special_tokens=True)
    family_tokenizer.chat_template = CHATML
    vocabulary = TextTokens(family_tokenizer)
    assert has_chat_template(vocabulary)
    for text in ("the cat", "naïve café 猫"):
        conversation = [{"role": "user", "content": text}]
        expected = family_tokenizer.apply_chat_template(conversation, add_generation_prompt=True, return_dict=True)["input_ids"]
        turn = as_chat(vocabulary, text)
        assert [token.id for token in turn.tokens] == list(expected)
        covered = {place for token in turn.tokens for place in range(token.start, token.end)}
        assert covered <= set(range(len(text))) and covered >= {0, len(text) - 1}
    signs = {*vocabulary.special, *family_tokenizer.convert_tokens_to_ids(list(SIGNS))} - {family_tokenizer.unk_token_id}
    turn_signs, empty = (
        [token.id for token in as_chat(vocabulary, some).tokens if token.id in signs] for some in (f"the {SIGNS[0]} cat", "")
    )
    assert turn_signs == empty, "what is typed never becomes a sign"


def test_it_answers_as_transformers_does():
    model, text, new = opened("ChatML"), "The cat sat on the mat", 10
    ids = torch.tensor([theirs(model, text)])
    expected = model.network.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=new, do_sample=False)
    steps = list(model.generate(text, Strategy(), new, chat=True))
    generated = tuple(expected[0, ids.shape[1] :].tolist())
    assert steps[-1].continuation == generated[: len(steps)] and steps[0].ids == tuple(ids[0].tolist())
    plain = next(model.generate(text))
    assert plain.ids != steps[0].ids and abs(plain.logits - steps[0].logits).max() > 1e-3
    again = list(model.generate(text, Strategy(), new, chat=True, cache=False))
    assert [step.continuation for step in again] == [step.continuation for step in steps]
    np.testing.assert_allclose(again[-1].logits, steps[-1].logits, atol=1e-4)


def test_what_is_opened_elsewhere_is_read_as_the_same_tokens():
    model = opened("ChatML")
    turn = model.as_chat("The cat sat")
    assert [token.id for token in model.tokenize(turn.written)] == [token.id for token in turn.tokens]


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ("{{ raise_exception('No chat today') }}", "cannot be used: .*No chat today"),
        ("{{ messages[0]['content'] | upper }}", "changes the text"),
        ("{% for m in messages %}{{ m['content'] }}{{ m['content'] }}{% endfor %}", "does not contain the text exactly once"),
        ("Hello", "does not contain the text exactly once"),
        ("{{ no end", "cannot be used"),
    ],
)
def test_a_template_that_cannot_be_used_is_a_sentence(template, sentence):
    with pytest.raises(ValueError, match=sentence):
        chat_model(template).as_chat("The cat")


def test_a_model_without_a_template_says_so():
    plain = HuggingFaceModel(network("GPT-2"), tokenizer("decoder"), "decoder", True, "plain")
    for model in (models.load("writer"), plain):
        assert not model.chats
        with pytest.raises(ValueError, match="has no chat template: it goes on with a text as it is"):
            model.generate("The cat", chat=True)
    assert opened("ChatML").chats
