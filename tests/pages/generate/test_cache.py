"""The costs that are calculated once for a model keep it in memory no longer than the server does."""

from __future__ import annotations

import gc
import weakref

from models.scratch.decoder_model import DecoderModel
from models.scratch.signs import END, START
from models.training.corpus import train_tokenizer
from pages.generate import cache
from tests.models.ours import small


def test_a_model_that_left_is_freed_though_its_costs_were_shown():
    tokenizer = train_tokenizer(["the cat sat on the mat"] * 3, 270, (START, END))
    model = DecoderModel(small(vocabulary=tokenizer.get_vocab_size()), tokenizer, "small", "test")
    costs, left = cache._costs(model, "", 0), weakref.ref(model)
    assert cache._costs(model, "", 0) is costs
    del model
    gc.collect()
    assert left() is None
