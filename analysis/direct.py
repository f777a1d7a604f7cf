"""Direct logit attribution: what the embedding, each head and each feed-forward adds to the logit of a word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from models.edits import Head, Skip
from models.language_model import LanguageModel
from models.trace import Trace

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

CLOSE = {"float32": 1e-3, "float16": 1e-2, "bfloat16": 5e-2}  # tolerated error of a sum, of the largest number

Write = tuple[str, int | None, int | None, np.ndarray]  # part, layer, head, vector [d_model]


def logit_attribution(
    model: LanguageModel, trace: Trace, token: int, position: int = -1, against: int | None = None
) -> pd.DataFrame:
    """Return each part's direct contribution to a token's logit at a position: columns part, layer, head, contribution.

    part: "embedding", "attention" (a row for each head, and one without a head for the bias of W_O, or where heads cannot be told
    apart), "cross", "feedforward", "other layers" (those without attention), "bias" (of the final norm and the unembedding). The
    contributions sum to the logit, within 1e-3 of the largest number in float32, 1e-2 in float16 and 5e-2 in bfloat16; with
    `against`, to the difference from that token's. Where the model bends its logits at the end (`model.cap`, as Gemma 2 does),
    they sum to the logit before that. The final norm divides by the size of the whole stream: that size is held constant, so this
    is only the direct effect, not what would happen without the part.
    Errors: ValueError without a language-model head, for an unknown token or position, and for a model whose logit is no such
    sum: if a norm follows each sum, or if more than a norm and a matrix follow the last block.
    Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; nostalgebraist 2020, "logit lens".
    """
    import pandas as pd  # here, because it takes long to import and a first page needs none

    way, constant = direction(model, trace, token, position, against)
    rows = [
        (part, layer, head, float(vector.astype(np.float64) @ way))
        for part, layer, head, vector in writes(model, trace, position)
    ]
    table = pd.DataFrame([*rows, ("bias", None, None, constant)], columns=["part", "layer", "head", "contribution"])
    return table.astype({"layer": "Int64", "head": "Int64"})


def head_sources(
    model: LanguageModel,
    trace: Trace,
    layer: int,
    head: int,
    token: int,
    position: int = -1,
    against: int | None = None,
    kind: str = "self",
) -> np.ndarray:
    """Return a head's contribution to a token's logit by the key of each value: float64 [key], which sums to the head's total.

    kind: of its attention; the rest as `logit_attribution`. Errors: as there, and ValueError if the values of the heads or the
    matrix behind them are unknown, and if an edit changes the head's output.
    """
    if any(isinstance(edit, Head) and (edit.kind, edit.layer, edit.head) == (kind, layer, head) for edit in trace.edits):
        raise ValueError("What this head gives was changed, so it does not come from the values of tokens.")
    way, _ = direction(model, trace, token, position, against)
    attention = trace.attention[kind]
    values = attention.v(layer)[head].astype(np.float64) @ model.output_weights(kind, layer)[head]  # [key, d_model]
    return attention[layer][head, position] * (values @ way)


def direction(model: LanguageModel, trace: Trace, token: int, position: int, against: int | None) -> tuple[np.ndarray, float]:
    """Return the checked linear form (`straight`) of a token's logit, or of the difference of two. Errors: as
    `logit_attribution`.
    """
    if trace.unembed is None:
        raise ValueError(f"{model.info.name} has no language-model head, so no part writes towards a word.")
    if not -len(trace.read) <= position < len(trace.read):
        raise ValueError(f"There is no position {position} in {len(trace.read)} tokens.")
    vocabulary = trace.unembed(trace.stream[-1, [position]]).shape[-1]
    if strange := [id for id in (token, against) if id is not None and not 0 <= id < vocabulary]:
        raise ValueError(f"There is no token {strange[0]}: they are 0 to {vocabulary - 1:,}.")
    if token == against:
        raise ValueError("A token against itself is no question: what is written towards both is the same. Choose another one.")
    if trace.tail is not None:
        raise ValueError(
            f"In {model.info.name} layers without attention follow the last block and mix positions: no sum is left."
        )
    way, constant = straight(model, trace, token, position)
    if against is not None:
        other_way, other_constant = straight(model, trace, against, position)
        way, constant = way - other_way, constant - other_constant
    return way, constant


def writes(model: LanguageModel, trace: Trace, position: int) -> Iterator[Write]:
    """Yield the writes into the stream at a position, part by part. Errors: ValueError where their sum is not the stream."""
    stack = "decoder" if trace.target else "self"
    stream, parts = trace.hidden[stack], model.parts(trace)[stack]
    skipped = {edit.layer for edit in trace.edits if isinstance(edit, Skip) and (edit.part, edit.kind) == ("block", stack)}
    yield "embedding", None, None, stream[0, position]
    for layer in range(len(stream) - 1):
        if layer in skipped:  # its parts are computed, and nothing of them is written
            yield from ((part, layer, None, np.zeros_like(stream[0, position])) for part in parts)
            continue
        rest = stream[layer + 1, position] - stream[layer, position]
        for part, outputs in parts.items():
            if np.isnan(outputs[layer]).any():
                continue
            rest = rest - outputs[layer, position]
            if part == "feedforward":
                yield part, layer, None, outputs[layer, position]
            else:
                kind = "cross" if part == "cross" else stack
                yield from heads(model, trace, kind, part, layer, outputs[layer], position)
        if np.abs(rest).max() > close(model) * max(1.0, float(np.abs(stream[layer + 1, position]).max())):
            if not model.has_other_layers:
                raise ValueError(
                    f"In {model.info.name} the stream is no sum of what its parts wrote: a norm follows each sum, which changes "
                    "what was written before. Choose a model whose norms come first, such as GPT-2 or Llama."
                )
            yield "other layers", layer, None, rest


def heads(
    model: LanguageModel, trace: Trace, kind: str, part: str, layer: int, output: np.ndarray, position: int
) -> Iterator[Write]:
    """Yield the writes of a layer's heads, and the rest, which is the bias of W_O if it is the same at every position; else the
    heads cannot be told apart (a norm or a gate comes before the sum). output: float32 [position, d_model]."""
    try:
        weights, outs = model.output_weights(kind, layer), trace.attention[kind].out(layer)
        head_outputs = np.einsum("hpd,hdm->hpm", outs, weights, dtype=np.float32)
        rest = output - head_outputs.sum(0)
    except ValueError:
        yield part, layer, None, output[position]
        return
    if np.abs(rest - rest.mean(0)).max() > close(model) * max(1.0, float(np.abs(output).max())):
        yield part, layer, None, output[position]
        return
    for head, vector in enumerate(head_outputs):
        yield part, layer, head, vector[position]
    yield part, layer, None, rest[position]


def close(model: LanguageModel) -> float:
    """Return the tolerated error of a sum, as a share of the largest number, by the model's number format."""
    return CLOSE[model.info.dtype]


