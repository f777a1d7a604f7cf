"""What the cards of all models say."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

from analysis import head_scores
from models.catalog import load
from models.language_model import LanguageModel
from models.scratch.config import TransformerConfig

COLLECTIONS = {"asp": "African Storybook (africanstorybook.org), CC BY", "pb": "Pratham Books StoryWeaver, CC BY"}

STAGE = (
    ("steps", "{count:,} of {read}"),
    ("matrices in the blocks", "Muon, learning rate {matrix_rate}, weight decay {matrix_decay}"),
    ("embeddings and norms", "AdamW, learning rate {rate}, betas 0.9 and 0.95"),
    ("learning rate", "linear warm-up over {warmup} steps, level, linear to zero over the last {falling:,}"),
    ("gradient clipping", "norm {clip}"),
)


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


def best_heads(model: LanguageModel, *kinds: str) -> dict[str, dict]:
    """The head that scores highest in each way of looking, as page "Heads" measures it: layer, head and score of each kind."""
    scores = head_scores(model)
    best = {kind: scores.loc[scores[kind].idxmax()] for kind in kinds}
    return {kind: {"layer": int(row["layer"]), "head": int(row["head"]), "score": float(row[kind])} for kind, row in best.items()}


def stages(figures: dict, *rows: tuple[str, str], read: str = "{batch} × 256 tokens") -> str:
    """The recipes of a training side by side, as rows of a table.

    rows: what only this model has, name and format of a recipe. read: the format of what it reads in a step.
    """
    table, start = [], 0
    for recipe in (figures["recipe"], *figures.get("more", ())):
        values = {
            "repeats": 0.0,
            "own": 0.0,
            "names": 0,
            "again": 0.0,
            "facts": 0,
            "earlier_share": 0.0,
            "masks": 0.8,
            "cuts": [1, 2, 4, 8],
        } | recipe
        values |= {"count": recipe["steps"] - start, "falling": recipe["steps"] - recipe["decay_from"]}
        values["windows"] = ", ".join(str(256 // cut) for cut in values["cuts"])
        values["read"] = read.format(**values)
        table.append([format.format(**values) for _, format in (*STAGE, *rows)])
        start = recipe["steps"]
    names = [name for name, _ in (*STAGE, *rows)]
    return "\n".join(f"| {name} | {' | '.join(cells)} |" for name, cells in zip(names, zip(*table, strict=True), strict=True))


def attributions(source: Path, out: Path, name: str) -> None:
    """Each storybook with its author, in the form that CC BY asks for."""
    by: dict[str, list[str]] = defaultdict(list)
    with source.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            by[row["source"]].append(f"- *{row['title']}*, {row['text_by'] or 'author not named'}, {row['licence']}")
    parts = [f"## {COLLECTIONS[source]}\n\n" + "\n".join(sorted(rows)) for source, rows in sorted(by.items())]
    title = f"# Stories that the {name} was trained on, and who wrote them\n\n"
    out.write_text(title + "\n\n".join(parts) + "\n", encoding="utf-8")


def quoted(predictions) -> str:
    """Predictions in a line: “ time” 99.7 %, …"""
    return ", ".join(f"“{prediction.text.strip()}” {100 * prediction.probability:.1f} %" for prediction in predictions)


def compared(figures: dict, *rows: tuple[str, str]) -> str:
    """Measures as a table, those of the weights before beside them where there are some. rows: name and format of a measure."""
    columns = [column for column in (figures.get("measures_before"), figures["measures"]) if column]
    titles = [f"after {column['tokens_read'] / 1e6:.1f} M tokens" for column in columns[:-1]] + ["as it ships"]
    head = [f"| measure | {' | '.join(titles)} |", "|---" * (len(columns) + 1) + "|"]
    body = [f"| {name} | {' | '.join(format.format(**column) for column in columns)} |" for name, format in rows]
    return "\n".join(head + body)
