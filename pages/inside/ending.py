"""The last stage: a token or a label is chosen by its probability."""

from __future__ import annotations

import numpy as np

from pages.inside import formulas, recipes
from pages.inside.detail import add_end, first_key
from pages.inside.opened import OpenStage
from ui.escaping import starred
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz import percent
from viz.tokens import named

TOP = {"beginner": 5, "intermediate": 10, "expert": 20}


def add(draft: Draft, here: OpenStage) -> None:
    """Add the likeliest tokens at the position that is followed, or the labels where they are read."""
    look = here.look
    model, labels = look.model, look.model.info.labels
    at = look.predicted_at if labels else look.token_among(len(look.trace.read))
    logits = look.trace.scores_at(at)
    assert logits is not None, "without a head there is no choice"
    best = model.top(logits, at, TOP[look.level])
    options = {"token": at, "top": TOP[look.level], "plainly": look.beginner}

    def numbers() -> dict[str, Numbers]:
        names = {"place": [prediction.text for prediction in best]}
        each = {
            "probability": [prediction.probability for prediction in best],
            "logit": [logits[prediction.id] for prediction in best],
        }
        return {name: Numbers(np.array(values, dtype=np.float32), ("place",), names) for name, values in each.items()}

    drawing = Picture(
        recipes.choice,
        (look,),
        options,
        first_key(look),
        numbers,
        words="of the text" if labels else f"at token {at}",
        title="The choice",
        part="bars",
        takes=("model", "trace"),
    )
    kind = model.info.kind
    where = "at a mask" if at in model.places(look.trace) and kind == "encoder" else "elsewhere" if kind == "encoder" else "next"
    where = formulas.case(here.stage) or where
    facts = {
        "token": starred(f"“{named(look.spell_tokens(look.trace.read)[at].text)}”"),
        "best": starred(named(look.outcome(best[0].id))),
        "share": look.percent(best[0].probability),
        "vocabulary": f"{model.info.vocabulary:,}",
        "labels": f"{len(logits):,}",
        "place": draft.words("place here" if kind == "encoder" else "place next"),
        "rest": percent(1 - float(np.sort(model.chances(logits))[-TOP[look.level] :].sum())),
        "top": TOP[look.level],
    }
    add_end(draft, here, drawing, facts, draft.words(f"choice {where}", **facts))
