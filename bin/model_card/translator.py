"""What only the translator's card says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import sacrebleu
from tqdm import tqdm

from analysis.word_alignment import read_links, word_alignment
from models.catalog import WEIGHTS, load
from models.scratch.corpus import pairs

SENTENCES = ("I am tired.", "The cat is black.", "Where is the station?", "I don't want to go to school.", "She gave him a book.")
WIDTH = 4


def values(data: Path) -> dict[str, object]:
    folder, model = WEIGHTS / "translator", load("translator")
    held_out, seen = pairs(data / "pairs_valid.tsv"), pairs(data / "pairs_train.tsv")
    references: dict[str, list[str]] = {}
    for source, target in held_out:
        references.setdefault(source, []).append(target)
    greedy, beam = scores(model, references, 1), scores(model, references, WIDTH)
    figures = json.loads((folder / "figures.json").read_text())
    figures |= {"greedy": greedy, "beam": beam}
    links = read_links((folder / "alignments.tsv").read_text(encoding="utf-8"))
    heads = word_alignment(model, links)
    figures["alignment"] = heads.round(4).to_dict("records")
    (folder / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")
    best = heads.loc[heads["share"].idxmax()]
    choices = [len(re.findall(r"\w+", source)) for source, _, said in links for _ in said]  # words that could be the strongest
    return {
        "pairs": f"{len(seen):,}",
        "held_out": f"{len(held_out):,}",
        "sentences": f"{len(references):,}",
        "epochs": f"{figures['step'] * figures['recipe']['batch'] / len(seen):.1f}",
        "width": WIDTH,
        "greedy_exact": f"{greedy['exact']:.1%}",
        "greedy_chrf": f"{greedy['chrf']:.1f}",
        "beam_exact": f"{beam['exact']:.1%}",
        "beam_chrf": f"{beam['chrf']:.1f}",
        "signature": beam["signature"],
        "align_layer": int(best["layer"]),
        "align_head": int(best["head"]),
        "align": f"{best['share']:.0%}",
        "align_words": len(choices),
        "chance": f"{sum(1 / count for count in choices) / len(choices):.0%}",
        "examples": "\n".join(f"- {one} → {model.text_of(model.translate(one)[0])}" for one in SENTENCES),
    }


def scores(model, references: dict[str, list[str]], width: int) -> dict[str, object]:
    """exact: share of sentences whose answer is one of their translations in the list; chrF (Popović 2015) by sacrebleu."""
    said = [model.text_of(model.translate(source, width)[0]) for source in tqdm(references, desc=f"beam {width}")]
    most = max(map(len, references.values()))
    columns = [[found[i] if i < len(found) else None for found in references.values()] for i in range(most)]
    metric = sacrebleu.CHRF()
    chrf = metric.corpus_score(said, columns).score
    exact = sum(one in found for one, found in zip(said, references.values(), strict=True)) / len(said)
    return {"exact": exact, "chrf": chrf, "signature": str(metric.get_signature())}
