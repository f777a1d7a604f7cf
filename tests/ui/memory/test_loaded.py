"""A server reads no more of a text than it has memory for, and the texts of many visitors as if each were alone."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from models.edits import Head
from ui.memory import loaded
from ui.memory.loaded import BYTES, READ_AT_MOST, read_at_most


@given(st.integers(1, 10**6), st.integers(1, 64), st.integers(1, 200), st.integers(1, 300_000), st.booleans())
def test_a_text_fits_into_the_memory_it_may_take(bytes, heads, layers, vocabulary, queries):
    info = SimpleNamespace(heads=heads, decoder_heads=0, layers=layers, vocabulary=vocabulary, queries=queries)
    most = read_at_most(info, SimpleNamespace(bytes=3 * bytes, tokens=[1, 2, 3], target=[]))
    planes = 3 if queries else 3 + layers
    taken = most * (bytes + 4 * vocabulary) + 4 * planes * heads * most**2
    assert READ_AT_MOST[0] <= most <= READ_AT_MOST[1]
    assert taken <= BYTES or most == READ_AT_MOST[0]


def test_a_model_of_images_opens_and_reads_what_a_text_names():
    assert loaded.model("digits").info.reads == ("image",)
    assert loaded.read("digits", "digit 3").text == "digit 3"


SAME = "The cat sat"
TEXTS = ["The cat", SAME, SAME, "A dog", "Once upon a time there was a dog", "", f"{SAME} on the mat", "é👩‍🚀"]


def test_threads_that_read_at_the_same_moment_get_what_each_would_get_alone(monkeypatch):
    model, sizes = loaded.model("writer"), []
    real, at_once = model.read_parts, threading.Barrier(len(TEXTS))

    def count(parts: list) -> list:
        sizes.append(len(parts))
        return real(parts)

    def read(text: str) -> tuple:
        at_once.wait(60)
        plain = loaded.read("writer", text)
        at_once.wait(60)
        return plain, loaded.read("writer", f"{text} with a bone"), loaded.read("writer", text, edits=[Head(0, 0)])

    model.forget()
    monkeypatch.setattr(model, "read_parts", count)
    with ThreadPoolExecutor(len(TEXTS)) as threads:
        answers = list(threads.map(read, TEXTS))
    monkeypatch.undo()
    assert sum(sizes) <= 2 * len(TEXTS)
    for text, (plain, longer, edited) in zip(TEXTS, answers, strict=True):
        for trace, alone in (
            (plain, model.trace(text, remember=False)),
            (longer, model.trace(text + " with a bone", remember=False)),
            (edited, model.trace(text, edits=[Head(0, 0)])),
        ):
            assert trace.text == alone.text and trace.tokens == alone.tokens and trace.edits == alone.edits
            assert trace.model is model
            np.testing.assert_allclose(trace.hidden["self"], alone.hidden["self"], atol=1e-3)
            np.testing.assert_allclose(trace.attention["self"][5], alone.attention["self"][5], atol=2e-5)
            np.testing.assert_allclose(trace.logits_at(-1), alone.logits_at(-1), atol=1e-4)
