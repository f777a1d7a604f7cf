"""The cost of storing and running a transformer of a config, part by part: as formulas, as numbers, and as measured."""

from __future__ import annotations

import re
import time
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from models.scratch.config import TransformerConfig

if TYPE_CHECKING:
    import torch

BYTES = 4  # of a float32
FURTHEST = 2**13  # tokens; with random patterns longer texts take too long
SYMBOLS = (
    "n tokens (m of the target), d = d_model, f = d_ff, h heads, g heads of keys, e = d_head, L layers, V vocabulary, C context, "
    "F features, E experts of which k are used, P pairs that the pattern lets meet"
)


@dataclass(frozen=True)
class Term:
    """A formula in SYMBOLS, over all layers, and its value; "" and 0 for nothing."""

    formula: str = ""
    value: int = 0


@dataclass(frozen=True)
class Cost:
    """One part of one stack. parameters: learned numbers; flops: of a forward pass, 2 for each multiply-and-add, matrix products
    only; activations: bytes of its modules' outputs in float32. stack: "" or "encoder" or "decoder"."""

    part: str
    stack: str
    parameters: Term = field(default_factory=Term)
    flops: Term = field(default_factory=Term)
    activations: Term = field(default_factory=Term)


@dataclass(frozen=True)
class Measured:
    """The measured costs, by part and stack as in `costs`. cache: bytes of the keys and values of the written text and of its
    source; seconds: of one forward pass, the quicker of two."""

    parameters: dict[tuple[str, str], int]
    flops: dict[tuple[str, str], int]
    activations: dict[tuple[str, str], int]
    cache: int
    seconds: float


def costs(config: TransformerConfig, length: int, target: int | None = None) -> list[Cost]:
    """Return the cost of each part for one text of `length` tokens, and one target of `target` where there are two stacks.

    For the pattern "full", scores count the whole square of pairs, including its masked half, as usual and as in `measure`; for
    any other pattern only the pairs that may meet (`models.scratch.masks.pairs`), which is what a special kernel would compute.
    The kernel used here computes the square for every pattern. A fused kernel never stores the scores; see `scores_bytes` for
    their size.
    """
    if config.kind != "encoder-decoder":
        return list(_stack(config, "", "n", length))
    target = length if target is None else target
    return [*_stack(config, "encoder", "n", length), *_stack(config, "decoder", "m", target, length)]


def _stack(c: TransformerConfig, name: str, t: str, length: int, source: int | None = None) -> Iterator[Cost]:
    """Yield the costs of the parts of one stack. t: the symbol of its length; source: tokens of the memory that a decoder looks
    at."""
    cross = source is not None
    size, formula = (0, "shared") if cross else (c.vocabulary * c.d_model, "V d")
    yield Cost("embedding", name, Term(formula, size), Term(), Term(f"d {t}", BYTES * c.d_model * length))
    yield Cost("positions", name, _positions(c))
    yield from _attention(c, name, t, length, source)
    yield _feedforward(c, name, t, length)
    yield _norms(c, name, t, length, cross)
    if name != "encoder":
        yield _unembedding(c, name, t, length)


def _attention(c: TransformerConfig, name: str, t: str, n: int, source: int | None) -> Iterator[Cost]:
    d, e, layers, key_width = c.d_model, c.d_head, c.layers, c.key_heads * c.d_head
    cross, source = source is not None, source or 0
    weights = 2 * d * d + 2 * d * key_width + (2 * d + 2 * key_width) * c.bias + 2 * e * c.qk_norm
    words = "2 d² + 2 d g e" + " + 2 d + 2 g e" * c.bias + " + 2 e" * c.qk_norm
    parameters, numbers = Term(f"L ({words})", layers * weights), 2 * d + 2 * key_width + (d + key_width) * c.qk_norm
    gives = "2 d + 2 g e" + " + d + g e" * c.qk_norm
    yield Cost(
        "self-attention: q, k, v, output",
        name,
        parameters,
        Term(f"L · 4 (d² + d g e) {t}", 4 * layers * (d * d + d * key_width) * n),
        Term(f"L ({gives}) {t}", BYTES * layers * numbers * n),
    )
    yield Cost("self-attention: scores", name, *_scores(c, t, t, n, n, cross or c.kind == "decoder", c.pattern))
    if cross:
        activations = layers * BYTES * ((2 * d + d * c.qk_norm) * n + (2 * key_width + key_width * c.qk_norm) * source)
        yield Cost(
            "cross-attention: q, k, v, output",
            name,
            parameters,
            Term("L · 4 (d² m + d g e n)", 4 * layers * (d * d * n + d * key_width * source)),
            Term(f"L ({'3' if c.qk_norm else '2'} d m + {'3' if c.qk_norm else '2'} g e n)", activations),
        )
        yield Cost("cross-attention: scores", name, *_scores(c, "m", "n", n, source, False))


