"""Heads are measured on texts that the model can read: those that its tokenizer cannot spell are refused."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import WordLevel

import models
from analysis import find_circuit, head_examples, head_importance, head_labels, head_likeness, head_means, head_scores
from analysis.heads import kinds_of_keys, separates
from analysis.samples import UNKNOWN, Unspelt, fit, natural, passages, pieces_of, repeated_words, typed, unknown_share
from models.huggingface.model import HuggingFaceModel

WORDS = [f"w{i}" for i in range(40)]
OWN = [" ".join(np.random.default_rng(seed).permutation(WORDS)[:12]) for seed in range(4)]


@cache
def few_words(kind: str = "decoder") -> HuggingFaceModel:
    """A tiny model whose tokenizer knows forty words of its own and nothing else."""
    signs = ["<unk>", "<s>", "</s>", "<mask>"]
    raw = Tokenizer(WordLevel({word: i for i, word in enumerate([*signs, *WORDS])}, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    names = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "mask_token": "<mask>"}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, **names)
    torch.manual_seed(0)
    sizes = {"vocab_size": len(tokenizer), "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    sizes |= {"num_attention_heads": 4}
    if kind == "encoder":
        network = transformers.BertForMaskedLM(transformers.BertConfig(**sizes, pad_token_id=2))
    else:
        network = transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes, num_key_value_heads=2))
    return HuggingFaceModel(network.eval(), tokenizer, kind, name="few words")


@pytest.mark.parametrize("kind", ["decoder", "encoder"])
@pytest.mark.parametrize(
    "measure",
    [head_labels, head_scores, head_importance, head_likeness, head_means, lambda model: head_examples(model, 0, 0, "previous")],
)
def test_what_heads_do_on_unknown_tokens_is_not_said_of_the_model(kind, measure):
    with pytest.raises(Unspelt, match="few words cannot spell the sample texts: 100% of the tokens"):
        measure(few_words(kind))


@pytest.mark.parametrize("kind", ["decoder", "encoder"])
def test_texts_of_a_visitors_own_are_measured_everywhere(kind):
    model = few_words(kind)
    table = head_labels(model, seeds=1, texts=OWN)
    assert np.isfinite(table["previous_low"]).all() and np.isfinite(table["duplicate"]).all()
    assert table["name"].isna().all(), "its tokenizer cannot spell sentences with names"
    assert head_scores(model, OWN)["previous"].tolist() == pytest.approx(table["previous"].tolist())
    assert head_importance(model, OWN).unknown == 0 and head_importance(model, OWN).texts == len(OWN)
    assert np.isfinite(head_likeness(model, OWN).maps).all()
    assert head_means(model, texts=OWN).shape == (2, 4, 8)
    assert head_examples(model, 0, 0, "previous", texts=OWN)[0].text in OWN
    with pytest.raises(Unspelt, match="cannot spell these texts"):
        head_labels(model, texts=["nothing that it knows", OWN[0]])


def test_means_of_a_circuit_are_over_the_texts_that_are_given():
    model = few_words()
    trace = model.trace(OWN[0])
    with pytest.raises(Unspelt):
        find_circuit(model, trace)
    best = int(np.argmax(trace.logits[-1]))
    try:
        circuit = find_circuit(model, trace, best, texts=OWN)
    except ValueError as error:
        assert "there is nothing that a circuit could keep" in " ".join(str(error).split()), "the texts could be read"
    else:
        assert circuit.nodes


def test_a_fifth_of_unknown_tokens_is_the_most_that_is_measured():
    model = few_words()
    for strange, refused in ((2, False), (3, True)):
        text = " ".join([*WORDS[: 10 - strange], *["strange"] * strange])
        assert unknown_share(typed(model.tokenize(text))) == strange / 10
        if refused:
            with pytest.raises(Unspelt):
                head_scores(model, [text, text])
        else:
            assert head_importance(model, [text]).unknown == pytest.approx(UNKNOWN)


def test_an_unknown_token_and_a_mask_part_no_text():
    model = few_words("encoder")
    tokens = model.tokenize("w1 strange <mask> w2 w3")
    assert [token.unknown for token in typed(tokens)] == [False, True, False, False, False]
    assert not any(separates(token, model.info.mask) for token in typed(tokens))
    assert not kinds_of_keys(typed(tokens), model.info.mask)["separator"].any()
    ours = models.load("writer").tokenize("one, two")
    assert [separates(token) for token in ours] == [True, False, True, False]


@pytest.mark.parametrize("seed", range(3))
def test_random_words_that_are_repeated_are_words_that_the_tokenizer_spells(seed):
    for model in (few_words(), models.load("writer")):
        tokens = typed(model.tokenize(repeated_words(model, seed=seed)))
        assert not any(token.unknown for token in tokens)
        ids = [token.id for token in tokens]
        assert ids[: len(ids) // 2] == ids[len(ids) // 2 :] and len(set(ids)) >= 40


def test_how_well_a_model_reads_texts_is_its_mean_loss_over_all_tokens():
    writer = models.load("writer")
    result = fit(writer)
    assert result.unknown == 0 and result.even == pytest.approx(np.log(8192))
    losses = []
    for text in natural():
        trace = writer.trace(text)
        logits = trace.logits.astype(np.float64)
        chances = (
            logits - np.log(np.exp(logits - logits.max(-1, keepdims=True)).sum(-1, keepdims=True)) - logits.max(-1, keepdims=True)
        )
        losses += [-chances[i, token.id] for i, token in enumerate(trace.tokens[1:])]
    assert result.tokens == len(losses) and result.loss == pytest.approx(np.mean(losses), abs=1e-4)
    assert fit(few_words()).unknown > 0.9


def test_a_long_text_is_cut_into_its_lines_and_long_lines_into_parts():
    assert [piece for piece, _ in pieces_of("one line\n\nanother line")] == ["one line", "another line"]
    assert len(pieces_of(" ".join(["word"] * 80))) == 2


def test_passages_for_a_curve_are_others_than_those_an_order_comes_from():
    assert len(natural()) == len(passages()[1]) == 12 and not set(natural()) & set(passages()[1])
