"""Scores of heads from their weights alone: what they attend to, what they copy, and which earlier heads they read."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.copying import balance, copying_scores, product
from analysis.statistics import Report, silent
from models.language_model import LanguageModel
from models.numbers.sizes import size

if TYPE_CHECKING:
    import pandas as pd

WAYS = ("queries", "keys", "values")  # by which a head reads an earlier one
DRAWS = 20  # of random matrices


@dataclass(frozen=True, eq=False)
class HeadWeights:
    """Scores of heads by the weights of a kind of attention.

    table: a row for each head, with columns layer, head; copying (`copying_scores`) and matching, the same for W_E W_Q W_Kᵀ W_Eᵀ:
    1 for a head that looks for the token that it reads, −1 for one that avoids it; NaN where they are unknown; ov_rank and
    qk_rank, the stable ranks ‖M‖²_F / ‖M‖²₂ of W_V W_O and W_Q W_Kᵀ, from 1 to d_head. NAME_null of copying and matching: the
    largest value of any head when all matrices are shuffled.
    composition: float64 [way, head, earlier head]: by its queries, keys or values, ‖W_OV M‖ / (‖W_OV‖ ‖M‖) less what random
    matrices of these shapes give, NaN where the other head is not in an earlier layer. random: that baseline.
    normed: whether queries and keys are normed after their matrices, which then determine only directions: how strongly a head
    looks for something depends on the tokens.
    """

    table: pd.DataFrame
    composition: np.ndarray
    random: float
    normed: bool = False


def head_weights(model: LanguageModel, kind: str | None = None, report: Report = silent) -> HeadWeights:
    """Return scores of the heads of a kind of attention by their weights. Norms are left out, rotary positions are those of
    distance 0.

    Biases are left out too; the gains of root-mean-square norms of queries and keys stay (see `HeadWeights.normed`). Errors:
    ValueError where a matrix of queries, keys, values or outputs could not be
    found, where all of them would not fit in memory, and for cross-attention, whose keys are of another stream.
    Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits".
    """
    import pandas as pd  # here, because it takes long to import and a first page needs none

    kind = kind or ("encoder" if model.info.kind == "encoder-decoder" else "self")
    if kind == "cross":
        raise ValueError("Cross-attention reads another stream than it writes to, so its heads read no earlier ones.")
    report(0.0, "Reading the weights")
    table, parts = read_weights(model, kind)
    report(0.1, "Reading shuffled weights")
    (shuffled, _) = read_weights(model.with_random_weights(0), kind)
    for name in ("copying", "matching"):
        table[f"{name}_null"] = np.full(len(table["layer"]), np.max(shuffled[name]))
    random = random_composition(*parts["values"].shape[1:])
    heads = len(table["layer"])
    composition = np.full((len(WAYS), heads, heads), np.nan)
    for head, layer in enumerate(table["layer"]):
        report(0.2 + 0.8 * head / heads, "Comparing heads with earlier ones")
        earlier = int(np.searchsorted(table["layer"], layer))  # heads of the layers before
        writers = parts["values"][:earlier], parts["outputs"][:earlier]
        readers = (parts["keys"][head].T, parts["queries"][head].T, parts["outputs"][head])
        for way, (reads, reader) in enumerate(zip(WAYS, readers, strict=True)):
            composition[way, head, :earlier] = share(*writers, parts[reads][head], reader) - random
    return HeadWeights(pd.DataFrame(table), composition, random, model.normed(kind))


def read_weights(model: LanguageModel, kind: str) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return columns of `HeadWeights.table` without their nulls, and the matrices of all heads: queries, keys and values [head,
    d_model, d_head], outputs [head, d_head, d_model]. Errors: as `head_weights`."""
    from models.huggingface.memory import free_memory

    layers = range(model.info.layers if kind != "decoder" else model.info.decoder_layers)
    ways = {
        "queries": model.query_weights,
        "keys": model.key_weights,
        "values": model.value_weights,
        "outputs": model.output_weights,
    }
    bytes_needed, bytes_free = 2 * len(ways) * 8 * len(layers) * model.query_weights(kind, 0).size, free_memory()
    if bytes_needed > bytes_free:
        raise ValueError(
            f"The matrices of all heads take {size(bytes_needed)} in 64 bits, and {size(bytes_free)} of memory are free."
        )
    parts = {name: np.concatenate([of(kind, layer) for layer in layers]).astype(np.float64) for name, of in ways.items()}
    counts = [model.info.heads_of(layer, kind == "decoder") for layer in layers]
    numbers = np.repeat(layers, counts), np.concatenate([np.arange(count) for count in counts])
    unknown = np.full(len(parts["values"]), np.nan)
    copying = matching = unknown
    if model.info.kind != "encoder-decoder" and model.embedding([0]).shape[1] == model.info.d_model:
        embedding = model.embedding()
        matching = balance(parts["keys"].transpose(0, 2, 1) @ product(embedding, embedding) @ parts["queries"])
        with suppress(ValueError):  # no words are predicted, or not by one matrix
            copying = copying_scores(model)[numbers]
    table = {
        "layer": numbers[0],
        "head": numbers[1],
        "copying": copying,
        "matching": matching,
        "ov_rank": stable_rank(parts["values"], parts["outputs"]),
        "qk_rank": stable_rank(parts["queries"], parts["keys"].transpose(0, 2, 1)),
    }
    return table, parts


def share(value: np.ndarray, output: np.ndarray, reads: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return ‖V O R T‖ / (‖V O‖ ‖R T‖), from matrices as narrow as a head. value, reads: [d_model, d_head]; output, then:
    [d_head, d_model]. For several writing heads, [head, …], one number each."""
    before, after = value.swapaxes(-1, -2) @ value, target @ target.T
    middle = output @ reads
    squares = np.sum((before @ middle) * (middle @ after), axis=(-1, -2))
    sizes = np.sum(before * (output @ output.swapaxes(-1, -2)), axis=(-1, -2)) * np.sum((reads.T @ reads) * after)
    return np.sqrt(np.divide(np.maximum(squares, 0), sizes, out=np.full_like(squares, np.nan), where=sizes > 0))


def random_composition(size: int, inner: int, draws: int = DRAWS) -> float:
    """Return the mean `share` of random normal matrices: about 1 / √d_model."""
    generator = np.random.default_rng(0)
    shapes = ((size, inner), (inner, size)) * 2
    return float(np.mean([share(*(generator.normal(size=shape) for shape in shapes)) for _ in range(draws)]))


def stable_rank(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return ‖A B‖²_F / ‖A B‖²₂ of each head: float64 [head]. left: [head, d_model, d_head]; right: [head, d_head, d_model]."""
    squares = np.linalg.eigvals((left.transpose(0, 2, 1) @ left) @ (right @ right.transpose(0, 2, 1))).real
    most = squares.max(-1)
    return np.divide(squares.sum(-1), most, out=np.full(len(most), np.nan), where=most > 0)