def _feedforward(c: TransformerConfig, name: str, t: str, n: int) -> Cost:
    d, f, layers = c.d_model, c.d_ff, c.layers
    has_gate, is_mixture = c.feedforward == "swiglu", c.experts > 1
    in_out, experts_used = 3 if has_gate else 2, c.experts_used if is_mixture else 1
    weights = in_out * d * f + ((in_out - 1) * f + d) * c.bias
    words = f"{in_out} d f" + (f" + {'2 f' if has_gate else 'f'} + d" if c.bias else "")
    words, k = (f"E ({words}) + d E", " k") if is_mixture else (words, "")
    return Cost(
        "feed-forward",
        name,
        Term(f"L ({words})", layers * (c.experts * weights + d * c.experts if is_mixture else weights)),
        Term(
            f"L ({2 * in_out}{k} d f{' + 2 d E' if is_mixture else ''}) {t}",
            layers * n * (2 * in_out * experts_used * d * f + 2 * d * c.experts * is_mixture),
        ),
        Term(
            f"L ({k.strip()}{' ' if is_mixture else ''}({in_out - 1} f + d){' + E' if is_mixture else ''}) {t}",
            BYTES * layers * n * (experts_used * ((in_out - 1) * f + d) + c.experts * is_mixture),
        ),
    )


def _norm(c: TransformerConfig) -> tuple[int, str]:
    """Return the parameters of one norm, and their formula."""
    return (2 * c.d_model, "2 d") if c.norm == "layer" else (c.d_model, "d")


def _norms(c: TransformerConfig, name: str, t: str, n: int, cross: bool) -> Cost:
    layers, (size, norm) = c.layers, _norm(c)
    in_block = 3 if cross else 2
    outside = (c.norm_place == "before") + c.embedding_norm
    run = in_block * layers + c.embedding_norm + (c.norm_place == "before")
    words = f"({in_block} L{f' + {outside}' if outside else ''})"
    return Cost(
        "norms",
        name,
        Term(f"{words} {norm}", (in_block * layers + outside) * size),
        Term(),
        Term(f"{words} d {t}", BYTES * run * c.d_model * n),
    )


def _unembedding(c: TransformerConfig, name: str, t: str, n: int) -> Cost:
    d, v, (size, norm) = c.d_model, c.vocabulary, _norm(c)
    head = (d * d + d + size + v) * c.head_transform
    words = " + ".join(["V d"] * (not c.tied) + [f"d² + d + {norm} + V"] * c.head_transform) or ("tied" if c.tied else "")
    return Cost(
        "unembedding",
        name,
        Term(words, v * d * (not c.tied) + head),
        Term(f"2 V d {t}" + f" + 2 d² {t}" * c.head_transform, 2 * v * d * n + 2 * d * d * n * c.head_transform),
        Term(f"V {t}", BYTES * v * n),
    )


def _positions(c: TransformerConfig) -> Term:
    if c.positions == "learned":
        return Term("C d", c.context * c.d_model)
    return Term("32 h", 32 * c.heads) if c.positions == "relative" else Term()


