"""What only the translator's card says."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import sacrebleu

from analysis.word_alignment import read_links, word_alignment
from bin.model_card.common import stages
from bin.model_card.held_out_names import FRAMES, NAMES, survivals
from bin.model_card.translations import translations
from models.catalog import WEIGHTS, load
from models.training.corpus import pairs
from models.training.names import FRAMES as OUR_FRAMES
from models.training.names import PEOPLE, PRONOUNS, Names, real_names

SENTENCES = (
    "My name is Anna.",
    "I am tired.",
    "The cat is black.",
    "Where is the station?",
    "I don't want to go to school.",
    "She gave him a book.",
)
WIDTH = 4
STAGES = (
    ("label smoothing", "{smoothing}"),
    ("sentences with a name, again with another one", "{names} times an epoch"),
    ("share of the weights from before that stays in them", "{earlier_share:.0%}"),
)


def values(data: Path) -> dict[str, object]:
    folder, model = WEIGHTS / "translator", load("translator")
    held_out, seen = pairs(data / "pairs_valid.tsv"), pairs(data / "pairs_train.tsv")
    references: dict[str, list[str]] = {}
    for source, target in held_out:
        references.setdefault(source, []).append(target)
    learned = {target for _, target in seen}
    known = np.array([not learned.isdisjoint(answers) for answers in references.values()])  # [sentence]
    names, frames = NAMES.read_text(encoding="utf-8").split(), FRAMES.read_text(encoding="utf-8").splitlines()
    ways = {"greedy": 1, "beam": WIDTH}
    figures = json.loads((folder / "figures.json").read_text())
    figures |= {way: scores(model, references, known, names, frames, width) for way, width in ways.items()}
    links = read_links((folder / "alignments.tsv").read_text(encoding="utf-8"))
    heads = word_alignment(model, links)
    figures["alignment"] = heads.round(4).to_dict("records")
    (folder / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")
    best = heads.loc[heads["share"].idxmax()]
    # For each linked word, the words that could be the strongest.
    choices = [len(re.findall(r"\w+", source)) for source, _, word_links in links for _ in word_links]
    return {f"{way}_{name}": format_value(figures[way][name]) for way in ways for name in figures["greedy"]} | {
        "pairs": f"{len(seen):,}",
        "held_out": f"{len(held_out):,}",
        "sentences": f"{len(references):,}",
        "single": f"{sum(len(answers) == 1 for answers in references.values()):,}",
        "known": f"{known.mean():.1%}",
        "width": WIDTH,
        "signature": figures["beam"]["signature"],
        "names": len(names),
        "frames": len(frames),
        "read": sum(stands_in(frame, {source for source, _ in [*seen, *pairs(OUR_FRAMES)]}) for frame in frames),
        "worst": ", ".join(figures["beam"]["lost_most"]),
        "faker": version("faker"),
        "real": f"{len(set.union(*real_names().values()) - set(names)):,}",
        "invented": f"{Names.INVENTED:.0%}",
        "align_layer": int(best["layer"]),
        "align_head": int(best["head"]),
        "align": f"{best['share']:.0%}",
        "align_words": len(choices),
        "align_all": sum(len(re.findall(r"\w+", target)) for _, target, _ in links),
        "chance": f"{sum(1 / count for count in choices) / len(choices):.0%}",
        "examples": "\n".join(
            f"- {sentence} → {answer}" for sentence, answer in zip(SENTENCES, translations(model, SENTENCES, WIDTH), strict=True)
        ),
        "stages": stages(figures, *STAGES, read="up to {batch} pairs"),
        "epochs": f"{figures['recipe']['steps'] * figures['recipe']['batch'] / len(seen):.1f}",
    }


def scores(
    model, references: dict[str, list[str]], known: np.ndarray, names: Sequence[str], frames: Sequence[str], width: int
) -> dict[str, object]:
    """How good the answers of a beam of this width are.

    exact: share of sentences whose answer is one of their translations in the list; of those alone that have one which is known,
    which are in training too as another sentence's, and of the rest. chrF (Popović 2015) by sacrebleu. names: share of the
    held-out names that survive, in each of the frames; names_worst: in the frame that loses most; lost_most: the names that are
    lost most often.
    """
    answers = translations(model, list(references), width)
    most = max(map(len, references.values()))
    columns = [[targets[i] if i < len(targets) else None for targets in references.values()] for i in range(most)]
    metric = sacrebleu.CHRF()
    chrf = metric.corpus_score(answers, columns).score
    exact = np.array([answer in targets for answer, targets in zip(answers, references.values(), strict=True)])  # [sentence]
    survived = np.array(survivals(model, names, frames, width))  # [name, frame]
    return {
        "exact": float(exact.mean()),
        "exact_known": float(exact[known].mean()),
        "exact_new": float(exact[~known].mean()),
        "chrf": chrf,
        "signature": str(metric.get_signature()),
        "names": float(survived.mean()),
        "names_worst": float(survived.mean(0).min()),
        "lost_most": [names[i] for i in survived.mean(1).argsort(kind="stable")[:8] if not survived[i].all()],
    }


def stands_in(frame: str, sources: set[str]) -> bool:
    """Whether a training reads the frame with another name in it, or may: one that is put in the place of “he” or “she”."""
    return any(frame.format(name) in sources for name in (*PEOPLE, *(PRONOUNS if frame.startswith("{}") else ())))


def format_value(value: object) -> object:
    """A share in per cent, chrF with one digit, text as it is."""
    return value if not isinstance(value, float) else f"{value:.1%}" if value <= 1 else f"{value:.1f}"
