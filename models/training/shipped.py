"""The models that ship: `python -m models.training.shipped --data FOLDER` trains them, and goes on later."""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path

import torch

from models.scratch.config import TransformerConfig
from models.training.digits import LABELS as DIGITS
from models.training.digits import Digits
from models.training.loop import Shipped, train
from models.training.objectives import MaskedTokens, NextToken, Translation
from models.training.recipe import Recipe
from models.training.sorting import LABELS, Sorting

WEIGHTS = Path(__file__).parent.parent / "weights"


SHIPPED = {
    model.name: model
    for model in (
        Shipped(
            "writer",
            NextToken,
            TransformerConfig(),
            Recipe(repeats=0.05),
            compiled=True,
            more=(
                Recipe(
                    1_500, matrix_rate=0.005, rate=7.5e-4, warmup=30, decay=0.9, earlier_share=0.12, repeats=0.06, own=0.1, seed=1
                ),
                Recipe(
                    2_653,
                    64,
                    matrix_rate=0.005,
                    rate=7.5e-4,
                    warmup=30,
                    decay=0.48,
                    repeats=0.06,
                    own=0.05,
                    facts=96,
                    seed=2,
                ),
                Recipe(
                    500, 10, matrix_rate=0.001, rate=2e-4, warmup=10, decay=0.9, repeats=0.06, facts=48, fact_share=0.6, seed=3
                ),
            ),
        ),
        Shipped(
            "filler",
            MaskedTokens,
            TransformerConfig(kind="encoder", vocabulary=8193),
            Recipe(3_667, batch=16, matrix_rate=0.01, rate=1.5e-3, decay=0.366),
            compiled=True,
            more=(
                Recipe(946, 16, matrix_rate=0.006, rate=1e-3, warmup=20, decay=0.8, cuts=(2, 8), masks=1.0, again=1.0, seed=1),
                Recipe(329, 16, matrix_rate=0.004, rate=7e-4, warmup=20, decay=0.85, cuts=(2, 8), masks=1.0, again=5.0, seed=2),
                Recipe(800, 16, matrix_rate=0.002, rate=3e-4, warmup=20, decay=0.95, cuts=(1, 8), masks=1.0, again=8.0, seed=3),
                Recipe(
                    500,
                    16,
                    matrix_rate=0.0015,
                    rate=2e-4,
                    warmup=20,
                    decay=0.95,
                    earlier_share=0.4,
                    cuts=(1, 8),
                    masks=1.0,
                    again=30.0,
                    seed=4,
                ),
                Recipe(
                    900,
                    16,
                    matrix_rate=0.0025,
                    rate=4e-4,
                    warmup=20,
                    decay=0.95,
                    earlier_share=0.5,
                    cuts=(1, 8),
                    masks=1.0,
                    again=25.0,
                    seed=5,
                ),
                Recipe(
                    4_570,
                    48,
                    matrix_rate=0.005,
                    rate=7.5e-4,
                    warmup=20,
                    decay=0.62,
                    cuts=(2, 8),
                    masks=1.0,
                    again=25.0,
                    facts=16,
                    seed=6,
                ),
            ),
        ),
        Shipped(
            "translator",
            Translation,
            TransformerConfig(kind="encoder-decoder", vocabulary=6144, context=64, layers=3, heads=4, d_ff=512),
            Recipe(steps=8_621, batch=96, warmup=100, decay=0.4018, smoothing=0.1),
            short=True,
            more=(
                Recipe(
                    steps=1_109,
                    batch=96,
                    matrix_rate=0.006,
                    rate=9e-4,
                    warmup=100,
                    decay=0.7169,
                    earlier_share=0.13,
                    smoothing=0.1,
                    names=4,
                ),
            ),
        ),
        Shipped(
            "sorter",
            Sorting,
            TransformerConfig(
                kind="encoder",
                vocabulary=2048,
                context=64,
                d_model=96,
                layers=3,
                heads=4,
                d_ff=256,
                tied=False,
                labels=LABELS,
                dropout=0.1,
            ),
            Recipe(steps=3_000, batch=64, matrix_rate=0.01, rate=2e-3, warmup=50, decay=0.6),
            short=True,
        ),
        Shipped(
            "digits",
            Digits,
            TransformerConfig(
                kind="encoder",
                vocabulary=1,
                context=17,
                d_model=64,
                layers=3,
                heads=4,
                d_ff=256,
                positions="learned",
                norm="layer",
                feedforward="gelu",
                qk_norm=False,
                bias=True,
                tied=False,
                labels=DIGITS,
                image=8,
                patch=2,
                pixel_mean=0.3,
                pixel_spread=0.4,
                dropout=0.1,
            ),
            Recipe(steps=3_500, batch=64, matrix_rate=0.01, rate=2e-3, warmup=50, decay=0.6, smoothing=0.05),
            short=True,
        ),
    )
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train the models that ship; run again to go on where it stopped.")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder with english_*.txt and pairs_*.tsv")
    parser.add_argument("--work", type=Path, default=Path("build/train"), help="folder for checkpoints, one in it for each model")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help="folder for the models, one in it for each")
    parser.add_argument("--only", choices=SHIPPED, help="train this one, instead of all, one after another")
    parser.add_argument("--steps", type=int, help="the horizon of that one; may be changed until the decay begins")
    parser.add_argument("--begin", type=Path, help="the folder of a finished model, from whose weights that one starts")
    parser.add_argument("--rates", type=float, default=1.0, help="what its learning rates are multiplied by")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop each after so long, to go on another time")
    parser.add_argument("--finish", type=float, help="let the learning rate fall to zero within so many minutes from now")
    parser.add_argument("--threads", type=int, help="processor threads that it may use")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    for name in [arguments.only] if arguments.only else SHIPPED:
        model = SHIPPED[name]
        if arguments.steps:  # of the recipe that comes last
            first, *more = [*model.recipes[:-1], replace(model.recipes[-1], steps=arguments.steps)]
            model = replace(model, recipe=first, more=tuple(more))
        rates = {rate: arguments.rates * getattr(model.recipe, rate) for rate in ("matrix_rate", "rate")}
        model = replace(model, recipe=replace(model.recipe, **rates))
        folder = arguments.work / name
        if arguments.finish is not None:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "finish").write_text(str(arguments.finish))
        print(f"The {name}:")
        train(model, arguments.data, arguments.out / name, folder, arguments.minutes, begin=arguments.begin)
