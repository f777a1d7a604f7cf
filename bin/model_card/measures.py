"""All that the cards of the writer and of the filler compare: losses, habits, heads, and what the model knows.

`python -m bin.model_card.measures NAME --data FOLDER --weights FOLDER` prints them for any weights. With `--before FOLDER` it
also notes those of earlier weights beside the model, for its card.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bin.model_card.common import best_heads
from bin.model_card.habits import filler_habits, writer_habits
from bin.model_card.knowledge import Reader, table
from models.catalog import WEIGHTS
from models.scratch.model_folder import from_folder
from models.training.facts import Facts

HABITS = {"writer": writer_habits, "filler": filler_habits}
HEADS = {"writer": ("previous", "induction", "first"), "filler": ("previous", "next")}
LOSSES = ("nats_per_token", "nats_per_masked_token", "bits_per_byte")


def measures(name: str, folder: Path, data: Path) -> dict[str, object]:
    """All that a card compares: losses, habits, the best heads, and how many tokens the weights in a folder have seen."""
    model, figures = from_folder(folder, name), json.loads((folder / "figures.json").read_text())
    losses = {loss: figures[loss] for loss in LOSSES if loss in figures}
    knowledge = {kind: score.rounded() for kind, score in table(Reader(model), Facts(data)).items()}
    habits = HABITS[name](model, data) | best_heads(model, *HEADS[name])
    return losses | habits | {"tokens_read": figures["tokens"], "knowledge": knowledge}


def measured(name: str, data: Path, before: Path | None = None) -> dict:
    """The figures of a model that ships, with its measures, and those of the weights `before`, by the same code."""
    file = WEIGHTS / name / "figures.json"
    figures = json.loads(file.read_text()) | {"measures": measures(name, WEIGHTS / name, data)}
    if before is not None:
        figures["measures_before"] = measures(name, before, data)
    file.write_text(json.dumps(figures, indent=2) + "\n")
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=HABITS)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--weights", type=Path, help="the model's folder, where it is not the one that ships")
    parser.add_argument("--before", type=Path, help="the model's folder as it was before: its measures go into figures.json")
    arguments = parser.parse_args()
    if arguments.before:
        print(json.dumps(measured(arguments.name, arguments.data, arguments.before), indent=2))
    else:
        print(json.dumps(measures(arguments.name, arguments.weights or WEIGHTS / arguments.name, arguments.data), indent=2))
