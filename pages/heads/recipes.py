"""Recipes for the pictures of this page: each takes a model, and options that can be written down.

A recipe makes a long calculation only if the page has not made it already. A notebook, which contains these functions, makes it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis import as_written, head_examples, head_labels
from analysis.composition import WAYS, HeadWeights, head_weights
from analysis.importance import Importance, Pruning, head_importance, prune
from analysis.labels import Example
from analysis.picture_heads import LABELS, picture_head_labels
from analysis.redundancy import Likeness, Together, head_likeness, lost_together
from models.images.model import ImageModel
from models.language_model import LanguageModel
from models.numbers.sizes import count
from models.trace import Trace
from viz import View, grid_view, patch_view, reading_view
from viz.figures.importance import importance_bars, importance_scatter, pruning_curves
from viz.numbers import signed
from viz.tokens import plain_signs


def labels_board(
    model: LanguageModel,
    *,
    kind: str,
    name: str,
    names: dict[str, str],
    chosen: tuple[int, int] | None,
    seeds: int,
    texts: list | None,
    table: pd.DataFrame | None = None,
) -> View:
    """Draw layers × heads, each with its labels. name: the score that colours a head, "" for that of its first label."""
    table = head_labels(model, kind, seeds, texts=texts) if table is None else table
    size = (int(table["layer"].max()) + 1, int(table["head"].max()) + 1)
    labels = [[part for part in label.split(", ") if part and name in ("", part)] for label in table["label"]]
    score_names = [name or (each[0] if each else "") for each in labels]
    values = [table[score_name].iloc[row] if score_name else np.nan for row, score_name in enumerate(score_names)]
    more = [f" + {len(each) - 1} more" if len(each) > 1 else "" for each in labels]
    head_texts = [names[each[0]] + more[row] if each else "" for row, each in enumerate(labels)]
    notes = [
        f"{' + '.join(names[label] for label in labels[row]) or 'no label'}: {against_chance(table.iloc[row], score_name)}"
        if score_name
        else ""
        for row, score_name in enumerate(score_names)
    ]
    return grid_view(
        np.reshape(values, size),
        [f"L{number}" for number in numbers_of(model, kind)],
        [f"H{head}" for head in range(size[1])],
        down="layer",
        across="head",
        unit="%",
        scale=(0, 1),
        chosen=chosen,
        texts=np.reshape(np.array(head_texts, dtype=object), size).tolist(),
        cell=(76, 170),
        height=27,
        notes=np.array(notes, dtype=object).reshape(size).tolist(),
        blank="no label",
        blank_answers=True,
        label="What each head does",
    )


def scores(
    model: LanguageModel,
    *,
    kind: str,
    by: str,
    only: str,
    names: dict[str, str],
    seeds: int,
    texts: list | None,
    table: pd.DataFrame | None = None,
) -> View:
    """Draw every score of the heads, a row for each head, followed by its labels. by: the score that they are sorted by,
    the largest first; "" for their order. only: the label that they must have, "" for all heads."""
    table = filter_heads(head_labels(model, kind, seeds, texts=texts) if table is None else table, by, only)
    rows = names_of(model, kind, table)
    return grid_view(
        table[list(names)].to_numpy(),
        rows,
        list(names.values()),
        down="head",
        across="score",
        unit="%",
        scale=(0, 1),
        texts=[["" if np.isnan(row[name]) else signed(row[name]) for name in names] for _, row in table.iterrows()],
        notes=[[against_chance(row, name) for name in names] for _, row in table.iterrows()],
        row_notes=[" + ".join(names[part] for part in label.split(", ") if part) for label in table["label"]],
        cell=(72, 120),
        height=24,
        label="Every score of every head",
    )


def filter_heads(table: pd.DataFrame, by: str, only: str) -> pd.DataFrame:
    """Return the heads that have the label `only`, or all, in an order."""
    table = table[table["label"].str.split(", ").map(lambda labels: only in labels)] if only else table
    return sorted_by(table.dropna(subset=[name for name in ("current", "alignment") if name in table]), by)


def against_chance(row: pd.Series, name: str) -> str:
    """Return words on the range of a score, and on the score of heads with shuffled weights."""
    chance = row[f"{name}_null"]
    if np.isnan(row[name]):
        return "not measured"
    beside = "" if np.isnan(chance) else f"; shuffled heads reach {signed(chance)} at most"
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return f"{'one text, so no range' if np.isnan(low) else f'{signed(low)} to {signed(high)}'}{beside}"


def example(
    model: LanguageModel,
    *,
    kind: str,
    layer: int,
    head: int,
    name: str,
    place: int,
    simple: bool,
    texts: list | None,
    passage: Example | None = None,
) -> View:
    """Draw a text with a token at which a head does what its label says."""
    passage = passage or head_examples(model, layer, head, name, kind, texts=texts)[place]
    keys = as_written(plain_signs(passage.keys) if simple else passage.keys, passage.text)
    if kind == "cross":
        return reading_view(keys, None, passage.key, quantity=100 * passage.weights[passage.query].astype(float), unit="%")
    return reading_view(keys, passage.weights, passage.query, causal=False)  # what comes later is to be read too, not faint


def picture_labels(
    model: LanguageModel, *, names: dict[str, str], chosen: tuple[int, int] | None, table: pd.DataFrame | None = None
) -> View:
    """Draw layers × heads of a model of images, each with its labels, coloured by the first: how many points above chance."""
    table = picture_head_labels(model) if table is None else table
    size = (int(table["layer"].max()) + 1, int(table["head"].max()) + 1)
    values, texts, notes = np.full(size, np.nan), np.full(size, "", object), np.full(size, "", object)
    for _, row in table.iterrows():
        place, labels = (row["layer"], row["head"]), [name for name in row["label"].split(", ") if name]
        if labels:
            values[place] = 100 * (row[labels[0]] - row[f"{labels[0]}_chance"])
            texts[place] = names[labels[0]] + (f" + {len(labels) - 1} more" if len(labels) > 1 else "")
            notes[place] = "; ".join(f"{names[name]}: {beside_shuffled(row, name)}" for name in labels)
    return grid_view(
        values,
        [f"L{number}" for number in numbers_of(model, "self")],
        [f"H{head}" for head in range(size[1])],
        down="layer",
        across="head",
        unit="points above shuffled positions",
        scale=(0, max(10.0, float(np.nanmax(values, initial=0)))),
        chosen=chosen,
        texts=texts.tolist(),
        cell=(76, 170),
        height=27,
        notes=notes.tolist(),
        blank="no label",
        blank_answers=True,
        label="What each head does",
    )


def picture_scores(model: LanguageModel, *, names: dict[str, str], table: pd.DataFrame | None = None) -> View:
    """Draw every score of the heads of a model of images, a row for each head; coloured by how far each is above or below what
    shuffled positions give, in points, or in hundredths of a patch or of a likeness."""
    table = picture_head_labels(model) if table is None else table
    beyond = np.stack([table[name] - table[f"{name}_chance"] for name in names], 1)
    most = max(float(np.nanmax(np.abs(beyond), initial=0)), 1e-9)
    return grid_view(
        100 * beyond,
        names_of(model, "self", table),
        list(names.values()),
        down="head",
        across="score",
        unit="hundredths above shuffled positions",
        scale=(-100 * most, 100 * most),
        signed=True,
        texts=[[signed(row[name]) if name in LABELS else f"{row[name]:.2f}" for name in names] for _, row in table.iterrows()],
        notes=[[beside_shuffled(row, name) for name in names] for _, row in table.iterrows()],
        row_notes=[" + ".join(names[part] for part in label.split(", ") if part) for label in table["label"]],
        cell=(72, 120),
        height=24,
        label="Every score of every head",
    )


def beside_shuffled(row: pd.Series, name: str) -> str:
    """Return words on the range of a score over the pictures, and on the same head with its positions shuffled."""
    numbers = [row[name + end] for end in ("", "_low", "_high", "_chance", "_spread")]
    score, low, high, chance, spread = (signed(value) if name in LABELS else f"{value:.2f}" for value in numbers)
    extent = "" if np.isnan(numbers[1]) else f" ({low} to {high})"
    return f"{score}{extent}; positions shuffled {chance} ± {spread}"


def head_on_picture(model: ImageModel, trace: Trace, *, layer: int, head: int, chosen: int, link: str) -> View:
    """Draw a picture shaded by where a head looks."""
    weights = trace.attention["self"][layer][head]
    return patch_view(model.grid.image_of(trace.tokens), trace.tokens, weights, chosen, link=link, small=True)


def worth(
    model: LanguageModel, *, kind: str, texts: list | None, labels: list[str], chosen: int, importance: Importance | None = None
) -> go.Figure:
    """Draw each head by its worth estimated from its slope, and by the rise of the loss without it."""
    importance = head_importance(model, texts, kind) if importance is None else importance
    table, ends = importance.table, importance.table[["effect_low", "effect_high"]].to_numpy().T
    names = names_of(model, kind, table)
    notes = [label or "no label" for label in labels]
    values = table["effect"].to_numpy(), ends, table["gradient"].to_numpy()
    return importance_scatter(names, *values, [numbers_of(model, kind)[layer] for layer in table["layer"]], notes, chosen)


def worth_bars(
    model: LanguageModel, *, kind: str, texts: list | None, labels: list[str], chosen: int, importance: Importance | None = None
) -> go.Figure:
    """Draw the rise of the loss without each head as a bar, the largest first."""
    importance = head_importance(model, texts, kind) if importance is None else importance
    table = sorted_by(importance.table, "effect")
    ends = table[["effect_low", "effect_high"]].to_numpy().T
    at = [place for place, index in enumerate(table.index) if index == chosen]
    notes = [labels[index] or "no label" for index in table.index]
    return importance_bars(names_of(model, kind, table), table["effect"].to_numpy(), ends, notes, at[0] if at else None)


def worth_table(
    model: LanguageModel, *, kind: str, texts: list | None, labels: list[str], by: str, importance: Importance | None = None
) -> View:
    """Draw the worth of each head, a row for each head, those with the greatest worth first. by: "effect", "gradient", or
    "" for their order."""
    importance = head_importance(model, texts, kind) if importance is None else importance
    table = sorted_by(importance.table, by)
    rows = names_of(model, kind, table)
    names = {"effect": "measured", "gradient": "by its slope"}
    most = max(float(np.nanmax(np.abs(table[list(names)].to_numpy()))), 1e-9)
    return grid_view(
        table[list(names)].to_numpy(),
        rows,
        list(names.values()),
        down="head",
        across="worth",
        unit="nats a token",
        scale=(-most, most),
        signed=True,
        texts=[[nats(row[name]) for name in names] for _, row in table.iterrows()],
        notes=[[between(row, name) for name in names] for _, row in table.iterrows()],
        row_notes=[labels[index] for index in table.index],
        cell=(84, 130),
        height=24,
        label="What each head is worth",
    )


def sorted_by(table: pd.DataFrame, by: str) -> pd.DataFrame:
    table = table.dropna(subset=["effect"]) if "effect" in table else table  # heads that a layer has not
    return table.sort_values(by, ascending=False, kind="stable") if by else table


def nats(value: float) -> str:
    return "" if np.isnan(value) else f"{round(value, 3) + 0.0:.3f}".replace("-", "−")


def between(row: pd.Series, name: str) -> str:
    """Return words on the range of a number."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return "one text, so no range" if np.isnan(low) else f"{nats(low)} to {nats(high)}"


