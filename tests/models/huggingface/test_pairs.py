"""A text, or a pair of texts, is read with the token types that transformers gives it: those of the tokenizer, and no others."""

from __future__ import annotations

import pytest
import torch
import transformers as T
from tokenizers import processors

import models
from tests.models.huggingface.families import bert, byte_bpe, folder
from tests.models.networks import NETWORKS, SIZE, tokenizer


def without_types() -> T.PreTrainedTokenizerBase:
    tokens = tokenizer("encoder")
    tokens.model_input_names = ["input_ids", "attention_mask"]
    return tokens


def with_a_type_for_the_end() -> T.PreTrainedTokenizerBase:
    """As XLNet has them: the types of two texts, and one of its own for the token at the end."""
    tokens = tokenizer("encoder")
    tokens.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s> <s>:2", pair="$A </s> $B:1 </s>:1 <s>:2", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return tokens


# name: tokenizer, class, config class, choices
READERS = {
    "BERT": (lambda tmp: bert(tmp, lower=True), "BertForMaskedLM", "BertConfig", SIZE),
    "BERT, a tokenizer that gives no types": (lambda tmp: without_types(), "BertForMaskedLM", "BertConfig", SIZE),
    "RoBERTa, room for types (UniXcoder)": (
        lambda tmp: T.RobertaTokenizer(**byte_bpe()),
        "RobertaForMaskedLM",
        "RobertaConfig",
        SIZE | {"type_vocab_size": 10, "pad_token_id": 1},
    ),
    "three types": (lambda tmp: with_a_type_for_the_end(), "BertForMaskedLM", "BertConfig", SIZE | {"type_vocab_size": 3}),
    "types without a table": (lambda tmp: with_a_type_for_the_end(), "XLNetModel", "XLNetConfig", NETWORKS["XLNet"][3]),
    "no types at all": (lambda tmp: tokenizer("encoder"), "DistilBertForMaskedLM", "DistilBertConfig", NETWORKS["DistilBERT"][3]),
}


@pytest.mark.parametrize("name", READERS)
def test_one_text_and_two_are_read_as_transformers_reads_them(name, tmp_path):
    make, architecture, config, choices = READERS[name]
    tokens = make(folder(tmp_path))
    choices = choices | {"vocab_size": max(len(tokens), 300)}
    torch.manual_seed(0)
    network = getattr(T, architecture)(getattr(T, config)(**choices)).eval()
    for key, weight in network.named_parameters():
        if "token_type" in key or "seg_embed" in key or "r_s_bias" in key:
            torch.nn.init.normal_(weight)
    network.save_pretrained(tmp_path / "model")
    tokens.save_pretrained(tmp_path / "model")
    model = models.load(str(tmp_path / "model"))
    for texts in (["the cat sat"], ["the cat sat", "on the mat"]):
        with torch.no_grad():
            theirs = network(**model.vocabulary.tokenizer(*texts, return_tensors="pt"), output_hidden_states=True)
        trace = model.trace(*texts)
        torch.testing.assert_close(torch.tensor(trace.hidden["self"][1]), theirs.hidden_states[1][0], atol=1e-4, rtol=1e-4)
        if model.info.predicts:
            torch.testing.assert_close(torch.tensor(trace.logits), theirs.logits[0], atol=1e-4, rtol=1e-4)
            same = model.trace(*([token.id for token in trace.tokens if token.segment == i] for i in range(len(texts))))
            torch.testing.assert_close(torch.tensor(same.logits), theirs.logits[0], atol=1e-4, rtol=1e-4)
