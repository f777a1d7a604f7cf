"""How each picture of two texts is made: a model, what it read of both, and options that can be written down.

A notebook that is taken away carries these very functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.patches import Patches
from models.language_model import LanguageModel
from models.trace import Trace
from viz import View, prediction_bars
from viz.tokens import named, plain_sign, plain_signs
from viz.views.grid_view import grid_view

SEEN = 0.05  # of all: what is smaller has no number in its square

# ---------------------------------------------------------------- what is compared


def names(patches: Patches, part: str, simple: bool) -> tuple[list[str], list[str], list[str], list[str]]:
    """What stands beside the rows and above the columns of the map, and what each is called in words."""
    layers, count = patches.shape(part)
    first = ["start" if simple else "embedding"] if part == "stream" else []
    rows = [*first, *(f"L{layer}" for layer in range(layers - len(first)))]
    after = ["before the first layer", *(f"after layer {layer}" for layer in range(layers - 1))]
    row_names = after if part == "stream" else [f"layer {layer}" for layer in range(layers)]
    if part == "head":
        return rows, [f"H{head}" for head in range(count)], row_names, [f"head {head}" for head in range(count)]
    base, source = (plain_signs(tokens) if simple else tokens for tokens in map(patches.tokens, (patches.base, patches.source)))
    called = []
    for at, token in enumerate(base):
        its = source[patches.places[at]].text if at in patches.places else token.text
        both = f", in place of “{named(token.text)}”" if its != token.text else ""
        called.append(f"“{named(its)}”{both}")
    return rows, [token.text.strip(" ") or token.text for token in base], row_names, called


def candidates(patches: Patches, answers: tuple[int, int], after: np.ndarray | None, count: int) -> list[int]:
    """The two answers, then what else is likeliest in either text or with the patch. after: ln p [vocabulary]."""
    logs = [*patches.logs.values(), *([] if after is None else [after])]
    best = np.argsort(-np.max(logs, axis=0), kind="stable")[: count + 2].tolist()
    return list(dict.fromkeys([*answers, *best]))[:count]


# ---------------------------------------------------------------- pictures


def effects(
    model: LanguageModel, trace: Trace, _: LanguageModel, other: Trace, *, part: str, measure: str, direction: str, kind: str,
    position: int, answers: tuple[int, int], cell: tuple[int, int] | None, tried: Sequence[tuple[int, int]] | None, simple: bool,
    found: np.ndarray | None = None,
) -> View:  # fmt: skip
    """How much of an answer each piece brings, or takes. tried: the only squares whose number is shown; None for all."""
    patches = Patches(model, trace, other, direction, kind, position)
    found = patches.effects(part, measure, *answers) if found is None else found
    rows, columns, row_names, column_names = names(patches, part, simple)
    covered = np.full(found.shape, tried is not None)
    for row, column in tried or ():
        covered[row, column] = False
    values = np.where(np.abs(found) < 1e-6, 0, found)
    size = 100 if simple else 1
    return grid_view(
        size * values, rows, columns, row_names=row_names, column_names=column_names, numbered=True,
        unit="in 100" if simple else "", scale=(-size, size), signed=True, least=size * SEEN, chosen=cell,
        ends=("further away", "comes back") if simple else None, covered=None if tried is None else covered,
        blank="nothing stands in its place in the other text", cell=(23, 58), height=30,
        label="How much of the answer each piece brings" if patches.denoises else "How much of the answer each piece takes",
    )  # fmt: skip


def bars(
    model: LanguageModel, trace: Trace, _: LanguageModel, other: Trace, *, which: str, part: str, direction: str, kind: str,
    position: int, answers: tuple[int, int], cell: tuple[int, int] | None, count: int, simple: bool,
    patched: np.ndarray | None = None,
) -> View:  # fmt: skip
    """What is likeliest. which: in the "base", without the patch as an outline and with it as a bar, or in the "source"."""
    patches = Patches(model, trace, other, direction, kind, position)
    if cell is not None and patched is None:
        patched = patches.read([patches.edits(part)[cell]])[0]
    ids = candidates(patches, answers, patched, count)
    source, base = (np.exp(patches.logs[name]) for name in (("clean", "corrupt") if patches.denoises else ("corrupt", "clean")))
    full = max(float(source[ids].max()), float(base[ids].max()))
    spelt = [model.token_text(id) for id in ids]
    labels = [plain_sign(text) for text in spelt] if simple else spelt
    if which == "source":
        return prediction_bars(labels, source[ids].tolist(), ids, percent=not simple, full=full)
    if patched is None:
        return prediction_bars(labels, base[ids].tolist(), ids, percent=not simple, full=full)
    return prediction_bars(labels, np.exp(patched[ids]).tolist(), ids, percent=not simple, before=base[ids].tolist(), full=full)
