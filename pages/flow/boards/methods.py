"""Boards of the text shaded by each method: side by side after the last layer, and layer by layer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from analysis.attribution import FOLLOWING
from pages.flow import recipes
from pages.flow.boards import findings
from pages.flow.boards.findings import as_drawn
from pages.flow.recipes import FLOW, GRADIENTS, ROLLOUT
from pages.flow.request import Request, title
from pages.flow.settings import Layers, Methods
from ui.picture.board import Draft, Note
from ui.picture.picture import Numbers, Picture
from viz import Card, Part, percent
from viz.tokens import named

METHODS, OTHERS, LAYERS = "flow-methods", "flow-others", "flow-layers"
ABOUT = "flow-methods-words"


def add(draft: Draft, request: Request, reading: Methods) -> None:
    """Add the methods side by side: all, or the simplest, and the others apart; below the experts' level the answer in a sentence
    too."""
    scores, facts, simple = reading.scores, {}, draft.look.beginner
    if "slopes" in scores and (logits := request.trace.scores_at(request.position)) is not None:
        facts = {"total": f"{scores['slopes']:.3g}", "logit": f"{logits[request.token]:.3g}"}
    methods = methods_of(request, scores)
    in_sight = opened(draft.look.level, methods, scores)
    cards = {  # those in sight first, as the first of all pictures is offered to be taken away
        method: Card([method_part(draft, request, method, reading, facts)], title(draft.words, method), 5)
        for method in dict.fromkeys([*in_sight, *methods])
    }
    if simple:
        findings.say_answer(draft, request, {method: scores[method] for method in methods[:1]})
    elif len(in_sight) == 2:
        findings.say_first_tokens(draft, request, {method: scores[method] for method in in_sight})
    first = [cards.pop(method) for method in in_sight]
    draft.add_cards(METHODS, first, "What the token goes back to" if simple else "Methods side by side")
    if cards:
        draft.add_cards(OTHERS, [*cards.values()], "Other methods")
    draft.note(ABOUT, draft.heading_for("side by side", request.case))


def opened(level: str, methods: list[str], scores: Mapping[str, np.ndarray | str]) -> list[str]:
    """Return the methods that stand open: all for experts, one for beginners, else two, of which one follows the prediction."""
    if level == "expert":
        return methods
    if level == "beginner":
        return methods[:1]
    return ["raw attention" if isinstance(scores[GRADIENTS], str) else GRADIENTS, ROLLOUT]


def methods_of(request: Request, scores: Mapping[str, np.ndarray | str]) -> list[str]:
    """Return the methods that are shown; for beginners those that have an answer, the one that stands open first."""
    methods = [method for method in request.methods if method in scores]
    if not request.look.beginner:
        return methods
    return [method for method in methods if isinstance(values := scores[method], np.ndarray) and np.nansum(values) > 0]


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
    values = np.asarray(scores)
    finite = values[np.isfinite(values)]
    least, most = percent(finite[finite > 0].min(initial=1.0)), percent(finite.max(initial=0.0))
    below = [draft.words(f"below {method}", least=least, most=most, **facts)]
    tokens, groups, _ = request.seen
    shares = recipes.sum_shares(values, groups, request.text_options["scope_options"])
    if (draft.look.beginner or method == ROLLOUT) and recipes.rests_at_start(tokens, shares):
        heading = draft.heading_for("below start", request.case)
        below = [draft.words(heading, start=named(tokens[0].text), share=as_drawn(shares[0], draft.look.beginner))]
    formula = [draft.words(f"formula {method}")]
    if draft.look.beginner:  # the sentence above the card says what the picture shows
        below, text = [text, *below], ""
        if method == GRADIENTS:
            below.append(findings.what_to_try(draft, request, values))  # last, above the button
    elif method == ROLLOUT and formula[0]:
        formula.append(findings.check_rollout(draft, request, values))
    more = draft.words("formula"), "\n\n".join(filter(None, formula))
    return draft.picture(drawing, text, "\n\n".join(filter(None, below)), more=more)


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

    findings.say_leaders(draft, request, {name: values[:, i] for i, name in enumerate(names) if name in (GRADIENTS, ROLLOUT)})
    draft.note("flow-layers-look", draft.heading_for("look layer by layer", request.case))
    if request.of_image:
        add_maps(draft, request, reading, titles)
    else:
        title_of_all = "Methods, layer by layer"
        draft.add(
            request.picture(recipes.by_layer, LAYERS, title_of_all, options, numbers=numbers, known={"values": values}), LAYERS
        )
    draft.say(draft.heading_for("layer by layer", request.case))
    if check := findings.check_layer(draft, request):
        draft.beside.append(Note(check))


def add_maps(draft: Draft, request: Request, reading: Layers, titles: list[str]) -> None:
    """Add a card for each layer, with the picture shaded by each method up to there."""
    cards = []
    for layer, number in enumerate(request.trace.numbers):
        parts = [
            draft.picture(map_of(request, name, layer, title, reading.values[layer, i]), title)
            for i, (name, title) in enumerate(zip(reading.methods, titles, strict=True))
        ]
        cards.append(Card(parts, f"After L{number}", 3))
    draft.add_cards(LAYERS, cards, "Methods, layer by layer")


def map_of(request: Request, name: str, layer: int, title: str, scores: np.ndarray) -> Picture:
    """Return the picture shaded by a method from the input up to a layer. scores: [token]."""
    options = {"name": name, "layer": layer, "token": request.token, **request.text_options}
    scope_options = request.text_options["scope_options"]

    def numbers() -> dict[str, Numbers]:
        tokens, groups, _ = request.seen
        shares = recipes.sum_shares(scores, groups, scope_options)
        return {"share": Numbers(shares, ("token",), {"token": [token.text for token in tokens]})}

    where = f"{title}, after L{request.trace.numbers[layer]}"
    return request.picture(
        recipes.map_of_layer, LAYERS, where, options, part=f"{name} {layer}", numbers=numbers, known={"scores": scores}
    )
