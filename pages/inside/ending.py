"""The last stage: the probabilities are there, and something is chosen."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pages.inside import formulas, recipes
from pages.inside.naming import starred
from pages.inside.opened import Opened, draw_end
from ui.picture.picture import Numbers, Picture
from ui.words import words
from viz import percent
from viz.numbers import in_hundred
from viz.tokens import named

HERE = Path(__file__).parent
TOP = {"beginner": 5, "intermediate": 10, "expert": 20}


def draw(here: Opened) -> list[Picture]:
    """The likeliest tokens at the one that is followed, or the labels where they are read."""
    look = here.look
    model, labels = look.model, look.model.info.labels
    at = look.predicted_at if labels else look.token_among(len(look.trace.read))
    logits = look.trace.scores_at(at)
    assert logits is not None, "without a head there is no choice"
    best = model.top(logits, at, TOP[look.level])
    options = {"token": at, "top": TOP[look.level], "plainly": look.beginner}

    def numbers() -> dict[str, Numbers]:
        names = {"place": [one.text for one in best]}
        each = {"probability": [one.probability for one in best], "logit": [logits[one.id] for one in best]}
        return {name: Numbers(np.array(values, dtype=np.float32), ("place",), names) for name, values in each.items()}

    made = Picture(
        recipes.choice, (look,), options, "inside-open", numbers, words="of the text" if labels else f"at token {at}",
        title="The choice", part="bars", takes=("model", "trace"),
    )  # fmt: skip
    kind = model.info.kind
    where = "at a mask" if at in model.places(look.trace) and kind == "encoder" else "elsewhere" if kind == "encoder" else "next"
    where = formulas.case(here.stage) or where
    said = {
        "token": starred(f"“{named(look.written(look.trace.read)[at].text)}”"), "best": starred(named(look.outcome(best[0].id))),
        "share": (in_hundred if look.beginner else percent)(best[0].probability), "vocabulary": f"{model.info.vocabulary:,}",
        "labels": f"{len(logits):,}",
        "place": words(HERE, "place here" if kind == "encoder" else "place next"),
        "rest": percent(1 - float(np.sort(model.chances(logits))[-TOP[look.level] :].sum())), "top": TOP[look.level],
    }  # fmt: skip
    return draw_end(here, made, said, words(HERE, f"choice {where}", **said))
