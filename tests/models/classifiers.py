"""Tiny classifiers of texts and of tokens, with labels of their own, saved as a folder that opens."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import torch
import transformers as T

import models
from models.language_model import LanguageModel
from tests.models.networks import NETWORKS, tokenizer

LABELS = ("sad", "neutral", "happy")
TEXT = "The cat sat on the mat, and the dog sat on the cat."
# name: the network of `NETWORKS` whose choices it has, class, choices of its own
CLASSIFIERS = {
    "BERT": ("BERT", "BertForSequenceClassification", {}),
    "RoBERTa": ("RoBERTa", "RobertaForSequenceClassification", {}),
    "DistilBERT": ("DistilBERT", "DistilBertForSequenceClassification", {}),
    "DeBERTa-v2": ("DeBERTa-v2", "DebertaV2ForSequenceClassification", {}),
    "GPT-2": ("GPT-2", "GPT2ForSequenceClassification", {"pad_token_id": None}),
    "Llama": ("Llama, grouped-query", "LlamaForSequenceClassification", {}),
    "BERT, any of them": ("BERT", "BertForSequenceClassification", {"problem_type": "multi_label_classification"}),
    "BERT, a number": ("BERT", "BertForSequenceClassification", {"labels": ("LABEL_0",)}),
    "BERT, tokens": ("BERT", "BertForTokenClassification", {}),
    "GPT-2, tokens": ("GPT-2", "GPT2ForTokenClassification", {}),
    "ModernBERT, the mean": ("ModernBERT", "ModernBertForSequenceClassification", {"classifier_pooling": "mean"}),
    "XLNet, the mean": ("XLNet", "XLNetForSequenceClassification", {"summary_type": "mean"}),
    "T5, tokens": ("T5", "T5ForTokenClassification", {}),
    "BART": ("BART", "BartForSequenceClassification", {}),
    "T5": ("T5", "T5ForSequenceClassification", {}),
}
TEXTS = tuple(name for name in CLASSIFIERS if not name.endswith("tokens"))


def classifier(name: str) -> T.PreTrainedModel:
    """A tiny network; the same weights at each call, large enough that its labels are not all alike."""
    like, architecture, more = CLASSIFIERS[name]
    _, _, config, choices = NETWORKS[like]
    names = more.get("labels", LABELS)
    choices = choices | {key: value for key, value in more.items() if key != "labels"}
    torch.manual_seed(0)
    config_object = getattr(T, config)(
        **choices, id2label=dict(enumerate(names)), label2id={label: i for i, label in enumerate(names)}
    )
    built = getattr(T, architecture)._from_config(config_object, attn_implementation="eager")
    with torch.no_grad():
        for parameter in built.parameters():
            if parameter.dim() > 1 and parameter.std() < 0.05:
                parameter.mul_(4)
    return built.eval().requires_grad_(False)


def saved(name: str, folder: Path) -> Path:
    classifier(name).save_pretrained(folder)
    kind = NETWORKS[CLASSIFIERS[name][0]][0]
    tokenizer("encoder" if name == "T5, tokens" else kind).save_pretrained(folder)  # it has no decoder
    return folder


@cache
def model(name: str) -> LanguageModel:
    """Open such a classifier from a folder."""
    return models.load(str(saved(name, Path(mkdtemp()))))
