"""Predicted tokens: a row for each, with a bar as long as its probability; a click adds the token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from viz.numbers import percent, whole_percent
from viz.tokens import is_fragment, pieces
from viz.view import View, pack


def prediction_bars(
    labels: Sequence[str],
    probabilities: Sequence[float],
    ids: Sequence[int] | None = None,
    logits: Sequence[float] | None = None,
    whole: bool = False,
    before: Sequence[float] | None = None,
    struck: Sequence[bool] | None = None,
    marked: int | None = None,
    what: str = "Next token",
    full: float = 1.0,
    stages: tuple[str, str] | None = None,
) -> View:
    """Draw rows of token, bar and per cent, in the given order. A bar of the whole width is `full`, or the largest if that is
    larger: by default a model in doubt has short bars.

    `labels` are the tokens' texts (`" forest"`, drawn as "·forest"); `probabilities` are of the full softmax, in [0, 1]; `logits`
    adds a column with the number that the softmax starts from; `whole` rounds to whole per cent for beginners. A click sends
    `chosen`: `{"index", "id", "n"}`, where `id` is None without `ids` and `n` grows, so that no two clicks are alike.

    `before`: probabilities before the controls, drawn as an outline and as a column; `stages`: headings of both columns;
    `struck`: which tokens the controls struck out; `marked`: the row of the chosen token; `what`: the name of what is predicted.
    Raises ValueError if the lengths differ.
    """
    count = len(labels)
    columns = (("probabilities", probabilities), ("ids", ids), ("logits", logits), ("before", before), ("struck", struck))
    for name, values in columns:
        if values is not None and len(values) != count:
            raise ValueError(f"{len(values)} {name} for {count} labels: give one a label.")
    shares, write = [float(p) for p in probabilities], whole_percent if whole else percent
    header: dict[str, Any] = {
        "label": f"{what}: {_name(labels[0])}, {write(shares[0])}" if count else "No prediction",
        "tokens": [pieces(text) for text in labels],
        "names": [_name(text) for text in labels],
        "fragments": [is_fragment(text) for text in labels],
        "probabilities": [float(f"{p:.4g}") for p in shares],  # as exact as a bar is drawn
        "numbers": [write(share) for share in shares],
        "full": float(full),
    }
    if what == "Label":
        header["of"] = "label"  # the heading above the names, instead of "token"
    if ids is not None:
        header["ids"] = [int(i) for i in ids]
    if logits is not None:
        header["logits"] = [f"{float(value):.2f}".replace("-", "−") for value in logits]
    if before is not None:
        header["before"] = [float(share) for share in before]
        header["befores"] = [write(share) for share in header["before"]]
        for name in ("numbers", "befores"):  # two columns of numbers have no room for words
            header[name] = [number.replace("under ", "< ").replace("over ", "> ") for number in header[name]]
    if stages is not None:
        header["stages"] = list(stages)
    if struck is not None:
        header["struck"] = [bool(flag) for flag in struck]
    if marked is not None:
        header["marked"] = int(marked)
    return View("prediction_bars", pack(header), header["label"])


def value_bars(
    labels: Sequence[str],
    values: Sequence[float],
    heads: tuple[str, str],
    marked: int | None = None,
    label: str = "",
    still: bool = False,
    signed: bool = False,
) -> View:
    """Draw rows as in `prediction_bars` for numbers that may be negative: then the bar has the other colour.

    heads: headings of the labels and the numbers; marked: the chosen row; still: whether a click does nothing; signed: whether
    bars are red above 0 and blue below, as on boards. Raises ValueError if the lengths differ.
    """
    if len(values) != len(labels):
        raise ValueError(f"{len(values)} values for {len(labels)} labels: give one a label.")
    header: dict[str, Any] = {
        "label": label or f"{len(labels)} numbers",
        "tokens": [pieces(text) for text in labels],
        "names": [_name(text) for text in labels],
        "fragments": [is_fragment(text) for text in labels],
        "probabilities": [abs(float(f"{value:.4g}")) for value in values],
        "below": [value < 0 for value in values],
        "numbers": [f"{value:.2f}".replace("-", "−") for value in values],
        "heads": list(heads),
        "still": still,
        "signed": signed,
    }
    if marked is not None:
        header["marked"] = int(marked)
    return View("prediction_bars", pack(header), header["label"])


def _name(text: str) -> str:
    """Return the name of a token for speech: its word, or a description."""
    return text.strip(" ") if text.strip(" ").isprintable() and text.strip(" ") else "".join(pieces(text))
