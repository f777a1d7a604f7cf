"""The facts about a model."""

from __future__ import annotations

from dataclasses import dataclass

from models.class_labels import Labels


@dataclass(frozen=True)
class ModelInfo:
    """The facts about a model. kind: "decoder" | "encoder" | "encoder-decoder"; context in tokens, None when unbounded.

    layers, heads: of the encoder where there are two stacks; decoder_layers, decoder_heads: of the decoder then, else 0.
    predicts: has a language-model head; labels: what a classifier predicts in the place of tokens, None for others; queries: its
    queries, keys, values and scores are available; pairs: reads two texts at once; mask: its mask token, or ""; dtype: of the
    numbers it calculates with, "float32" | "bfloat16" | "float16". notes: sentences on what is not available, and why. languages:
    the codes of those that a translator of many reads and writes, for `source_language` and `target_language`. head_counts: of
    each layer of the first stack, where they differ (`heads` is the largest then), else (). layer_numbers: which layer of the
    network each is, counted from 0, where layers without attention stand among them, else (). reads: what it takes, ("text",) or
    ("image",); a model of images has no vocabulary (0), and as many tokens as `context` for each image.
    """

    name: str
    kind: str
    layers: int
    heads: int
    kv_heads: int
    d_model: int
    vocabulary: int
    context: int | None
    parameters: int
    source: str
    decoder_layers: int = 0
    decoder_heads: int = 0
    predicts: bool = True
    queries: bool = True
    pairs: bool = False
    mask: str = ""
    dtype: str = "float32"
    notes: tuple[str, ...] = ()
    labels: Labels | None = None
    languages: tuple[str, ...] = ()
    head_counts: tuple[int, ...] = ()
    layer_numbers: tuple[int, ...] = ()
    reads: tuple[str, ...] = ("text",)

    def heads_of(self, layer: int, decoder: bool = False) -> int:
        """Return the number of heads in a layer; decoder: of the second of two stacks."""
        if self.head_counts and not decoder and 0 <= layer < len(self.head_counts):
            return self.head_counts[layer]
        return self.decoder_heads if decoder else self.heads

    def numbers(self, decoder: bool = False) -> tuple[int, ...]:
        """Return the number in the network of each layer with attention, counted from 0; decoder: of the second of two stacks."""
        return tuple(range(self.decoder_layers)) if decoder else self.layer_numbers or tuple(range(self.layers))

    @property
    def numbering(self) -> str:
        """A sentence on which layers of the network have attention: "L1 and L3 are the layers of the network that have attention
        (counted from 0)."; "" where all have.
        """
        if not self.layer_numbers:
            return ""
        *most, last = (f"L{number}" for number in self.layer_numbers)
        if not most:
            return f"{last} is the layer of the network that has attention (counted from 0)."
        return f"{', '.join(most)} and {last} are the layers of the network that have attention (counted from 0)."
