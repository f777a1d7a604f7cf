"""The model card of the writer, with every figure computed: `python -m bin.model_card --data FOLDER`."""

from __future__ import annotations

import argparse
import csv
import json
from collections import defaultdict
from pathlib import Path

import matplotlib
import pandas as pd

from analysis import head_scores
from models.catalog import WEIGHTS, load
from models.scratch.corpus import documents

matplotlib.use("svg")
from matplotlib import pyplot

PROMPTS = ("Once upon a", "The cat sat on the", "It was a dark and stormy", "She opened the door and saw a", "Thank you very")
COLLECTIONS = {"asp": "African Storybook (africanstorybook.org), CC BY", "pb": "Pratham Books StoryWeaver, CC BY"}


def draw_loss(folder: Path) -> None:
    """loss.csv as loss.svg."""
    log = pd.read_csv(folder / "loss.csv")
    figure, axes = pyplot.subplots(figsize=(7, 3.2), facecolor="white")
    axes.plot(log["tokens"] / 1e6, log["train_nats"], color="#b04a08", alpha=0.6, label="training rows (mean of 100 steps)")
    held_out = log.dropna(subset="valid_nats")
    axes.plot(held_out["tokens"] / 1e6, held_out["valid_nats"], color="#1d2430", marker=".", label="held out (an eighth of it)")
    axes.set(xlabel="million tokens read", ylabel="nats a token", ylim=(None, 6))
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(folder / "loss.svg", metadata={"Date": None})


def attributions(source: Path, out: Path) -> None:
    """Each storybook with its author, in the form that CC BY asks for."""
    by: dict[str, list[str]] = defaultdict(list)
    with source.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            by[row["source"]].append(f"- *{row['title']}*, {row['text_by'] or 'author not named'}, {row['licence']}")
    parts = [f"## {COLLECTIONS[name]}\n\n" + "\n".join(sorted(rows)) for name, rows in sorted(by.items())]
    out.write_text(
        "# Stories that the writer was trained on, and who wrote them\n\n" + "\n\n".join(parts) + "\n", encoding="utf-8"
    )


def best(scores: pd.DataFrame, kind: str) -> dict[str, object]:
    row = scores.loc[scores[kind].idxmax()]
    return {f"{kind}_layer": int(row["layer"]), f"{kind}_head": int(row["head"]), kind: f"{row[kind]:.2f}"}


def main(data: Path) -> None:
    folder = WEIGHTS / "writer"
    model = load("writer")
    figures = json.loads((folder / "figures.json").read_text())
    recipe, config = figures["recipe"], json.loads((folder / "config.json").read_text())
    held_out = [text for text in documents(data / "english_valid.txt") if 300 < len(text) < 900][:40]
    scores = head_scores(model, held_out)
    texts = documents(data / "english_train.txt")
    examples = "\n".join(
        f"- “{prompt}”: "
        + ", ".join(f"“{one.text.strip()}” {100 * one.probability:.1f} %" for one in model.predict(prompt, top=5))
        for prompt in PROMPTS
    )
    once = sum(len(e.ids) + 1 for e in model.vocabulary.tokenizer.encode_batch(texts))
    again = sum(
        len(e.ids) + 1 for e in model.vocabulary.tokenizer.encode_batch([t for t in texts if len(t) < recipe["twice_under"]])
    )
    values = recipe | config | best(scores, "previous") | best(scores, "induction") | best(scores, "first")
    values |= {
        "parameters": f"{model.info.parameters / 1e6:.2f} M",
        "vocabulary": f"{config['vocabulary']:,}",
        "megabytes": f"{(folder / 'model.safetensors').stat().st_size / 1e6:.1f}",
        "nats": f"{figures['nats_per_token']:.3f}",
        "bits": f"{figures['bits_per_byte']:.3f}",
        "tokens": f"{figures['tokens'] / 1e6:.1f} M",
        "epochs": f"{figures['tokens'] / (once + again):.1f}",
        "documents": f"{len(texts):,}",
        "hours": f"{figures['seconds'] / 3600:.1f}",
        "warmup": f"{recipe['warmup']:,}",
        "decay": f"{recipe['decay']:.0%}",
        "repeats": f"{recipe['repeats']:.0%}",
        "examples": examples,
    }
    (folder / "README.md").write_text(Path(__file__).with_suffix(".md").read_text().format(**values), encoding="utf-8")
    draw_loss(folder)
    attributions(data / "ATTRIBUTION_storybooks.tsv", folder / "ATTRIBUTION.md")
    print((folder / "README.md").read_text()[:2500])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("data"))
    main(parser.parse_args().data)
