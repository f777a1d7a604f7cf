"""The code of the from-scratch transformer for each stage, read from its file so that it cannot drift."""

from __future__ import annotations

import inspect
import textwrap
from typing import TYPE_CHECKING, Any

from pages.inside.formulas import CROSS

if TYPE_CHECKING:
    from analysis import inside


def of(stage: inside.Stage, way: inside.Way) -> str:
    """Return the source of the code that computes a stage; "" where the from-scratch transformer has none."""
    gated = any(other.name == "gate" for other in way.stages)
    part = _named(gated).get(stage.name.removeprefix(CROSS).rstrip(" 0123456789")) or _of_formula(stage.formula)
    return textwrap.dedent(inspect.getsource(part)).rstrip() if part else ""


def _named(gated: bool) -> dict[str, Any]:
    """Return functions and classes by the names of stages."""
    from models.attention import kernel, weight_formula
    from models.numbers import softmax
    from models.scratch import feedforward, positions, transformer

    attention, stack, block = transformer.MultiHeadAttention, transformer.Stack, transformer.Block
    names: dict[Any, str] = {
        stack.hidden: "embeddings, scaled embeddings, embedding sum, blocks",
        positions.Learned: "positions",
        block.forward: "stream",
        attention.forward: "queries, attention",
        attention.keys_and_values: "keys, values",
        positions.rotate: "turned queries, turned keys, turned position keys",
        weight_formula.scores: "products, scores, capped scores, biased scores",
        weight_formula.weights: "masked scores, weights",
        kernel.attend_by_weights: "mixed values",
        block.add: "attention stream, output",
        feedforward.SwiGLU if gated else feedforward.FeedForward: "gate, up, activation, gated, feed-forward",
        feedforward.MixtureOfExperts: "router, experts",
        stack.unembed: "logits, biased logits",
        softmax.softmax: "probabilities",
    }
    return {name: part for part, listed in names.items() for name in listed.split(", ")}


def _of_formula(formula: str) -> Any:
    from models.scratch import norms

    return {"rms norm": norms.RMSNorm, "layer norm": norms.LayerNorm}.get(formula)
