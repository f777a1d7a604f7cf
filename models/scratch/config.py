"""Every choice that makes one transformer differ from another, in one place."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

KINDS = ("decoder", "encoder", "encoder-decoder")
POSITIONS = ("none", "sinusoidal", "learned", "rotary", "alibi", "relative")
NORMS = ("rms", "layer")
PLACES = ("before", "after")
FEEDFORWARDS = ("relu", "gelu", "gelu-tanh", "swiglu")
SCORES = ("dot", "additive", "multiplicative")
COMPUTED = ("exact", "performer", "linformer")
PATTERNS = ("full", "window", "strided", "random", "global", "longformer", "bigbird")
INITIALISATIONS = ("zero", "xavier", "gpt2")


@dataclass(frozen=True)
class TransformerConfig:
    """The parts of a transformer and their sizes. Errors: ValueError, one sentence, for sizes and parts that cannot be."""

    kind: str = "decoder"  # its stacks: KINDS
    vocabulary: int = 8192
    context: int = 256  # the longest input, in tokens
    d_model: int = 256  # width of the residual stream
    layers: int = 6  # of each stack
    heads: int = 8
    kv_heads: int = 0  # heads that keys and values have: as many as queries (0), fewer (grouped-query), or 1 (multi-query)
    d_ff: int = 704  # width of the feed-forward, of each expert where there are several

    positions: str = "rotary"  # how positions enter: POSITIONS, see positions.py
    norm: str = "rms"  # NORMS, see norms.py
    norm_place: str = "before"  # of each sublayer (pre-norm), or "after" it and its residual (post-norm)
    feedforward: str = "swiglu"  # FEEDFORWARDS, see feedforward.py
    experts: int = 1  # feed-forwards side by side
    experts_used: int = 2  # of them by each token, where there are several

    score: str = "dot"  # of a query and a key: SCORES; those beside the dot product are in scores.py
    temperature: float = 1.0  # the scores are divided by it, beside √d_head
    computed: str = "exact"  # or by a cheaper way: COMPUTED, see cheaper.py
    features: int = 64  # random features of the performer, slots of the linformer
    pattern: str = "full"  # which keys a query may see at all: PATTERNS, see masks.py
    window: int = 16  # how far a local pattern reaches, and the stride of the strided one
    random_keys: int = 3  # of each query, in the patterns that have some
    global_tokens: int = 1  # at the start, in the patterns that have some
    qk_norm: bool = True  # normalise queries and keys, head by head (Henry et al. 2020)

    bias: bool = False  # of every linear map
    tied: bool = True  # the embedding is the unembedding too (Press and Wolf 2017)
    labels: tuple[
        str, ...
    ] = ()  # of a text, for an encoder that classifies, read at its first token, instead of tokens at its masks
    image: int = 0  # pixels along each side of the images that it reads; 0: it reads text
    patch: int = 0  # pixels along each side of a patch, which is a token then
    channels: int = 1  # of a pixel: 1 (grey) or 3 (red, green, blue)
    pixel_mean: float = 0.5  # a pixel of 0 to 1 enters as (pixel - mean) / spread
    pixel_spread: float = 0.5
    embedding_scale: bool = False  # multiply embeddings by √d_model (Vaswani et al. 2017, section 3.4)
    embedding_norm: bool = False  # normalise the input of the first block (BERT)
    head_transform: bool = False  # a dense layer, GELU and a norm before the unembedding (BERT)
    dropout: float = 0.0  # of the embeddings, the weights of attention, and what each sublayer adds (Srivastava et al. 2014)
    initialisation: str = "zero"  # INITIALISATIONS, see initialisation.py
    checkpointing: bool = False  # compute blocks again in the backward pass, to save memory (Chen et al. 2016)

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "int" and (not isinstance(value, int) or isinstance(value, bool)):
                raise ValueError(f"{field.name} must be a whole number; it is {value!r}.")
            if field.type == "int" and value < (least := 0 if field.name in _OPTIONAL else 1):
                raise ValueError(f"{field.name} must be at least {least}; it is {value}.")
            if field.type == "float" and (not isinstance(value, int | float) or not math.isfinite(value)):
                raise ValueError(f"{field.name} must be a number; it is {value!r}.")
            if field.type == "bool" and not isinstance(value, bool):
                raise ValueError(f"{field.name} must be true or false; it is {value!r}.")
        object.__setattr__(self, "labels", tuple(self.labels))  # a list where it comes from JSON
        if self.labels and (self.kind != "encoder" or self.tied or len({*self.labels}) < 2):
            raise ValueError('labels are two or more, of kind "encoder", and not tied: they are no tokens.')
        if self.image or self.patch:
            self._check_image()
        for name, allowed in _PARTS.items():
            if getattr(self, name) not in allowed:
                choices = ", ".join(f'"{choice}"' for choice in allowed)
                raise ValueError(f"{name} must be one of {choices}; it is {getattr(self, name)!r}.")
        if self.d_model % self.heads:
            raise ValueError(
                f"d_model ({self.d_model}) must be a multiple of heads ({self.heads}): each head gets an equal share."
            )
        if self.heads % self.key_heads:
            raise ValueError(f"kv_heads ({self.kv_heads}) must divide heads ({self.heads}): each serves as many queries.")
        if self.positions == "rotary" and self.d_head % 2:
            raise ValueError(f"rotary positions turn pairs of dimensions, so d_model / heads must be even; it is {self.d_head}.")
        if self.experts > 1 and self.experts_used > self.experts:
            raise ValueError(f"experts_used ({self.experts_used}) cannot be more than there are experts ({self.experts}).")
        if not self.temperature > 0:
            raise ValueError(f"temperature must be above 0; it is {self.temperature}.")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be from 0 to below 1; it is {self.dropout}.")
        for name, where in REACH.items():
            if self.pattern in where and getattr(self, name) > self.context:
                raise ValueError(f"{name} ({getattr(self, name)}) is over the context ({self.context}): every token sees all.")
        if self.computed != "exact" and (self.score != "dot" or self.pattern != "full"):
            raise ValueError(f'computed "{self.computed}" never builds the scores, so it takes score "dot" and pattern "full".')
        if self.computed != "exact" and self.positions in ("alibi", "relative"):
            raise ValueError(f'computed "{self.computed}" has no scores that {self.positions} positions could be added to.')
        if self.computed == "linformer" and self.kind != "encoder":
            raise ValueError('computed "linformer" mixes all positions, the future too, so it takes kind "encoder".')

    def _check_image(self) -> None:
        """Check the sizes of images and their patches. Errors: ValueError."""
        if not (self.image and self.patch) or self.image % self.patch:
            raise ValueError(f"image ({self.image}) must be a multiple of patch ({self.patch}), and neither may be 0 alone.")
        if self.context != (self.image // self.patch) ** 2 + 1:
            raise ValueError(
                f"context ({self.context}) must be {(self.image // self.patch) ** 2 + 1}: a token for each patch, and [CLS]."
            )
        if self.channels not in (1, 3) or not self.labels:
            raise ValueError("An encoder of images has 1 or 3 channels, and labels, which it reads at [CLS].")
        if not self.pixel_spread > 0:
            raise ValueError(f"pixel_spread must be above 0; it is {self.pixel_spread}.")

    @property
    def d_head(self) -> int:
        return self.d_model // self.heads

    @property
    def key_heads(self) -> int:
        return self.kv_heads or self.heads

    def changed(self) -> dict[str, object]:
        """Return the choices that are not the defaults."""
        return {field.name: getattr(self, field.name) for field in fields(self) if getattr(self, field.name) != field.default}


_OPTIONAL = ("kv_heads", "image", "patch")  # these may be 0
_PARTS = {
    "kind": KINDS,
    "positions": POSITIONS,
    "norm": NORMS,
    "norm_place": PLACES,
    "feedforward": FEEDFORWARDS,
    "score": SCORES,
    "computed": COMPUTED,
    "pattern": PATTERNS,
    "initialisation": INITIALISATIONS,
}
REACH = {  # the patterns in which a size counts
    "window": ("window", "strided", "longformer", "bigbird"),
    "random_keys": ("random", "bigbird"),
    "global_tokens": ("global", "longformer", "bigbird"),
}
