"""Real GPT-2 small, computed elsewhere: our analyses run on its arrays and find what is known of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis import entropy, head_statistics, head_summary, pair, rollout
from models import Attention, Token

SHARED = Path(__file__).parents[3] / "shared"
GOLDEN = sorted((SHARED / "data" / "gpt2-golden").glob("*.npz"))
TOKENIZER = SHARED / "models" / "gpt2-tokenizer"

pytestmark = pytest.mark.skipif(not GOLDEN or not TOKENIZER.is_dir(), reason="the recorded arrays of GPT-2 are not here")


@pytest.fixture(scope="module")
def vocabulary():
    from transformers import AutoTokenizer

    from models.huggingface.text import TextTokens

    return TextTokens(AutoTokenizer.from_pretrained(TOKENIZER, local_files_only=True))


@pytest.fixture(params=GOLDEN, ids=lambda path: path.stem)
def golden(request, vocabulary) -> tuple[dict, Attention]:
    arrays = dict(np.load(request.param))
    text = "".join(vocabulary.text(int(id))[0] for id in arrays["ids"])
    tokens = vocabulary.tokens(text)
    return arrays, Attention.from_arrays(arrays["attn"], tokens, tokens)


def test_our_tokenizer_reads_the_same_ids(golden):
    arrays, attention = golden
    assert [token.id for token in attention.queries] == arrays["ids"].tolist()
    assert all(isinstance(token, Token) and token.start < token.end for token in attention.queries)


def test_rollout_of_real_weights_is_a_causal_distribution(golden):
    result = rollout(golden[1])
    assert result.shape[0] == 12
    np.testing.assert_allclose(result.sum(-1), 1, atol=1e-6)
    assert np.triu(result, 1).max() == 0


def test_the_weights_are_the_softmax_of_the_scores(golden):
    arrays, attention = golden
    scores = arrays["scores"].astype(np.float64) / 8  # before scaling, d_head = 64
    scores = np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    expected = powers / powers.sum(-1, keepdims=True)
    for layer in range(12):
        np.testing.assert_allclose(attention[layer], expected[layer], atol=5e-3)  # both in float16


def test_the_numbers_of_page_layers_find_the_known_heads(golden):
    _, attention = golden
    assert pair_shares(attention, 4, 11).min() >= 0.99 and head_summary(attention[4][11]).previous >= 0.99, (
        "a previous-token head"
    )
    table = head_statistics(attention)
    assert 0.80 <= table.loc[table["layer"] >= 6, "first"].mean() <= 0.87  # late attention rests on the first token


def pair_shares(attention: Attention, layer: int, head: int) -> np.ndarray:
    """What every token gives to the one before it, as part "Evolution" finds it."""
    return np.array([pair(attention, at, at - 1).weights[layer, head] for at in range(1, len(attention.queries))])


def test_entropy_is_between_none_and_an_even_share(golden):
    _, attention = golden
    entropies = entropy(attention)
    most = np.log(np.arange(1, len(attention.queries) + 1))
    assert entropies.shape == (12, 12, len(attention.queries))
    assert entropies.min() > -1e-3 and (entropies <= most + 1e-2).all()