def pruning(
    model: LanguageModel,
    *,
    kind: str,
    texts: list | None,
    names: dict[str, str],
    importance: Importance | None = None,
    left: Pruning | None = None,
) -> go.Figure:
    """Draw the loss of the model as its heads are removed."""
    if left is None:
        left = prune(model, head_importance(model, texts, kind) if importance is None else importance, texts)
    saved = {
        names[name]: ["" if np.isnan(amount) else f"{count(int(amount))} parameters saved" for amount in each]
        for name, each in left.saved.items()
    }
    return pruning_curves(left.counts, {names[name]: each for name, each in left.orders.items()}, left.random, saved)


def alike(
    model: LanguageModel, *, kind: str, texts: list | None, by: str, chosen: tuple[int, int], likeness: Likeness | None = None
) -> View:
    """Draw heads by heads: how similar their outputs or their maps are ("outputs", "maps")."""
    likeness = head_likeness(model, texts, kind) if likeness is None else likeness
    values = np.where(np.eye(len(likeness.maps), dtype=bool), np.nan, likeness.outputs if by == "outputs" else likeness.maps)
    numbers = numbers_of(model, kind)
    heads = len(values) // len(numbers)
    names = [f"L{number} H{head}" for number in numbers for head in range(heads)]
    scale = (-1, 1) if by == "outputs" else (0, 1)  # all that it can be, however little it is
    return square(values, names, name_of(model, kind, chosen), scale)