def _scores(c: TransformerConfig, t: str, s: str, n: int, m: int, causal: bool, pattern: str = "full") -> tuple[Term, Term, Term]:
    """Return parameters, flops and activations of queries times keys and weights times values. t, s: symbols of both lengths."""
    from models.scratch.masks import pairs  # here, because it brings torch

    d, e, layers = c.d_model, c.d_head, c.layers
    square = f"{t}²" if t == s else f"{t} {s}"
    words, meet = (square, n * m) if pattern == "full" else ("P", pairs(c, n, not causal))
    output = Term(f"L d {t}", BYTES * layers * d * n)
    if c.computed == "linformer":
        slots = min(c.features, c.context)
        return Term("L F C", layers * slots * c.context), Term(f"L · 8 F d {t}", 8 * layers * slots * d * n), output
    if c.computed == "performer":
        words, factor = (f"6 F d {t}", 6 * n) if causal else (f"4 F d ({t} + {s})", 4 * (n + m))
        return Term(), Term(f"L · {words}", layers * c.features * d * factor), output
    flops = Term(f"L · 4 d {words}", 4 * layers * d * meet)
    if c.score == "multiplicative":
        return (
            Term("L h e²", layers * c.heads * e * e),
            Term(f"L (4 d {words} + 2 d e {t})", flops.value + 2 * layers * d * e * n),
            output,
        )
    if c.score == "additive":
        return Term("L d", layers * d), flops, output
    return Term(), flops, output


def scores_bytes(config: TransformerConfig, length: int) -> int:
    """Return the bytes of one layer's weights in full, h n² float32: a fused kernel never stores them."""
    return BYTES * config.heads * length * length


def cache_bytes(config: TransformerConfig, length: int, source: int = 0) -> int:
    """Return the bytes of keys and values that a decoder keeps while it writes: 2 L g e float32 for each token of its text, and
    for each token of the source that its cross-attention looks at."""
    return 2 * config.layers * config.key_heads * config.d_head * (length + source) * BYTES


def crossing(config: TransformerConfig, over: str = "") -> float:
    """Return the shortest text, in tokens (of each stack), in which the scores of self-attention cost more operations than all
    other parts together, or than the part `over`: "feed-forward", ….

    Infinity if they never do: the other parts grow with the text as well, so scores that grow no faster do not overtake them. If
    keys are drawn at random, texts of up to 8,192 tokens are tried.
    """

    def overtakes(length: int) -> bool:
        operations = [0, 0]
        for cost in costs(config, length):
            scores = cost.part == "self-attention: scores"
            if scores or over in ("", cost.part):
                operations[scores] += cost.flops.value
        return operations[1] > operations[0]

    longest = FURTHEST if config.pattern in ("random", "bigbird") else 2**40
    if not overtakes(longest):
        return float("inf")
    return 1 + bisect(range(1, longest), False, key=overtakes)


