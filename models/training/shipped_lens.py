"""Trains the tuned lens that ships with a model: `python -m models.training.shipped_lens --data FOLDER`, on the text that the
model was trained on."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

import models
from models.catalog import WEIGHTS
from models.lens.tuned_lens import FILE, LensRecipe, keep, train
from models.training.corpus import documents

RECIPE = LensRecipe(positions=60_000, steps=1500, batch=256, operations=float("inf"))


def ship(name: str, data: Path, recipe: LensRecipe = RECIPE, out: Path | None = None) -> dict:
    """Train the lens of a model that ships on `data`/english_train.txt, and write it and `tuned_lens.json` beside the model's own
    weights, or to `out`. Returns the figures (see `models.lens.tuned_lens.train`), with the seconds that it took."""
    out, model, began = out or WEIGHTS / name, models.load(name), time.monotonic()
    with tqdm(total=100, unit="%") as bar:

        def report(share: float, words: str) -> None:
            bar.set_postfix_str(words)
            bar.update(int(100 * share) - bar.n)

        lens, figures = train(model, documents(data / "english_train.txt"), recipe, report)
    figures["seconds"] = round(time.monotonic() - began)
    keep(lens, model, figures, out / FILE)
    (out / "tuned_lens.json").write_text(json.dumps(figures, indent=2) + "\n")
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train the tuned lens of the writer.")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder with english_train.txt")
    parser.add_argument("--steps", type=int, default=RECIPE.steps)
    arguments = parser.parse_args()
    print(json.dumps(ship("writer", arguments.data, replace(RECIPE, steps=arguments.steps)), indent=2))
