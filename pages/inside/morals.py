"""Sentences on what the numbers of a stage mean for this text, with chance beside them."""

from __future__ import annotations

import numpy as np

from analysis import inside
from pages.inside import happened, naming, recipes
from pages.inside.opened import OpenStage
from ui.escaping import starred
from ui.picture.board import Draft
from viz.numbers import whole_percent
from viz.tokens import named

CLEAR = 0.95  # of cases: what the best of random tokens seldom exceeds
SAMPLE = 1000  # tokens of the vocabulary, drawn for comparison
DRAWS = 20  # random changes: of 21 that are drawn alike, one is above the 20 others in less than 5 % of cases


def of_stage(draft: Draft, here: OpenStage) -> str:
    """Return the sentence of a station; "" for other stages, and where its numbers are not known."""
    match here.stage.name:
        case "embeddings":
            return like_it(draft, here)
        case "queries":
            return fits_best(draft, here)
        case "weights" | "cross weights":
            return looks_most(draft, here.way, here.stage, here.place[0])
        case "blocks":
            return guess_by_layer(draft, here) if here.look.beginner else guess_before(draft, here)
        case "feed-forward":
            return " ".join(filter(None, [guess_around(draft, here), gains_most(draft, here)]))
    return ""


def guess_by_layer(draft: Draft, here: OpenStage) -> str:
    """Return the best guess after each layer, neighbours with the same one together."""
    if not (parts := happened.runs(here.look, here.way)):
        return ""
    return draft.words("moral blocks", guesses=starred(happened.listed(parts)), **happened.chosen(here.look, here.way))


def guess_around(draft: Draft, here: OpenStage) -> str:
    """Return the best guess before the layer and after it, for beginners."""
    facts = happened.around_layer(here.look, here.way) if here.look.beginner else {}
    if not facts:
        return ""
    return draft.words(f"moral layer{facts['changed']}", **{name: starred(text) for name, text in facts.items()})


def like_it(draft: Draft, here: OpenStage) -> str:
    """Return which other token of the text has the row most like the chosen token's, by cosine, and what the best of as many
    random tokens reaches in half of all cases."""
    every, at = naming.tokens(here.look, here.stage, "token"), here.place[0]
    places, cosines = other_rows(here)
    if not places:
        return ""
    model = here.look.model
    drawn = np.random.default_rng(0).choice(model.info.vocabulary, min(SAMPLE, model.info.vocabulary), replace=False)
    table = model.embedding(drawn[drawn != every[at].id].tolist())
    own = recipes.plane(here.stage, [at], here.head)[0]
    if table.shape[-1] != len(own):
        return ""
    chance, seldom = np.quantile(_unit(table) @ _unit(own), [0.5 ** (1 / len(places)), CLEAR ** (1 / len(places))])
    best = int(cosines.argmax())
    facts = {"like": _name(every[places[best]].text), "cosine": _two(cosines[best]), "others": str(len(places))}
    case = "chance" if cosines[best] <= seldom else "one" if len(places) == 1 else ""
    return draft.words(draft.heading_for("moral embeddings", case), **facts, chance=_two(chance))


def other_rows(here: OpenStage) -> tuple[list[int], np.ndarray]:
    """Return the places of the text's other tokens, each token once, and the cosine of their rows to the chosen token's."""
    every, at = naming.tokens(here.look, here.stage, "token"), here.place[0]
    places = {token.id: place for place, token in enumerate(every) if not token.special and token.id != every[at].id}
    rows = _unit(recipes.plane(here.stage, [at, *places.values()], here.head))
    return list(places.values()), rows[1:] @ rows[0]


def fits_best(draft: Draft, here: OpenStage) -> str:
    """Return which token's key fits the chosen token's query best, by the score before the softmax, and the middle score."""
    stages = {stage.name: stage for stage in here.way.stages}
    weights = stages.get("weights")
    scores = stages.get(weights.inputs[0]) if weights is not None and weights.inputs else None
    if scores is None or not recipes.known(scores):
        return ""
    row = recipes.plane(scores, [here.place[0]], here.look.head)[0]
    seen = np.flatnonzero(np.isfinite(row) & (row > np.finfo(np.float32).min / 2))
    if len(seen) < 2:
        return ""
    best = int(seen[row[seen].argmax()])
    other = starred(naming.along(here.look, scores, scores.axes[-1], best))
    facts = {"count": f"{len(seen):,}", "score": recipes.written(row[best]), "middle": recipes.written(np.median(row[seen]))}
    return draft.words("moral queries itself" if best == here.place[0] else "moral queries", best=other, **facts)


def looks_most(draft: Draft, way: inside.Way, weights: inside.Stage, row: int) -> str:
    """Return which token a token looks at most, and its share beside an equal share of what it may look at."""
    head = recipes.layer_of(weights, draft.look.head, draft.look.trace.attention[way.stack].heads)
    shares = recipes.plane(weights, [row], head)[0]
    hidden = recipes.masked(way, weights, [row], head)
    count = len(shares) - (0 if hidden is None else int(hidden.sum()))
    if count < 2 or not np.isfinite(shares).all():
        return ""
    best = int(shares.argmax())
    facts = {"most": starred(naming.along(draft.look, weights, weights.axes[-1], best)), "count": f"{count:,}"}
    return draft.words("moral weights", **facts, share=whole_percent(float(shares[best])), even=whole_percent(1 / count))


