"""Files of hidden states for TensorBoard's projector."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import numpy as np


def projector_files(vectors: np.ndarray, columns: Mapping[str, Sequence[object]]) -> dict[str, bytes]:
    """Return vectors.tsv and metadata.tsv, as TensorBoard's projector (and projector.tensorflow.org) loads them.

    vectors: [row, d], written to six significant digits, one row a line. columns: by name, a value for each row; a single column
    has no line for its name, as the projector requires. Tabs and line breaks in values become "⇥" and "↵".
    Errors: ValueError if a column is not as long as the vectors.
    """
    vectors = np.asarray(vectors)
    for name, values in columns.items():
        if len(values) != len(vectors):
            raise ValueError(f"The column “{name}” has {len(values)} values for {len(vectors)} vectors.")
    table = io.BytesIO()
    np.savetxt(table, vectors, fmt="%.6g", delimiter="\t")
    lines = ["\t".join(columns)] if len(columns) > 1 else []
    lines += ["\t".join(_cell(value) for value in row) for row in zip(*columns.values(), strict=True)]
    return {"vectors.tsv": table.getvalue(), "metadata.tsv": ("\n".join(lines) + "\n").encode("utf-8", "replace")}


def layer_rows(
    hidden: np.ndarray, columns: Mapping[str, Sequence[object]], numbers: Sequence[int] = ()
) -> tuple[np.ndarray, dict[str, list[object]]]:
    """Return every token of every layer as a row: vectors [(layers + 1) · position, d_model], and columns to go with them.

    columns: a value for each position; "layer" (input, L0, …) and "norm" (the length of the vector) are added. numbers: the
    layers' numbers, if they are not 0, 1, …
    """
    layers = ["input", *(f"L{number}" for number in numbers or range(len(hidden) - 1))]
    rows = {name: list(values) * len(hidden) for name, values in columns.items()}
    rows["layer"] = [layer for layer in layers for _ in range(hidden.shape[1])]
    rows["norm"] = [f"{length:.6g}" for length in np.linalg.norm(hidden, axis=-1).ravel()]
    return hidden.reshape(-1, hidden.shape[-1]), rows


def _cell(value: object) -> str:
    text = str(value).replace("\t", "⇥").replace("\r\n", "↵").replace("\n", "↵").replace("\r", "↵")
    return "".join("↵" if character in "\v\f\x1c\x1d\x1e\x85\u2028\u2029" else character for character in text) or "∅"
