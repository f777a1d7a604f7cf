"""What only the sorter's card says: how often it is right on held-out sentences, and how often what is simpler."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from bin.model_card.common import stages
from models.catalog import WEIGHTS, load
from models.language_model import LanguageModel
from models.training.sorting import LABELS, SIGNS, Sentence, Sorting, held_out, sentences

EXAMPLES = (
    "Did the dog see the cat",
    "The dog did see the cat",
    "You like tea, don't you",
    "I don't know where he lives",
    "Have a seat",
    "Have you seen it",
    "You like tea",
    "Where he lives is a secret",
)


def values(data: Path) -> dict[str, object]:
    folder, model = WEIGHTS / "sorter", load("sorter")
    seen, new = sentences(data / "pairs_train.tsv"), held_out(data)
    texts, right = [text for text, _ in new], np.array([label for _, label in new])
    predictions = labelled(model, texts)
    simple = {name: fit(seen, of, pairs)(texts) for name, (of, pairs) in SIMPLE.items()}
    hard = simple["first"] != right
    figures = json.loads((folder / "figures.json").read_text())
    figures["accuracy"] = {"sorter": float((predictions == right).mean())} | {
        name: float((guesses == right).mean()) for name, guesses in simple.items()
    }
    figures["accuracy"] |= {
        f"sorter {sign}": float((labelled(model, [text + sign for text in texts]) == right).mean()) for sign in SIGNS
    }
    figures["sorter_where_first_fails"] = f"{(predictions == right)[hard].sum()} of {hard.sum()}"
    (folder / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")
    wrong = [f"“{text}” ({LABELS[label]})" for (text, label), it in zip(new, predictions, strict=True) if it != label]
    shares = {f"share_{name}": f"{value:.1%}" for name, value in figures["accuracy"].items()}
    signed = [figures["accuracy"][f"sorter {sign}"] for sign in SIGNS]
    return shares | {
        "signed": f"{min(signed):.1%}" + (f" to {max(signed):.1%}" if max(signed) > min(signed) else ""),
        "hard": figures["sorter_where_first_fails"],
        "wrong": "; ".join(wrong),
        "sentences": f"{len(seen):,}",
        "questions": f"{sum(label for _, label in seen):,}",
        "held_out": len(new),
        "half": len(new) // 2,
        "signs": f"{Sorting.SIGNED:.0%}",
        "small": f"{Sorting.SMALL:.0%}",
        "minutes": round(figures["seconds"] / 60),
        "labels": " and ".join(f"“{name}”" for name in LABELS),
        "stages": stages(figures, read="{batch} sentences"),
        "examples": "\n".join(f"- “{text}”: {likeliest(model, text)}" for text in EXAMPLES),
    }


def labelled(model: LanguageModel, texts: Sequence[str]) -> np.ndarray:
    """The number of the label that a model gives each text: int [text]."""
    return np.array([model.predict(text, top=1)[0].id for text in texts])


def likeliest(model: LanguageModel, text: str) -> str:
    (best,) = model.predict(text, top=1)
    return f"{best.text} {100 * best.probability:.1f} %"


def first_word(text: str) -> str:
    return text.split()[0]


# What of a text is read, and whether pairs of neighbours count beside words.
SIMPLE: dict[str, tuple[Callable[[str], str], bool]] = {"first": (first_word, False), "bag": (str, False), "pairs": (str, True)}


def fit(seen: Sequence[Sentence], of: Callable[[str], str], pairs: bool) -> Callable[[Sequence[str]], np.ndarray]:
    """A logistic regression on the counts of words, in which both labels weigh alike."""
    counts = CountVectorizer(token_pattern=r"\S+", ngram_range=(1, 2 if pairs else 1))
    classifier = make_pipeline(counts, LogisticRegression(class_weight="balanced", max_iter=1000))
    classifier.fit([of(text) for text, _ in seen], [label for _, label in seen])
    return lambda texts: classifier.predict([of(text) for text in texts])
