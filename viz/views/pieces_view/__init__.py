"""The steps by which a word became pieces: rows of boxes over its letters, which appear step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from viz.tokens import pieces
from viz.view import View, pack

MARKS = ("", "new", "missing", "taken")


@dataclass(frozen=True)
class Box:
    """A stretch of letters, from `start` to before `end`.

    mark: "" | "new": made in this step | "missing": looked up in vain | "taken": a part of the result. fragment: whether it is
    only a part of a character; note: a few words below it; step: the step at which it appears, if not the row's.
    """

    text: str
    start: int
    end: int
    mark: str = ""
    fragment: bool = False
    note: str = ""
    step: int | None = None


@dataclass(frozen=True)
class Row:
    """Boxes side by side. step: the step at which the row appears; note: a few words before it."""

    boxes: Sequence[Box]
    step: int = 0
    note: str = ""


def pieces_view(letters: int, rows: Sequence[Row], names: Sequence[str], sentences: Sequence[str], label: str = "") -> View:
    """Draw rows over so many letters, to be played from the first step to the last; at first all rows are visible.

    names: the name of each step; sentences: one for each step. Rows without a step are always visible. Errors: ValueError for
    boxes beyond the letters or over each other, for an unknown mark, and where steps and sentences differ in number.
    """
    if len(names) != len(sentences) or not names:
        raise ValueError(f"{len(names)} steps with {len(sentences)} sentences: give one for each, and one step at the least.")
    for row in rows:
        _check(row, letters, len(names))
    name = label or f"{len(names)} steps"
    header = {
        "label": name,
        "letters": letters,
        "names": list(names),
        "sentences": list(sentences),
        "rows": [
            {
                "step": row.step,
                "note": row.note,
                "boxes": [
                    {
                        "text": pieces(box.text),
                        "span": [box.start, box.end],
                        "step": row.step if box.step is None else box.step,
                        "mark": f"{box.mark}{' fragment' * box.fragment}".strip(),
                        **({"note": box.note} if box.note else {}),
                    }
                    for box in row.boxes
                ],
            }
            for row in rows
        ],
    }
    return View("pieces_view", pack(header), name)


def _check(row: Row, letters: int, steps: int) -> None:
    for step in (row.step, *(box.step for box in row.boxes if box.step is not None)):
        if not 0 <= step < steps:
            raise ValueError(f"A row or a box of step {step}, where there are {steps}.")
    done = 0
    for box in sorted(row.boxes, key=lambda box: box.start):
        if not done <= box.start < box.end <= letters:
            raise ValueError(f"A box from letter {box.start} to {box.end} of {letters} lies over another or beyond them.")
        if box.mark not in MARKS:
            raise ValueError(f"A box is marked {box.mark!r}: it is one of {', '.join(map(repr, MARKS))}.")
        done = box.end
