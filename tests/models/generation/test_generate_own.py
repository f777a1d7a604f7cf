"""Models of ours go on with a text as transformers' own `generate` does with their networks: same tokens, same chances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers as T
from torch import nn
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput

import models
from models.generation.generate import Step
from models.generation.strategy import Strategy
from models.language_model import LanguageModel
from tests.grids import grid
from tests.models.generation.test_generate import CONTROLS, NEW, SAMPLED, TEXT, THEIRS, ours

MODELS = {
    "a decoder": lambda: ours("decoder"),
    "an encoder-decoder": lambda: ours("encoder-decoder"),
    "the writer": lambda: models.load("writer"),
    "the translator": lambda: models.load("translator"),
}


class Passing(nn.Module):
    """In the place of an encoder: the ids of the source, which the network itself reads."""

    main_input_name = "input_ids"

    def forward(self, input_ids: torch.Tensor, **_) -> BaseModelOutput:
        return BaseModelOutput(last_hidden_state=input_ids[..., None].float())


class Peer(T.PreTrainedModel, T.GenerationMixin):
    """A network of ours as transformers takes it: the logits are ours, everything else is its own, and all is read again."""

    config_class, main_input_name = T.PretrainedConfig, "input_ids"

    def __init__(self, model: LanguageModel, first: Step):
        both, ends = bool(first.source), sorted(first.reader.ends)
        start = first.tokens[0].id if both else None
        config = T.PretrainedConfig(
            is_encoder_decoder=both, vocab_size=model.info.vocabulary, decoder_start_token_id=start, bos_token_id=start
        )
        super().__init__(config)
        self.ours, self.passing = model.network, Passing()
        settings = {"decoder_start_token_id": start, "eos_token_id": ends or None, "pad_token_id": ends[0] if ends else 0}
        self.generation_config = T.GenerationConfig(**settings, suppress_tokens=sorted(first.never) or None, use_cache=False)

    def get_encoder(self, *_, **__) -> nn.Module:
        return self.passing

    def forward(self, input_ids=None, decoder_input_ids=None, encoder_outputs=None, **_) -> Seq2SeqLMOutput:
        if encoder_outputs is None:
            return Seq2SeqLMOutput(logits=self.ours(input_ids))
        return Seq2SeqLMOutput(logits=self.ours(encoder_outputs[0][..., 0].long(), decoder_input_ids))


def theirs(model: LanguageModel, first: Step, sample: bool = False, **options) -> Any:
    ids = torch.tensor([[token.id for token in first.source or first.tokens]])
    with torch.inference_mode():
        return Peer(model, first).generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=NEW,
            do_sample=sample,
            early_stopping="num_beams" in options,
            output_scores=True,
            return_dict_in_generate=True,
            top_k=options.pop("top_k", 0 if sample else None),
            **options,
        )


def generated_ids(output: Any, first: Step) -> tuple[int, ...]:
    ids = tuple(output.sequences[0, len(first.tokens) :].tolist())
    ends = [at for at, id in enumerate(ids) if id in first.reader.ends]
    return ids[: ends[0] + 1] if ends else ids


BEST = [(name, *control) for name in MODELS for control in CONTROLS]
DRAWN = [(name, controls) for name in MODELS for controls in SAMPLED]


@pytest.mark.parametrize(("name", "strategy", "options"), grid(BEST, BEST[::5]))
def test_greedy_and_beams_with_each_control_are_those_of_transformers(name, strategy, options):
    model = MODELS[name]()
    first = next(model.generate(TEXT))
    steps, output = list(model.generate(TEXT, strategy, NEW, cache=False)), theirs(model, first, **options)
    assert steps[-1].continuation == generated_ids(output, first)
    if strategy.method == "beam":
        best = steps[-1].search.answers[0]
        expected = float(output.sequences_scores[0]) * len(best.ids) ** strategy.length_penalty
        assert best.score == pytest.approx(expected, abs=1e-3)
    else:
        for step, changed in zip(steps, output.scores, strict=False):
            np.testing.assert_allclose(step.probabilities, changed[0].double().softmax(-1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("name", "controls"), grid(DRAWN, DRAWN[::3]), ids=str)
def test_a_sampled_text_has_their_distribution_at_each_step(name, controls):
    model, strategy = MODELS[name](), Strategy(method="sampling", **controls)
    first = next(model.generate(TEXT))
    torch.manual_seed(3)
    output = theirs(model, first, True, **{THEIRS.get(name, name): value for name, value in controls.items()})
    steps = list(model.generate(TEXT, strategy, NEW, forced=generated_ids(output, first), cache=False))
    assert steps[-1].continuation == generated_ids(output, first)
    for step, changed in zip(steps, output.scores, strict=True):
        np.testing.assert_allclose(step.probabilities, changed[0].double().softmax(-1), rtol=1e-5, atol=1e-6)
