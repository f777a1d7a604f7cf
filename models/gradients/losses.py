"""The loss of a model on a whole text with edits, and its slope against each head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F

from models.editing.batches import of_trace, plan_of, read, streams
from models.edits import Edit
from models.numbers.ragged import stacked
from models.trace import Trace

if TYPE_CHECKING:
    from models.language_model import LanguageModel

HIDDEN = 7  # of an encoder's text, every seventh token is masked
MIXED = "Layers without attention that mix positions follow the last block of {name}, so slopes of a whole text are not measured."


@dataclass(frozen=True, eq=False)
class Scored:
    """A text, read once, with the tokens to be predicted in it: `ids` at `positions` of `trace.read`."""

    trace: Trace
    positions: tuple[int, ...]
    ids: tuple[int, ...]


def scored(model: LanguageModel, text: str, target: str = "") -> Scored:
    """Read a text, and choose what to predict in it: for a decoder each token from those before it, for an encoder every seventh
    token, all masked at once, for an encoder-decoder each token of the target.

    Errors: ValueError without a language-model head, and for a text in which nothing is to be predicted.
    """
    ready = model.prepare(text, target)
    read_tokens = ready.target_tokens or ready.tokens
    if model.info.kind == "encoder":
        mask = next((token.id for token in model.tokenize(model.info.mask) if token.text == model.info.mask), None)
        positions = [i for i, token in enumerate(read_tokens) if not (token.special or token.id == mask)][HIDDEN // 2 :: HIDDEN]
        if mask is None:
            raise ValueError(f"{model.info.name} has no mask token, so nothing can be asked of it.")
        tokens = [replace(token, id=mask) if i in set(positions) else token for i, token in enumerate(read_tokens)]
        ready, answers = replace(ready, tokens=tokens), [read_tokens[i].id for i in positions]
    else:
        positions = [i for i, token in enumerate(read_tokens[1:]) if not token.special]
        answers = [read_tokens[i + 1].id for i in positions]
    if not positions:
        raise ValueError("There is nothing to predict in this text: give a longer one.")
    (trace,) = read(model, [ready])
    if trace.unembed is None:
        raise ValueError(f"{model.info.name} has no language-model head, so it has no loss.")
    return Scored(trace, tuple(positions), tuple(answers))


def losses(model: LanguageModel, text: Scored, edits: Sequence[Sequence[Edit]]) -> np.ndarray:
    """Return the mean loss of a text, −ln p of a token, with each list of edits: float64 [list], nats."""
    means = np.empty(len(edits))
    ids = torch.tensor(text.ids)
    assert text.trace.unembed is not None, "`scored` has said so"
    for row, stream in streams(model, text.trace, edits):
        logits = torch.from_numpy(text.trace.unembed(stream[list(text.positions)]))
        means[row] = F.cross_entropy(logits, ids).item()
    return means


def head_slopes(model: LanguageModel, text: Scored) -> dict[str, np.ndarray]:
    """Return the slope of a text's mean loss against a factor ξ on each head's output, at ξ = 1: float64 [layers, heads] by kind.

    dL/dξ = Σ (dL/dO) · O over positions and dimensions, O what the head gives: one pass forward and one backward for all heads.
    Errors: ValueError where layers that mix positions follow the last block.
    Source: Michel, Levy and Neubig 2019, "Are Sixteen Heads Really Better than One?", section 4.1.
    """
    trace = text.trace
    if trace.tail is not None:
        raise ValueError(MIXED.format(name=model.info.name))
    calls, places = model.pass_order
    stack = "decoder" if trace.target else "self"
    with torch.enable_grad():
        record = model.run_plan([trace.tokens], [trace.target], plan_of(model, [of_trace(trace)]), outs=True)
        stream = record.hidden[stack][places[stack][-1]][0]
        logits = model.way_out(stream[list(text.positions)]).float()
        loss = F.cross_entropy(logits, torch.tensor(text.ids, device=logits.device))
        assert record.outs is not None, "outs were asked for"
        slopes = torch.autograd.grad(loss, record.outs, allow_unused=True)
    products: dict[str, list[np.ndarray]] = {}
    for (kind, _), rows, out, slope in zip(calls, record.rows, record.outs, slopes, strict=True):
        product = torch.zeros_like(out) if slope is None else (out * slope).detach()
        # Weights have their heads first, outputs after the query.
        of = (0, 2, 3) if rows[0].given is not None else (0, 1, 3)
        products.setdefault(kind, []).append(product.double().sum(of).cpu().numpy())
    return {kind: stacked(layers) for kind, layers in products.items()}