def undo_cap(model: LanguageModel, logits: Tensor) -> Tensor:
    """Return logits before the model bends them: c · artanh(z / c). Those at the very edge become infinite."""
    return logits if model.cap is None else model.cap * (logits / model.cap).atanh()


def straight(model: LanguageModel, trace: Trace, token: int, position: int) -> tuple[np.ndarray, float]:
    """Return the way and constant with which a token's logit, before a cap, is way · stream + constant: float64 [d_model]. The
    divisor of the final norm is held constant.

    Let P project the stream to the part that a norm uses (all of it, or all but its mean), and S² = |Px|² + e with e from the
    norm's ε. The slope of f = b + w·Px/S is (w − (w·Px) Px/S²)/S. It differs from w/S only along Px, and w/S · Px = f − b says by
    how much; without a norm they are equal. Errors: ValueError if the logit has another form.
    """
    import torch

    rows = torch.tensor(trace.stream[-1].reshape(-1, trace.stream.shape[-1]))
    x = rows[position].double()

    def logits(streams: torch.Tensor) -> torch.Tensor:
        return undo_cap(model, model.way_out(streams.float()).double()).cpu()

    with torch.enable_grad():
        leaf = rows[position][None].clone().requires_grad_()
        (slope,) = torch.autograd.grad(undo_cap(model, model.way_out(leaf).double())[0, token], leaf)
    with torch.no_grad():
        plain, negative, double, plus_constant = logits(torch.stack([x, -x, 2 * x, x + x.abs().mean()]))
        constants = (plain + negative) / 2
        ignores_mean = (plus_constant - plain).abs().max() < close(model) * max(1.0, float(plain.abs().max()))
        states = rows.double()
        parts = states - states.mean(-1, keepdim=True) if ignores_mean else states
        state, way = parts[position], slope[0].double().cpu()
        way = way + (plain[token] - constants[token] - way @ state) * state / state.square().sum()
        # What a stream twice as long makes of the logits says what e is: all of S² (they double) … nothing (they stay).
        odd = plain - constants
        grows = float(((double - constants) @ odd / odd.square().sum()).clamp(1, 2)) ** 2  # 4 (|Px|² + e) / (4 |Px|² + e)
        shares = parts.square().sum(-1) / state.square().sum()
        sizes = ((shares * (4 - grows) + 4 * (grows - 1)) / (3 * grows)).sqrt()
        predicted, actual = constants[token] + (states @ way) / sizes, logits(states)[:, token]
    if (predicted - actual).abs().max() > 10 * close(model) * max(1.0, float(actual.abs().max())):
        raise ValueError(
            f"{model.info.name} does more than a norm and a matrix between its last block and its logits "
            f"({model.way_out_formula()}), so a logit is no sum of what its parts wrote."
        )
    return way.numpy(), float(constants[token])
