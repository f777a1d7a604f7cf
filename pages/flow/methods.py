"""The text shaded by each method: side by side after the last layer, and layer by layer."""

from __future__ import annotations

import numpy as np
import streamlit as st

from analysis.attribution import FOLLOWING
from pages.flow import recipes
from pages.flow.request import FLOW, HERE, Request, answers, flow, layers, title, window
from ui.picture.picture import Numbers, Picture
from ui.show import picture, show
from ui.words import say, words
from viz import Card, Part, board, percent


def side_by_side(request: Request) -> list[Picture]:
    scores = answers(request)
    if scores is None:
        return []
    if FLOW in request.methods:
        with picture(title(FLOW)):
            if (most := flow(request, np.asarray(scores["pipes"]))) is not None:
                scores = scores | {FLOW: most}
    facts = {}
    if "slopes" in scores and (logits := request.trace.scores_at(request.position)) is not None:
        facts = {"total": f"{scores['slopes']:.3g}", "logit": f"{logits[request.token]:.3g}"}
    methods = [method for method in request.methods if method in scores]
    between = window(np.asarray(scores["pipes"]))
    pictures = {method: drawing for method in methods if (drawing := method_picture(request, method, scores[method], between))}
    cards = [
        Card([method_part(request, method, scores[method], facts, pictures.get(method))], title(method), 5) for method in methods
    ]
    show(board(cards, "Methods side by side"), "flow-methods")
    say(HERE, "side by side")
    return list(pictures.values())


def method_picture(request: Request, method: str, scores: np.ndarray | str, between: int | None) -> Picture | None:
    """Return the text shaded by what a method gives to each token; None where it gives nothing."""
    if isinstance(scores, str) or (method in FOLLOWING and scores.sum() == 0):
        return None
    tokens, groups, start = request.seen
    whole = len(tokens) == len(request.trace.tokens) and not start
    options = {"name": method, "token": request.token, "between": between if method == FLOW else None, **request.text_options}
    options["link"] = "flow" if whole else "methods"

    def numbers() -> dict[str, Numbers]:
        shares = recipes.sum_shares(scores, groups, request.text_options["scope_options"])
        return {"share": Numbers(shares, ("token",), {"token": [token.text for token in tokens]})}

    return request.picture(
        recipes.method, "flow-methods", title(method), options, part=method, numbers=numbers, known={"scores": scores}
    )


def method_part(request: Request, method: str, scores: np.ndarray | str, facts: dict[str, str], drawing: Picture | None) -> Part:
    """Return the picture of a method with its words; a sentence where it gives nothing."""
    section = f"method {method}"
    text = words(HERE, section, layer=request.trace.numbers[-1])
    if request.trace.target:
        text = words(HERE, f"{section} cross") or text
    if drawing is None:
        return Part(method, None, text, scores if isinstance(scores, str) else words(HERE, "none"))
    finite = np.asarray(scores)[np.isfinite(scores)]
    least, most = percent(finite[finite > 0].min(initial=1.0)), percent(finite.max(initial=0.0))
    return drawing.on_board(text, words(HERE, f"below {method}", least=least, most=most, **facts))


def layer_by_layer(request: Request) -> list[Picture]:
    if (scores := layers(request)) is None:
        return []
    names, values = scores
    titles = [words(HERE, f"layer {name}") or title(name) for name in names]
    options = {"names": names, "titles": titles, "token": request.token, **request.text_options}
    tokens, groups, _ = request.seen

    def numbers() -> dict[str, Numbers]:
        shares = np.array(
            [[recipes.sum_shares(row, groups, request.text_options["scope_options"]) for row in frame] for frame in values]
        )
        names = {"method": titles, "token": [token.text for token in tokens]}
        return {"share": Numbers(shares, ("layer", "method", "token"), names)}

    drawing = request.picture(
        recipes.by_layer, "flow-layers", "Methods, layer by layer", options, numbers=numbers, known={"values": values}
    )
    left, right = st.columns([7, 3])
    with left:
        show(drawing.drawn, "flow-layers")
    with right:
        say(HERE, "layer by layer")
    return [drawing]