def scored_most(draft: Draft, way: inside.Way, weights: inside.Stage, row: int) -> str:
    """Return which token a token looks at most, with the product, the score and the share of this pair; without the product and
    the score where they are not known."""
    stages = {stage.name: stage for stage in way.stages}
    products, scores = stages.get("products"), stages.get("scores")
    plain = looks_most(draft, way, weights, row)
    if not plain or products is None or scores is None or not (recipes.known(products) and recipes.known(scores)):
        return plain
    head = recipes.layer_of(weights, draft.look.head, draft.look.trace.attention[way.stack].heads)
    shares, product, score = (recipes.plane(stage, [row], head)[0] for stage in (weights, products, scores))
    best = int(shares.argmax())
    factor = getattr(scores.rule, "factor", None)
    if factor is None or not np.isfinite([product[best], score[best]]).all():
        return plain
    width = stages["queries"].sizes[-1] if "queries" in stages else 0
    by_root = width > 0 and bool(np.isclose(factor * width**0.5, 1, rtol=1e-3))
    facts = {
        "product": recipes.written(product[best]),
        "scaled": f"divided by √{width}" if by_root else f"multiplied by {recipes.written(factor)}",
        "score": recipes.written(score[best]),
        "most": starred(naming.along(draft.look, weights, weights.axes[-1], best)),
        "count": f"{len(shares):,}",
        "share": whole_percent(float(shares[best])),
    }
    return f"{plain} {draft.words('moral scores', **facts)}".rstrip()


def guess_before(draft: Draft, here: OpenStage) -> str:
    """Return what the model would guess from the row as it began, without any layer, beside its guess."""
    at, trace = here.place[0], here.look.trace
    if trace.unembed is None or here.way.stack == "encoder" or not len(trace.stream):
        return ""
    after = recipes.plane(here.stage, [at], here.head)[0]
    if not np.allclose(after, trace.stream[-1][at], atol=1e-3):  # this stream is not what guesses are made of
        return ""
    chances = here.look.model.chances(trace.unembed(np.vstack([trace.stream[0][at], after])))
    first, last = (int(row.argmax()) for row in chances)
    facts = {
        "first": _name(here.look.model.outcome(first)),
        "first_share": here.look.percent(float(chances[0, first])),
        "last": _name(here.look.model.outcome(last)),
        "last_share": here.look.percent(float(chances[1, last])),
    }
    return draft.words("moral blocks", **facts)


def answer(draft: Draft, way: inside.Way) -> dict[str, str]:
    """Return the likeliest token after the followed one, and its chance; nothing where no token comes next."""
    look = draft.look
    if way.stages[-1].name != "choice" or look.model.info.labels or look.model.info.kind == "encoder" or way.stack == "encoder":
        return {}
    at = look.token_among(len(look.trace.read))
    logits = look.trace.scores_at(at)
    if logits is None:
        return {}
    (best,) = look.model.top(logits, at, 1)
    return {"guess": _name(look.outcome(best.id)), "chance": look.percent(best.probability)}


def gains_most(draft: Draft, here: OpenStage) -> str:
    """Return by how much the feed-forward part changed the row, and which guess it raised most, beside random changes."""
    at, trace = here.place[0], here.look.trace
    output = next((stage for stage in here.way.stages if stage.name == "output"), None)
    if trace.unembed is None or output is None or output.formula != "add" or here.stage.name not in output.inputs:
        return ""
    if here.way.layer is None or here.way.stack == "encoder" or len(trace.stream) <= here.way.layer + 1:
        return ""
    after, change = (recipes.plane(stage, [at], here.head)[0] for stage in (output, here.stage))
    if not np.allclose(after, trace.stream[here.way.layer + 1][at], atol=1e-3):  # this stream is not what guesses are made of
        return ""
    before, size = after - change, float(np.linalg.norm(change))
    random = _unit(np.random.default_rng(0).standard_normal((DRAWS, len(change))).astype(np.float32)) * size
    chances = here.look.model.chances(trace.unembed(np.vstack([before, after, before + random])))
    gains = chances[1:] - chances[0]
    guess = int(gains[0].argmax())
    as_much = int((gains[1:].max(1) >= gains[0, guess]).sum())
    facts = {
        "change": whole_percent(size / float(np.linalg.norm(before))),
        "guess": _name(here.look.model.outcome(guess)),
        "before": here.look.percent(float(chances[0, guess])),
        "after": here.look.percent(float(chances[1, guess])),
        "draws": str(DRAWS),
        "as_much": str(as_much),
    }
    return draft.words("moral feed-forward luck" if as_much else "moral feed-forward", **facts)


def _name(text: str) -> str:
    return starred(f"“{named(text)}”")


def _two(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)