def together(
    model: LanguageModel,
    *,
    kind: str,
    texts: list | None,
    chosen: tuple[int, int],
    importance: Importance | None = None,
    lost: Together | None = None,
) -> View:
    """Draw heads by heads: the loss without both, beyond the sum of the losses without each."""
    importance = head_importance(model, texts, kind) if importance is None else importance
    lost = lost_together(model, importance, texts) if lost is None else lost
    notes = [
        [f"{nats(low)} to {nats(high)} in {len(lost.beyond)} texts" for low, high in zip(lows, highs, strict=True)]
        for lows, highs in zip(lost.beyond.min(0), lost.beyond.max(0), strict=True)
    ]
    names = names_of(model, kind, importance.table.iloc[lost.heads])
    return square(lost.mean, names, name_of(model, kind, chosen), unit="nats a token", notes=notes)


def composition(
    model: LanguageModel, *, kind: str, way: str, chosen: tuple[int, int], weights: HeadWeights | None = None
) -> View:
    """Draw heads by earlier heads: how much each reads what the other wrote, beyond random matrices."""
    weights = head_weights(model, kind) if weights is None else weights
    return square(
        weights.composition[WAYS.index(way)],
        names_of(model, kind, weights.table),
        name_of(model, kind, chosen),
        across="earlier head",
        blank="it is not in an earlier layer",
    )


