"""The softmax over the row of an open stage, step by step: the scores, e to the power of each, and the shares."""

from __future__ import annotations

import numpy as np

from pages.inside import formulas, naming, recipes
from pages.inside.opened import OpenStage
from ui.escaping import starred
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz import Part

STEPS = ("score", "power", "share")


def part(draft: Draft, here: OpenStage, key: str) -> Part | None:
    """Return the part with the steps of the softmax, with one number worked out; None for other stages, and for beginners. key:
    of the board."""
    look, stage, (row, column) = here.look, here.stage, here.place
    if look.beginner or (steps := recipes.softmax_steps(here.way, stage, row, here.head)) is None:
        return None
    names = naming.columns(look, stage, here.columns)
    line_names = [draft.words(f"softmax {step}") for step in STEPS]
    options = {
        "head": here.head,
        "at": row,
        "columns": here.columns,
        "names": line_names,
        "column_names": names,
        "chosen": here.columns.index(column) if column in here.columns else -1,
    }

    def numbers() -> dict[str, Numbers]:
        lines = steps[:, here.columns].astype(np.float32)
        return {step: Numbers(values, ("place",), {"place": names}) for step, values in zip(STEPS, lines, strict=True)}

    drawing = Picture(
        recipes.softmax_row,
        (look,),
        here.base | options,
        key,
        numbers,
        words=f"{formulas.name(draft, stage)} in {look.head_name}",
        title="The softmax of the row",
        part="row",
        takes=("model", "trace"),
        known={"way": here.way},
    )
    return draft.picture(drawing, draft.words("row softmax", **worked_out(here, steps)))


def worked_out(here: OpenStage, steps: np.ndarray) -> dict[str, str]:
    """Return the sum and the largest score of a row, and the steps of its second largest share, which a reader can check."""
    look, stage = here.look, here.stage
    score, power, share = steps
    example = int(np.argsort(-share, kind="stable")[min(1, len(share) - 1)])
    return {
        "token": starred(naming.along(look, stage, naming.row_axis(stage), here.place[0])),
        "example": starred(naming.along(look, stage, stage.axes[-1], example)),
        "largest": _three(score.max()),
        "score": _three(score[example]),
        "power": formulas.figure(float(power[example])),
        "sum": f"{power.sum():.4g}",
        "share": formulas.figure(float(share[example])),
    }


def _three(value: float) -> str:
    """Format a score with so many decimals that e to its power can be checked to three digits."""
    return f"{value:.3f}".replace("-", "−")
