"""A config as a diagram: its stacks as boxes, with the shapes that a text takes on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from analysis.cost import costs
from models.scratch.config import TransformerConfig
from viz.numbers import percent
from viz.views.architecture import Box

Columns = Sequence[tuple[str, Sequence[Box]]]  # as `viz.architecture` takes them
POSITIONS = {
    "sinusoidal": "+ sin and cos waves of rising length",
    "learned": "+ a learned vector for each position",
}
IN_ATTENTION = {
    "rotary": "q and k turned by position × frequency",
    "alibi": "score + bias, which is −slope × distance",
    "relative": "score + a learned number for the distance",
}
FEEDFORWARD = {
    "relu": "W↓ max(0, W↑ x)",
    "gelu": "W↓ GELU(W↑ x)",
    "gelu-tanh": "W↓ GELU(W↑ x), by tanh",
    "swiglu": "W↓ (SiLU(W x) * W↑ x)",
}
SMALL = 0.001  # below this, a share is not written out
SCORE = {"dot": "q·k / √{e}", "multiplicative": "qᵀ W k", "additive": "wᵀ tanh(q + k)"}


def columns(config: TransformerConfig, length: int, target: int, stack: Callable | None = None) -> Columns:
    """Return the columns of `viz.architecture` for a text of `length` tokens and a target of `target`.

    stack: `plain_stack` for beginners.
    """
    stack = stack or _stack
    if config.kind != "encoder-decoder":
        return [("", stack(config, length, config.kind == "encoder", None))]
    return [("Encoder", stack(config, length, True, None, ends=False)), ("Decoder", stack(config, target, False, length))]


def plain_stack(c: TransformerConfig, n: int, both_ways: bool, source: int | None, ends: bool = True) -> list[Box]:
    """Return the boxes of a stack for beginners, each with its purpose and its share of the numbers to learn."""
    share = shares(c, "decoder" if source is not None else "" if ends else "encoder")
    heads = "one head does this" if c.heads == 1 else f"{c.heads} heads do this at once, each in its own way"
    others = "all the others" if both_ways else "those before it"
    words = f"Each token looks at {others} and takes over what helps; {heads}."
    parts = [Box("Attention", share["attention"], words, added=True)]
    if source is not None:
        words = "Each token of the answer looks at the text that the encoder has read."
        parts.append(Box("Attention to the text", share["cross"], words, added=True, beside="what the encoder made of the text"))
    words = "Each token works by itself on what it has gathered; much of what a model knows by heart is kept here."
    parts.append(Box("Feed-forward", share["feed-forward"], words, added=True))
    before, inside = c.norm_place == "before", list[Box]()
    for i, part in enumerate(parts):
        adder = parts[i - 1].name if before and i else "" if before else part.name
        norm = _plain_norm(share["norm"], f"{'before' if before else 'after'} {part.name.lower()}", adder)
        inside += [replace(norm, past=True), part] if before else [part, norm]
    tokens = f"Each of your {n:,} tokens becomes" if n != 1 else "Your token becomes"
    words = f"{tokens} a row of {c.d_model:,} numbers, which stand for its meaning."
    own = "the encoder’s numbers again" if source is not None else f"{share['embedding']} of the numbers"
    boxes = [Box("Embedding", own, words)]
    if c.positions in POSITIONS:
        words = "Numbers are added that say where each token stands: order matters."
        boxes.append(Box("Positions", share["positions"], words))
    repeated = "This happens once" if c.layers == 1 else f"This happens {c.layers} times, each time with numbers of its own"
    layer = f"{repeated}: the tokens look around, and then each works by itself."
    boxes.append(Box("Layer" if c.layers == 1 else "Layers", share["layers"], layer, parts=tuple(inside), times=c.layers))
    if before:
        boxes.append(_plain_norm(share["last norm"], "before the answer" if ends else "at the end", "The last layer"))
    if ends:
        doing = "stands here" if c.kind == "encoder" else "comes next"
        words = f"Each of the {c.vocabulary:,} tokens that the model knows gets a score: the higher, the likelier it {doing}."
        boxes.append(Box("Answer", "the embedding’s numbers again" if c.tied else share["answer"], words))
    return boxes


def shares(config: TransformerConfig, stack: str) -> dict[str, str]:
    """Return each box’s share of all numbers to learn, in words. stack: as in `analysis.cost.Cost`.

    The boxes inside the layers have the share of all layers together. The shares of all boxes add up to 100 %, if “Layers”, their
    sum, is left out.
    """
    parts = costs(config, 1)
    total = sum(part.parameters.value for part in parts)
    of = {part.part: part.parameters.value for part in parts if part.stack == stack}
    start = sum(part.parameters.value for part in parts if part.part == "embedding")
    kinds = {name: sum(value for part, value in of.items() if part.startswith(name)) for name in ("self-attention", "cross")}
    in_layer, outside = 2 + (kinds["cross"] > 0), (config.norm_place == "before") + config.embedding_norm
    norm = of["norms"] // (in_layer * config.layers + outside)
    numbers = {
        "embedding": start + norm * config.embedding_norm,
        "positions": of["positions"],
        "attention": kinds["self-attention"] + of["positions"] * (config.positions not in POSITIONS),
        "cross": kinds["cross"],
        "feed-forward": of["feed-forward"],
        "norm": norm * config.layers,
        "last norm": norm * (config.norm_place == "before"),
        "answer": of.get("unembedding", 0),
    }
    inside = ("attention", "cross", "feed-forward")
    numbers["layers"] = sum(numbers[name] for name in inside) + in_layer * numbers["norm"]
    return {name: _share(value / total) for name, value in numbers.items()}


def _share(share: float) -> str:
    return percent(share) if share >= SMALL or not share else "under 0.1\u00a0%"


def _plain_norm(share: str, place: str, adder: str) -> Box:
    """Return the box of a norm for beginners. adder: the part that has added to the rows just before; "" at the start."""
    name = f"One size, {place}"
    if not adder:
        return Box(name, share, "All rows of numbers are brought to one size, so that no token is louder than others.")
    return Box(name, share, f"{adder} has added to the rows, so they are brought to one size again.")


def _stack(c: TransformerConfig, n: int, both_ways: bool, source: int | None, ends: bool = True) -> list[Box]:
    stream, norm = f"[{n:,}, {c.d_model:,}]", {"rms": "RMSNorm", "layer": "LayerNorm"}[c.norm]
    boxes = [Box("Embedding", stream, f"a vector for each of {c.vocabulary:,} tokens")]
    if c.positions in POSITIONS:
        boxes.append(Box("Positions", stream, POSITIONS[c.positions]))
    if c.embedding_norm:
        boxes.append(Box(norm, stream))
    inside = _sublayer(c, norm, stream, _attention(c, n, n, "Self-attention", both_ways))
    if source is not None:
        inside += _sublayer(
            c, norm, stream, _attention(c, n, source, "Cross-attention", True, "keys and values from the encoder")
        )
    inside += _sublayer(c, norm, stream, _feedforward(c, n, stream))
    boxes.append(Box("Block", stream, parts=tuple(inside), times=c.layers))
    if c.norm_place == "before":
        boxes.append(Box(norm, stream))
    if ends:
        if c.head_transform:
            boxes.append(Box("Dense, GELU, norm", stream))
        boxes.append(
            Box(
                "Unembedding",
                f"[{n:,}, {c.vocabulary:,}]",
                "logits; multiplied by the embedding, transposed" if c.tied else "logits",
            )
        )
    return boxes


def _sublayer(c: TransformerConfig, norm: str, stream: str, part: Box) -> list[Box]:
    """Return the part with its norm before or after it."""
    return [Box(norm, stream, past=True), part] if c.norm_place == "before" else [part, Box(norm, stream)]


def _attention(c: TransformerConfig, n: int, m: int, name: str, both_ways: bool, beside: str = "") -> Box:
    cross = bool(beside)
    shared = "" if c.key_heads == c.heads else f", k and v [{c.key_heads}, {m:,}, {c.d_head}]"
    where = "" if cross else IN_ATTENTION.get(c.positions, "")
    note = f"q [{c.heads}, {n:,}, {c.d_head}]{shared}" + (", q and k normalised in each head" if c.qk_norm else "")
    if c.computed == "exact":
        limits = [] if cross or both_ways else ["the past"]
        limits += [] if cross or c.pattern == "full" else [f"{c.pattern} pattern"]
        score = SCORE[c.score].format(e=c.d_head) + (f" / {c.temperature:g}" if c.temperature != 1 else "")
        sees = f", over {' in a '.join(limits)}" if limits else ""
        note += f"; softmax({score}){sees}: [{c.heads}, {n:,}, {m:,}]"
    else:
        note += f"; {c.computed}, {c.features} {'features' if c.computed == 'performer' else 'slots'}, no [{n:,}, {m:,}] matrix"
    return Box(name, f"[{n:,}, {c.d_model:,}]", note + (f"; {where}" if where else ""), added=True, beside=beside)


def _feedforward(c: TransformerConfig, n: int, stream: str) -> Box:
    note = f"{FEEDFORWARD[c.feedforward]}, inside [{n:,}, {c.d_ff:,}]"
    if c.experts > 1:
        note = f"each token by {c.experts_used} of {c.experts} experts; {note}"
    return Box("Feed-forward", stream, note, added=True)
