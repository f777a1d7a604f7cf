"""Boards of the text shaded by each method: side by side after the last layer, and layer by layer."""

from __future__ import annotations

import numpy as np

from analysis.attribution import FOLLOWING
from pages.flow import recipes
from pages.flow.recipes import FLOW, ROLLOUT
from pages.flow.request import Request, title
from pages.flow.settings import Layers, Methods
from ui.escaping import plain
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz import Card, Part, percent
from viz.tokens import named

FIRST = {"beginner": [ROLLOUT], "intermediate": ["raw attention", ROLLOUT]}  # methods that stand open at a level; else all do
METHODS, OTHERS, ANSWER, LAYERS = "flow-methods", "flow-others", "flow-answer", "flow-layers"


def add(draft: Draft, request: Request, reading: Methods) -> None:
    """Add the methods side by side: all, or the simplest, and the others apart; for beginners the answer in a sentence too."""
    scores, facts = reading.scores, {}
    if "slopes" in scores and (logits := request.trace.scores_at(request.position)) is not None:
        facts = {"total": f"{scores['slopes']:.3g}", "logit": f"{logits[request.token]:.3g}"}
    simple = draft.look.beginner
    if simple:
        say_answer(draft, request, scores[ROLLOUT])
    cards = {
        method: Card([method_part(draft, request, method, reading, facts)], title(draft.words, method), 5)
        for method in sorted(request.methods, key=lambda method: simple and method != ROLLOUT)
        if method in scores
    }
    first = [cards.pop(method) for method in FIRST.get(draft.look.level, [*cards]) if method in cards]
    draft.add_cards(METHODS, first, "What the token goes back to" if simple else "Methods side by side")
    if cards:
        draft.add_cards(OTHERS, [*cards.values()], "Other methods")
    draft.note("flow-methods-words", "side by side")


def say_answer(draft: Draft, request: Request, scores: np.ndarray | str) -> None:
    """Say in a sentence which two tokens most goes back to, and why that is the start, where it is."""
    tokens, groups, _ = request.seen
    if isinstance(scores, str) or len(tokens) < 2:
        return
    shares = np.nan_to_num(recipes.sum_shares(scores, groups, request.text_options["scope_options"]))
    first, second, *others = np.argsort(-shares, kind="stable")
    if shares[second] == 0:  # the first token goes back to itself alone
        return
    names = {"first": plain(named(tokens[first].text)), "second": plain(named(tokens[second].text))}
    draft.note(
        ANSWER,
        "answer start" if first == 0 and tokens[0].special else "answer",
        then=f", and then “{plain(named(tokens[others[0]].text))}” ({percent(shares[others[0]])})" if others else "",
        share=percent(shares[first]),
        other=percent(shares[second]),
        **names,
    )


def method_picture(draft: Draft, request: Request, method: str, reading: Methods) -> Picture | None:
    """Return the text shaded by a method's score of each token; None if it has no scores."""
    scores = reading.scores[method]
    if isinstance(scores, str) or (method in FOLLOWING and scores.sum() == 0):
        return None
    tokens, groups, start = request.seen
    whole = len(tokens) == len(request.trace.tokens) and not start
    between = reading.between if method == FLOW else None
    options = {"name": method, "token": request.token, "between": between, **request.text_options}
    options["link"] = "flow" if whole else "methods"

    def numbers() -> dict[str, Numbers]:
        shares = recipes.sum_shares(scores, groups, request.text_options["scope_options"])
        return {"share": Numbers(shares, ("token",), {"token": [token.text for token in tokens]})}

    name = title(draft.words, method)
    return request.picture(recipes.method, METHODS, name, options, part=method, numbers=numbers, known={"scores": scores})


def method_part(draft: Draft, request: Request, method: str, reading: Methods, facts: dict[str, str]) -> Part:
    """Return the picture of a method with its words; a sentence if it has no scores."""
    scores, section = reading.scores[method], f"method {method}"
    text = draft.words(section, layer=request.trace.numbers[-1])
    if request.trace.target:
        text = draft.words(f"{section} cross") or text
    drawing = method_picture(draft, request, method, reading)
    if drawing is None:
        return Part(method, None, text, scores if isinstance(scores, str) else draft.words("none"))
    finite = np.asarray(scores)[np.isfinite(scores)]
    least, most = percent(finite[finite > 0].min(initial=1.0)), percent(finite.max(initial=0.0))
    return draft.picture(drawing, text, draft.words(f"below {method}", least=least, most=most, **facts))


def add_layers(draft: Draft, request: Request, reading: Layers) -> None:
    """Add the methods layer by layer, and explain a frame in the column of words."""
    names, values = reading.methods, reading.values
    titles = [draft.words(f"layer {name}") or title(draft.words, name) for name in names]
    options = {"names": names, "titles": titles, "token": request.token, **request.text_options}
    tokens, groups, _ = request.seen

    def numbers() -> dict[str, Numbers]:
        shares = np.array(
            [[recipes.sum_shares(row, groups, request.text_options["scope_options"]) for row in frame] for frame in values]
        )
        names = {"method": titles, "token": [token.text for token in tokens]}
        return {"share": Numbers(shares, ("layer", "method", "token"), names)}

    drawing = request.picture(
        recipes.by_layer, LAYERS, "Methods, layer by layer", options, numbers=numbers, known={"values": values}
    )
    draft.add(drawing, LAYERS)
    draft.say("layer by layer")
