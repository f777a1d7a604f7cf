from __future__ import annotations

import pytest
import torch

import models
from models.scratch.decoder_model import DecoderModel
from models.scratch.transformer import Decoder, TransformerConfig
from models.training.corpus import train_tokenizer


@pytest.fixture(scope="session")
def writer():
    return models.load("writer")


def random_decoder(**choices) -> Decoder:
    """A small decoder whose every weight is random, those that start at zero too."""
    torch.manual_seed(0)
    decoder = Decoder(
        TransformerConfig(**{"vocabulary": 300, "context": 64, "d_model": 32, "layers": 3, "heads": 4, "d_ff": 48} | choices)
    )
    for parameter in decoder.parameters():
        if parameter.dim() == 2:
            torch.nn.init.normal_(parameter, std=0.3)
    return decoder.eval()


@pytest.fixture(scope="session", params=["rotary", "learned"])
def small(request) -> DecoderModel:
    """A random model with a real tokenizer, one for each kind of positions."""
    tokenizer = train_tokenizer(["the cat sat on the mat and the dog sat on the cat"] * 3, 300)
    return DecoderModel(
        random_decoder(positions=request.param, vocabulary=tokenizer.get_vocab_size()), tokenizer, "small", "test"
    )