def square(
    values: np.ndarray,
    names: list[str],
    chosen: str,
    scale: tuple[float, float] | None = None,
    unit: str = "",
    notes: list[list[str]] | None = None,
    across: str = "other head",
    blank: str = "nothing to compare",
) -> View:
    """Draw heads by heads on the scale from its least to its greatest number, from blue to red if it spans 0."""
    most = float(np.nanmax(np.abs(values), initial=1e-9))
    here = names.index(chosen) if chosen in names else None
    return grid_view(
        values,
        names,
        names,
        down="head",
        across=across,
        unit=unit,
        scale=scale or (-most, most),
        signed=scale is None or scale[0] < 0,
        notes=notes,
        chosen=None if here is None else (here, here),
        cell=(9, 26),
        blank=blank,
        label="Heads by heads",
    )


def by_weights(model: LanguageModel, *, kind: str, columns: dict[str, str], weights: HeadWeights | None = None) -> View:
    """Draw copying and matching, from −1 to 1, and the ranks of the OV and QK matrices, a row for each head."""
    weights = head_weights(model, kind) if weights is None else weights
    table, present = weights.table, [name for name in columns if weights.table[name].notna().any()]
    shades = [table[name] / 2 + 0.5 if name in ("copying", "matching") else 0.5 + 0 * table[name] for name in present]
    notes = [
        [f"shuffled heads reach {nats(row[f'{name}_null'])} at most" if f"{name}_null" in row else "" for name in present]
        for _, row in table.iterrows()
    ]
    return grid_view(
        table[present].to_numpy(),
        names_of(model, kind, table),
        [columns[name] for name in present],
        down="head",
        across="by its weights",
        signed=True,
        shades=np.stack(shades, 1),
        ends=("−1", "1"),
        notes=notes,
        cell=(84, 130),
        height=24,
        texts=[[f"{row[name]:.2f}".replace("-", "−") for name in present] for _, row in table.iterrows()],
        label="What heads are by their weights",
    )


def numbers_of(model: LanguageModel, kind: str) -> tuple[int, ...]:
    return model.info.numbers(kind in ("decoder", "cross"))


def name_of(model: LanguageModel, kind: str, head: tuple[int, int]) -> str:
    return f"L{numbers_of(model, kind)[head[0]]} H{head[1]}"


def names_of(model: LanguageModel, kind: str, table: pd.DataFrame) -> list[str]:
    return [name_of(model, kind, (layer, head)) for layer, head in zip(table["layer"], table["head"], strict=True)]
