"""The loss over a training, as a picture."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import pandas as pd

matplotlib.use("svg")
from matplotlib import pyplot


def draw_loss(folder: Path) -> None:
    """loss.csv as loss.svg."""
    log = pd.read_csv(folder / "loss.csv")
    figure, axes = pyplot.subplots(figsize=(7, 3.2), facecolor="white")
    axes.plot(log["tokens"] / 1e6, log["train_nats"], color="#b04a08", alpha=0.6, label="training (mean of 100 steps)")
    held_out = log.dropna(subset="valid_nats")
    axes.plot(held_out["tokens"] / 1e6, held_out["valid_nats"], color="#1d2430", marker=".", label="held out (an eighth of it)")
    axes.set(xlabel="million tokens read", ylabel="nats a prediction", ylim=(None, min(6, 1.05 * log["train_nats"].max())))
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(folder / "loss.svg", metadata={"Date": None})
    pyplot.close(figure)
