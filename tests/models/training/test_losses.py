"""The loss of tokens and of those to be avoided, its gradient, and the marks of repetition, against plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from models.attention.kernel import causal_in_pieces, softmax_attention
from models.attention.weight_formula import causal_mask
from models.scratch.config import TransformerConfig
from models.scratch.transformer import build
from models.training.corpus import train_tokenizer
from models.training.losses import IGNORED, NONE, POSITIONS, token_loss
from models.training.repetition import continued, ends_in_a_loop, repeated_row, said_before, word_ids


def by_hand(x, unembedding, targets, avoided, strength):
    """Position by position, token by token, in the arithmetic of autograd."""
    right, wrong = [], []
    for position, target in enumerate(targets.tolist()):
        logs = (unembedding @ x[position]).log_softmax(-1)
        if target != IGNORED:
            right.append(-logs[target])
        bad = [-torch.log(1 - logs[token].exp()) for token in avoided[position].tolist() if token != NONE]
        if bad:
            wrong.append(sum(bad))
    loss = sum(right) / len(right) if right else 0.0
    return loss + (strength * sum(wrong) / len(targets) if wrong else 0.0)


@pytest.mark.parametrize(("ignored", "avoiding"), [(0.0, 0.0), (0.3, 0.5), (1.0, 1.0), (0.5, 1.0)])
def test_the_loss_and_its_gradient_are_those_of_the_formula(ignored, avoiding):
    generator = torch.Generator().manual_seed(0)
    count, vocabulary = POSITIONS + 40, 11
    x = torch.randn(count, 4, generator=generator, requires_grad=True)
    unembedding = torch.randn(vocabulary, 4, generator=generator, requires_grad=True)
    targets = torch.randint(0, vocabulary, (count,), generator=generator)
    targets[torch.rand(count, generator=generator) < ignored] = IGNORED
    avoided = torch.stack([torch.randperm(vocabulary, generator=generator)[:3] for _ in range(count)])
    avoided[torch.rand(count, 3, generator=generator) < 0.4] = NONE
    avoided[torch.rand(count, generator=generator) >= avoiding] = NONE
    losses, gradients = [], []
    for way in (token_loss, by_hand):
        loss = 2 * way(x, unembedding, targets, avoided, 0.7)
        losses.append(loss.item())
        gradients.append(torch.autograd.grad(loss, (x, unembedding)))
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    for ours, its in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, its, atol=1e-6, rtol=1e-4)


def test_with_nothing_to_predict_and_nothing_to_avoid_the_loss_is_zero():
    x, unembedding = torch.randn(3, 4, requires_grad=True), torch.randn(5, 4, requires_grad=True)
    loss = token_loss(x, unembedding, torch.full((3,), IGNORED))
    loss.backward()
    assert loss.item() == 0 and not x.grad.any() and not unembedding.grad.any()


def test_a_token_that_is_certain_and_to_be_avoided_has_a_finite_loss():
    x, unembedding = torch.full((1, 1), 50.0, requires_grad=True), torch.tensor([[1.0], [0.0]], requires_grad=True)
    loss = token_loss(x, unembedding, torch.tensor([IGNORED]), torch.tensor([[0]]))
    loss.backward()
    assert math.isfinite(loss.item()) and torch.isfinite(x.grad).all() and x.grad.item() > 0, "its logit is to fall"


def test_a_run_of_four_that_was_there_before_is_marked_after_the_prompt():
    ids = torch.from_numpy(np.random.default_rng(0).integers(0, 3, (20, 40)))
    prompt, length = 7, 4
    wanted = torch.zeros_like(ids, dtype=torch.bool)
    for row, text in enumerate(ids.tolist()):
        for at in range(len(text) - length + 1):
            if any(text[at : at + length] == text[before : before + length] for before in range(at)):
                wanted[row, at : at + length] = True
    wanted[:, :prompt] = False
    assert wanted.any() and torch.equal(said_before(ids, prompt, length), wanted)


def test_a_loop_is_a_piece_that_the_end_says_again():
    before = list(range(100, 140))
    rows = {
        "one token, often": ([*before, *[7] * 40], True),
        "a piece of 30, twice": ([*before[:20], *range(30), *range(30)], True),
        "a piece of 12, twice": ([*before, *range(16), *range(12), *range(12)], True),
        "a piece of 8, twice: 16 tokens may be chance": ([*before, *range(50, 74), *range(8), *range(8)], False),
        "a loop that it left": ([*[7] * 79, 8], False),
        "no loop": (list(range(80)), False),
    }
    loops_at_end = ends_in_a_loop(torch.tensor([ids for ids, _ in rows.values()]))
    assert dict(zip(rows, loops_at_end.tolist(), strict=True)) == {name: loops for name, (_, loops) in rows.items()}


def test_going_on_with_a_cache_takes_the_likeliest_token_each_time():
    torch.manual_seed(0)
    model = build(TransformerConfig(vocabulary=40, context=24, d_model=16, layers=2, heads=2, d_ff=16)).eval()
    ids = torch.randint(0, 40, (3, 5))
    with torch.no_grad():
        wanted = ids
        while wanted.shape[1] < 20:
            wanted = torch.cat([wanted, model(wanted)[:, -1].argmax(-1, keepdim=True)], 1)
    assert torch.equal(continued(model, ids, 20), wanted)


def test_a_repeated_row_is_of_its_pool_and_can_be_known_from_the_second_round_on():
    pool = np.arange(50, 300)
    ids, known = repeated_row(np.random.default_rng(0), 0, pool, 64)
    period = int((~known).sum()) - 1
    np.testing.assert_array_equal(ids[known], ids[np.flatnonzero(known) - period])
    assert ids[0] == 0 and np.isin(ids[1:], pool).all()


def test_words_are_whole_words_with_their_space():
    tokenizer = train_tokenizer(["The cat sat on the mat, and the cat sat on the hat."] * 9, 300)
    assert {tokenizer.decode([int(id)]) for id in word_ids(tokenizer)} >= {" cat", " the"}
    assert all(tokenizer.decode([int(id)]).strip().isalpha() for id in word_ids(tokenizer))


def test_causal_attention_in_pieces_is_causal_attention():
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, heads, 128, 8, dtype=torch.float64) for heads in (4, 2, 2))
    whole = softmax_attention(q, k, v, causal_mask(128, 128), scale=0.3)
    torch.testing.assert_close(causal_in_pieces(q, k, v, scale=0.3), whole)
