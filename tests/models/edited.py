"""The models that edits are tested on: the three that ship, and tiny ones of the Hub's architectures."""

from __future__ import annotations

from functools import cache

import numpy as np

import models
from models.huggingface.model import HuggingFaceModel
from models.language_model import LanguageModel
from models.trace import Trace
from tests.models.networks import NETWORKS, network, tokenizer

OURS = ("writer", "filler", "translator")
THEIRS = (
    "GPT-2",
    "Llama, grouped-query",
    "Mistral, sliding window",
    "Gemma 2, soft-capped",
    "GPT-OSS, sinks",
    "Mixtral",
    "GPT-NeoX",
    "BLOOM",
    "Falcon",
    "BERT",
    "ALBERT",
    "XLNet",
    "T5",
    "BART",
)
NAMES = (*OURS, *THEIRS)
OTHER, TEXT, TARGET = "The dog ran to the garden", "The cat sat on the mat", "Le chat"


@cache
def model(name: str) -> LanguageModel:
    if name in OURS:
        return models.load(name)
    kind = NETWORKS[name][0]
    return HuggingFaceModel(network(name), tokenizer(kind), kind, name != "XLNet", name)


def target(name: str) -> str:
    return TARGET if model(name).info.kind == "encoder-decoder" else ""


def read(name: str, *edits, text: str = TEXT) -> Trace:
    return model(name).trace(text, target(name), edits=edits)


def stack(name: str) -> str:
    """The stack that predictions are made of."""
    return "decoder" if target(name) else "self"


def apart(first: Trace, second: Trace) -> float:
    """Return the largest difference of two traces' streams."""
    return max(float(np.abs(first.hidden[name] - second.hidden[name]).max()) for name in first.hidden)


def same(first: Trace, second: Trace) -> bool:
    """Return whether two traces are equal, bit for bit."""
    streams = all(np.array_equal(first.hidden[name], second.hidden[name]) for name in first.hidden)
    kinds = first.attention.items()
    return streams and all(
        np.array_equal(a[layer], second.attention[kind][layer]) for kind, a in kinds for layer in range(a.layers)
    )