def measure(config: TransformerConfig, length: int, target: int | None = None, seed: int = 0) -> Measured:
    """Build the transformer with fresh weights, read random tokens, and measure what `costs` calculates by formulas.

    Errors: ValueError when the text is longer than the context.
    """
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from models.scratch.transformer import Cache, build

    two_stacks = config.kind == "encoder-decoder"
    network, generator = build(config).eval(), torch.Generator().manual_seed(seed)
    lengths = [length, length if target is None else target][: 1 + two_stacks]
    inputs = [torch.randint(config.vocabulary, (1, count), generator=generator) for count in lengths]
    leaves = {name: module for name, module in network.named_modules() if not any(True for _ in module.children())}

    parameters: Counter[tuple[str, str]] = Counter()
    for name, parameter in network.named_parameters():  # one that is shared is named once
        parameters[_part(name.removesuffix(".weight").removesuffix(".bias"), two_stacks)] += parameter.numel()

    activations: Counter[tuple[str, str]] = Counter()
    embedded_stacks = iter(["encoder", "decoder"] if two_stacks else [""])  # they share the module, and read one after the other

    def note(name: str, out: torch.Tensor) -> None:
        part, stack = _part(name, two_stacks)
        activations[part, next(embedded_stacks) if part == "embedding" else stack] += out.numel() * BYTES

    counted_names = [
        name for name in leaves if _gives(leaves[name]) and _part(name, two_stacks)[0] not in ("positions", "unembedding")
    ]
    hooks = [leaves[name].register_forward_hook(lambda module, _, out, name=name: note(name, out)) for name in counted_names]
    attentions = {name for name, module in network.named_modules() if _computes_scores(name, module)}
    hooks += [  # their own result goes into their last matrix
        leaves[f"{name}.output"].register_forward_pre_hook(lambda module, given, name=name: note(f"{name}.score", given[0]))
        for name in attentions
    ]
    with torch.inference_mode():
        logits = network(*inputs)
        for hook in hooks:
            hook.remove()
        times = []
        for _ in range(2):  # the first pass after the hooks is slower
            began = time.perf_counter()
            network(*inputs)
            times.append(time.perf_counter() - began)
        with FlopCounterMode(display=False, custom_mapping=kernels()) as counter:
            network(*inputs)
        cache = Cache()
        if config.kind != "encoder":
            hidden: Any = network.hidden  # with the encoder's output where there is one
            encode: Any = getattr(network, "encode", None)
            hidden(inputs[1], encode(inputs[0]), cache) if two_stacks else hidden(inputs[0], cache)
    activations["unembedding", "decoder" if two_stacks else ""] = logits.numel() * BYTES

    flops: Counter[tuple[str, str]] = Counter()
    counted = {path.partition(".")[2]: sum(kinds.values()) for path, kinds in counter.get_flop_counts().items()}
    for name, count in counted.items():
        if name in leaves:
            flops[_part(name, two_stacks)] += count
        elif name in attentions:
            inner = sum(counted.get(f"{name}.{part}", 0) for part, _ in network.get_submodule(name).named_children())
            flops[_part(f"{name}.score", two_stacks)] += count - inner
    flops["unembedding", "decoder" if two_stacks else ""] += counter.get_total_flops() - flops.total()  # it is no module
    cache_size = sum(half.numel() * BYTES for pair in (*cache.layers, *cache.source) for half in pair)
    return Measured(dict(parameters), dict(flops), dict(activations), cache_size, min(times))


def _computes_scores(name: str, module: torch.nn.Module) -> bool:
    """Return whether a module is an attention that computes its scores itself, with no module of its own for them."""
    return bool(re.search(r"\.(attention|cross)$", name)) and not (hasattr(module, "score") or hasattr(module, "cheaper"))


def _gives(module: torch.nn.Module) -> bool:
    """Return whether a module computes a new output, instead of passing its input on."""
    import torch

    return not isinstance(module, torch.nn.Identity | torch.nn.Dropout | torch.nn.GELU)


def kernels() -> dict:
    """Return the operation count of the fused kernel for CPUs, which PyTorch's counter leaves out: 2 products of [n, e] by [e, m]
    for each head."""
    import torch

    def count(query: Sequence[int], key: Sequence[int], value: Sequence[int], *_: Any, **__: Any) -> int:
        batch, heads, n, e = query
        return 4 * batch * heads * n * key[2] * e

    return {torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: count}


def _part(name: str, two_stacks: bool) -> tuple[str, str]:
    """Return which part of which stack a module belongs to, by its name."""
    stack = name.split(".")[0] if two_stacks else ""
    if match := re.search(r"\.(attention|cross)\.(score|cheaper)?", name):
        kind = {"attention": "self-attention", "cross": "cross-attention"}[match[1]]
        return f"{kind}: {'scores' if match[2] else 'q, k, v, output'}", stack
    parts = {
        "feed-forward": r"\.feedforward\b",
        "positions": r"positions",
        "unembedding": r"transform|unembedding",
        "norms": r"norm$",
    }
    part = next((part for part, words in parts.items() if re.search(words, name)), "embedding")
    return part, "decoder" if two_stacks and part == "unembedding" else stack
