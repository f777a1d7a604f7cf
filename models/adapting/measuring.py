"""Measurements of a network that is taught sentences: over these, with their last words exchanged, and over other texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.adapting.network import plain_network
from models.adapting.sentences import Sentence
from models.training.optimisation import IGNORED, smoothed_loss


@dataclass(frozen=True)
class Texts:
    """The texts over which a network is measured: the sentences that are taught, the same with their last words exchanged (none
    where these are all alike), and tokens of texts that are not taught."""

    taught: Sequence[Sentence]
    exchanged: Sequence[Sentence]
    others: Sequence[Sequence[int]]


@dataclass(frozen=True)
class Measured:
    """The measurements of a model after a number of steps.

    loss: nats a token over the sentences; others: over text that is not taught; exchanged: over the sentences with their last
    words exchanged, NaN where there are none. chances: of each sentence's last word after the words before it, as the product of
    its tokens' probabilities; wrong: of the exchanged last word at the same place.
    """

    step: int
    loss: float
    others: float
    exchanged: float
    chances: tuple[float, ...]
    wrong: tuple[float, ...]


@torch.no_grad()
def measure(network: nn.Module, texts: Texts, step: int = 0) -> Measured:
    """Return the measurements of a decoder, without dropout."""
    network.eval()
    chances, losses = _answers(network, texts.taught)
    wrong, exchanged = _answers(network, texts.exchanged) if texts.exchanged else ((), (float("nan"),))
    others = float(mean_loss(network, texts.others)) if texts.others else float("nan")
    return Measured(step, sum(losses) / len(losses), others, sum(exchanged) / len(exchanged), chances, wrong)


@torch.no_grad()
def measure_at(network: nn.Module, weights: Mapping[str, Tensor], texts: Texts, strengths: Sequence[float]) -> list[Measured]:
    """Return the measurements at each strength s of a change: with the weights W + s · (W′ − W).

    network: with the weights W; it has them again afterwards. weights: the W′, by the names of its parameters.
    """
    own = dict(network.named_parameters())
    before = {name: own[name].detach().clone() for name in weights if name in own}
    measured = []
    try:
        for strength in strengths:
            for name, weight in before.items():
                own[name].copy_(torch.lerp(weight, weights[name], strength))
            measured.append(measure(network, texts))
    finally:
        for name, weight in before.items():
            own[name].copy_(weight)
    return measured


def mean_loss(network: nn.Module, texts: Sequence[Sequence[int]]) -> Tensor:
    """Return the mean loss over all tokens of texts but the first of each, in nats."""
    logits, ids = _read(network, texts)
    targets = torch.full_like(ids, IGNORED)
    for row, text in enumerate(texts):
        targets[row, : len(text) - 1] = ids[row, 1 : len(text)]
    return smoothed_loss(logits, targets)


def _read(network: nn.Module, texts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Return logits [text, position, vocabulary], and ids [text, position]. Shorter texts are filled up behind their end,
    where no earlier position of a decoder looks."""
    longest = max(map(len, texts))
    device = next(network.parameters()).device
    ids = torch.tensor([[*text, *[text[-1]] * (longest - len(text))] for text in texts], device=device)
    answer = plain_network(network)(ids)
    return (answer if isinstance(answer, Tensor) else answer.logits).float(), ids


def _answers(network: nn.Module, sentences: Sequence[Sentence]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the chance of each sentence's answer, and the sentence's loss a token in nats."""
    logits, ids = _read(network, [sentence.ids for sentence in sentences])
    logs = logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]  # [sentence, position − 1]
    chances, losses = [], []
    for row, sentence in enumerate(sentences):
        chances.append(float(logs[row, sentence.begins - 1 : sentence.ends - 1].sum().exp()))
        losses.append(-float(logs[row, : len(sentence.ids) - 1].mean()))
    return tuple(chances), tuple(losses)
