"""Accuracy on held-out digits, of the model and of simpler classifiers, for the card of digits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from bin.model_card.common import stages
from models.catalog import WEIGHTS, load
from models.images.digits import HELD_OUT, SEED, split
from models.language_model import LanguageModel
from models.training.digits import COVERED, MOST_COVERED, SHIFT, TURN, ZOOM

SIMPLE = {
    "regression": LogisticRegression(max_iter=2000),
    "neighbour": KNeighborsClassifier(1),
    "svm": SVC(),
}


def values(data: Path) -> dict[str, object]:
    folder, model = WEIGHTS / "digits", load("digits")
    seen, labels, images, right = split()
    predictions = labelled(model, images)
    figures = json.loads((folder / "figures.json").read_text())
    figures["accuracy"] = {"digits": float((predictions == right).mean())} | {
        name: float((method.fit(seen.reshape(len(seen), -1), labels).predict(images.reshape(len(images), -1)) == right).mean())
        for name, method in SIMPLE.items()
    }
    covered = labelled(model, images, 4)
    figures["accuracy_covered"] = float((covered == right).mean())
    (folder / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")
    wrong = [f"a {digit} called {guess}" for digit, guess in zip(right, predictions, strict=True) if digit != guess]
    return {f"share_{name}": f"{value:.1%}" for name, value in figures["accuracy"].items()} | {
        "covered_right": f"{figures['accuracy_covered']:.1%}",
        "count_right": int((predictions == right).sum()),
        "wrong": "; ".join(wrong) or "none",
        "images": f"{len(seen):,}",
        "held_out": HELD_OUT,
        "split_seed": SEED,
        "turn": f"{TURN:g}",
        "zoom": f"{ZOOM:.0%}",
        "shift": f"{SHIFT:g}",
        "covered": f"{COVERED:.0%}",
        "most_covered": MOST_COVERED,
        "minutes": round(figures["seconds"] / 60),
        "stages": stages(figures, read="{batch} images"),
        "smoothing": figures["recipe"]["smoothing"],
    }


def labelled(model: LanguageModel, images: np.ndarray, covered: int = 0) -> np.ndarray:
    """The digit that a model names in each image: int [image]. covered: patches that are covered first, drawn at random."""
    generator, texts = np.random.default_rng(0), []
    for image in images:
        tokens = model.tokenize(image)  # type: ignore[arg-type]  # a model of images
        for place in generator.choice(np.arange(1, len(tokens)), covered, replace=False):
            tokens[place] = tokens[place].cover()  # type: ignore[attr-defined]  # behind [CLS] there are patches
        texts.append(tokens)
    return model.logits_of(texts, 0).argmax(1)
