"""A text may be given as the ids of its tokens: these are read as they are, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from analysis import head_effects, patching
from tests.models.edited import NAMES, OTHER, TEXT, model, read, same


def ids(tokens) -> list[int]:
    return [token.id for token in tokens]


@pytest.mark.parametrize("name", NAMES)
def test_the_ids_of_a_trace_are_the_same_reading_bit_for_bit(name):
    plain, subject = read(name), model(name)
    from_ids = subject.trace(ids(plain.tokens), ids(plain.target))
    assert same(plain, from_ids) and ids(from_ids.tokens) == ids(plain.tokens) and ids(from_ids.target) == ids(plain.target)
    assert [token.text for token in from_ids.tokens] == [token.text for token in plain.tokens]
    typed = [token for token in from_ids.tokens if not token.special]
    assert all(from_ids.text[token.start : token.end] == token.text for token in typed)
    assert same(plain, subject.trace(from_ids.text, ids(plain.target))), "what they spell keeps which tokens it is of"


@pytest.mark.parametrize("kind", [np.array, torch.tensor, tuple])
def test_an_array_a_tensor_and_a_tuple_are_lists_too(kind):
    writer, token_ids = model("writer"), ids(read("writer").tokens)
    assert same(writer.trace(kind(token_ids)), read("writer"))
    assert writer.predict(kind(token_ids)) == writer.predict(TEXT)
    assert len(writer.traces(kind(token_ids), [[], []])) == 2, "one text, read once for each list of edits"


def test_all_that_takes_a_text_takes_ids():
    writer, first, second = model("writer"), *(ids(model("writer").tokenize(text)) for text in (TEXT, OTHER))
    outputs = [list(writer.generate(text, max_new_tokens=3))[-1].continuation for text in (TEXT, first)]
    assert outputs[0] == outputs[1]
    np.testing.assert_array_equal(head_effects(writer, first), head_effects(writer, TEXT))
    effects = patching(writer, first[:6], second[:6], measure="KL")
    assert effects.shape == (7, 6)
    assert [trace.tokens for trace in writer.traces([TEXT, first])][1] == writer.trace(first).tokens


def test_nothing_is_put_before_or_after_ids_and_the_oldest_leave_a_full_context():
    writer = model("writer")
    body = ids(writer.tokenize(TEXT))[1:]
    assert ids(writer.trace(body).tokens) == body, "no start token of its own"
    long = writer.trace([writer.tokenize("")[0].id, *body * 60])
    assert len(long.tokens) == writer.room and long.cut > 0 and long.tokens[0].special
    bert = model("BERT")
    pair = bert.trace(ids(bert.tokenize("the cat")), ids(bert.tokenize("the dog"))[1:])
    assert [token.segment for token in pair.tokens] == [token.segment for token in bert.trace("the cat", "the dog").tokens]
    assert same(pair, bert.trace("the cat", "the dog"))
    with pytest.raises(ValueError, match="both as ids"):
        bert.trace("the cat", [3, 4])


@pytest.mark.parametrize("name", ["writer", "translator", "GPT-2", "BERT"])
@pytest.mark.parametrize("strange", [-1, 10**9])
def test_an_id_beyond_the_vocabulary_is_named(name, strange):
    subject = model(name)
    for call in (subject.trace, subject.predict, lambda text: subject.traces([text, text]), subject.generate):
        if call == subject.generate and subject.info.kind == "encoder":
            continue
        with pytest.raises(ValueError, match=f"has no token {strange}: its tokens are 0 to {subject.ids - 1:,}"):
            call([1, strange])


def test_what_is_no_list_of_ids_is_said():
    writer = model("writer")
    for ids_of_text in ([1, 2.5], [1, True], [[1, 2]], ["a"], [None]):
        with pytest.raises(TypeError, match=r"The text holds .*: the ids of one text are a list of whole numbers"):
            writer.trace(ids_of_text)
    with pytest.raises(ValueError, match="no token to read"):
        writer.trace([])
    with pytest.raises(ValueError, match=r"no chat template|A turn of a chat is a text"):
        writer.generate([1, 2], chat=True)
