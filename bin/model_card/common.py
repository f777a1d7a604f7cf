"""What the cards of all models say."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

from analysis import head_scores
from models.catalog import WEIGHTS, load
from models.scratch.config import TransformerConfig
from models.scratch.corpus import documents

COLLECTIONS = {"asp": "African Storybook (africanstorybook.org), CC BY", "pb": "Pratham Books StoryWeaver, CC BY"}


def facts(folder: Path) -> dict[str, object]:
    """Sizes, recipe and figures, as the text of a card names them."""
    model = load(folder.name)
    config = TransformerConfig(**json.loads((folder / "config.json").read_text()))
    figures = json.loads((folder / "figures.json").read_text())
    recipe = figures["recipe"]
    return (
        asdict(config)
        | recipe
        | {
            "parameters": f"{model.info.parameters / 1e6:.2f} M",
            "vocabulary": f"{config.vocabulary:,}",
            "megabytes": f"{(folder / 'model.safetensors').stat().st_size / 1e6:.1f}",
            "steps": f"{figures['step']:,}",
            "tokens": f"{figures['tokens'] / 1e6:.1f} M",
            "hours": f"{figures['seconds'] / 3600:.1f}",
            "decay": f"{recipe['steps'] - recipe['decay_from']:,}",
            "masked": f"{recipe.get('masked', 0):.0%}",
            "repeats": f"{recipe['repeats']:.0%}",
            "nats": f"{next(value for name, value in figures.items() if name.startswith('nats')):.3f}",
            "predictions": f"{figures.get('predictions', 0):,}",
        }
    )


def best_heads(name: str, data: Path, *kinds: str) -> dict[str, object]:
    """The head that scores highest in each way of looking."""
    held_out = [text for text in documents(data / "english_valid.txt") if 300 < len(text) < 900][:40]
    scores, found = head_scores(load(name), held_out), {}
    for kind in kinds:
        row = scores.loc[scores[kind].idxmax()]
        found |= {f"{kind}_layer": int(row["layer"]), f"{kind}_head": int(row["head"]), kind: f"{row[kind]:.2f}"}
    return found


def epochs(name: str, data: Path, twice_under: int) -> dict[str, object]:
    """How many documents there are, and how often they were read, short ones coming twice."""
    figures = json.loads((WEIGHTS / name / "figures.json").read_text())
    texts = documents(data / "english_train.txt")
    lengths = [len(one.ids) + 1 for one in load(name).vocabulary.tokenizer.encode_batch(texts)]
    once = sum(length * (1 + (len(text) < twice_under)) for length, text in zip(lengths, texts, strict=True))
    return {"documents": f"{len(texts):,}", "epochs": f"{figures['tokens'] / once:.1f}"}


def attributions(source: Path, out: Path, name: str) -> None:
    """Each storybook with its author, in the form that CC BY asks for."""
    by: dict[str, list[str]] = defaultdict(list)
    with source.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            by[row["source"]].append(f"- *{row['title']}*, {row['text_by'] or 'author not named'}, {row['licence']}")
    parts = [f"## {COLLECTIONS[one]}\n\n" + "\n".join(sorted(rows)) for one, rows in sorted(by.items())]
    title = f"# Stories that the {name} was trained on, and who wrote them\n\n"
    out.write_text(title + "\n\n".join(parts) + "\n", encoding="utf-8")


def quoted(predictions) -> str:
    """Predictions in a line: “ time” 99.7 %, …"""
    return ", ".join(f"“{one.text.strip()}” {100 * one.probability:.1f} %" for one in predictions)
