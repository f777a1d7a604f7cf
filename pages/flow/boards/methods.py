"""Boards of the text shaded by each method: side by side after the last layer, and layer by layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from analysis.attribution import FOLLOWING
from pages.flow import recipes
from pages.flow.recipes import FLOW, GRADIENTS, ROLLOUT
from pages.flow.request import Request, title
from pages.flow.settings import Layers, Methods
from ui.escaping import plain
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz import Card, Part, percent
from viz.numbers import decimal
from viz.tokens import named

METHODS, OTHERS, ANSWER, LAYERS = "flow-methods", "flow-others", "flow-answer", "flow-layers"


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
    if simple and methods:
        say_answer(draft, request, methods[0], scores[methods[0]])
    elif len(in_sight) == 2:
        say_first_tokens(draft, request, [scores[method] for method in in_sight])
    first = [cards.pop(method) for method in in_sight]
    draft.add_cards(METHODS, first, "What the token goes back to" if simple else "Methods side by side")
    if cards:
        draft.add_cards(OTHERS, [*cards.values()], "Other methods")
    draft.note("flow-methods-words", "side by side")


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


def say_answer(draft: Draft, request: Request, method: str, scores: np.ndarray | str) -> None:
    """Say in a sentence which two typed tokens count most."""
    tokens, groups, _ = request.seen
    typed = [i for i, token in enumerate(tokens) if not token.special]
    if isinstance(scores, str) or not typed:
        return
    shares = np.nan_to_num(recipes.sum_shares(scores, groups, request.text_options["scope_options"]))
    ranked = sorted((i for i in typed if shares[i] > 0), key=lambda i: -shares[i])[:2]
    if not ranked:  # the first token goes back to itself alone
        return
    names = [f"“{plain(named(tokens[i].text))}”" for i in ranked]
    then = draft.words("answer then", second=names[1], other=as_drawn(shares[ranked[1]])) if len(ranked) > 1 else ""
    heading = "answer guess" if method == GRADIENTS else "answer"
    draft.note(ANSWER, heading, first=names[0], share=as_drawn(shares[ranked[0]]), then=then)


def say_first_tokens(draft: Draft, request: Request, pair: Sequence[np.ndarray | str]) -> None:
    """Say in a sentence which token each of the two methods in sight puts first, where both have an answer."""
    tokens, groups, _ = request.seen
    facts: dict[str, str] = {}
    for name, scores in zip(("first", "second"), pair, strict=True):
        if isinstance(scores, str) or not np.nansum(scores) > 0:
            return
        shares = np.nan_to_num(recipes.sum_shares(scores, groups, request.text_options["scope_options"]))
        top = int(shares.argmax())
        facts |= {name: f"“{plain(named(tokens[top].text))}”", f"{name}_share": as_drawn(shares[top])}
    same = facts["first"] == facts["second"]
    draft.note(ANSWER, "both answers same" if same else "both answers", **facts)


def as_drawn(share: float) -> str:
    """Return a share as it stands below a token."""
    return f"{decimal(100 * share)}\u00a0%"


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
    below = draft.words(f"below {method}", least=least, most=most, **facts)
    tokens, groups, _ = request.seen
    shares = recipes.sum_shares(values, groups, request.text_options["scope_options"])
    if (draft.look.beginner or method == ROLLOUT) and recipes.rests_at_start(tokens, shares):
        below = draft.words("below start", start=named(tokens[0].text), share=as_drawn(shares[0]))
    return draft.picture(drawing, text, below)


def first_in_front(shares: np.ndarray) -> tuple[int, int]:
    """Return the token that is in front in the last frame, and the first frame from which on it stays there. shares: [frame,
    token]."""
    leaders = np.nan_to_num(shares).argmax(-1)
    others = np.flatnonzero(leaders != leaders[-1])
    return int(leaders[-1]), int(others[-1]) + 1 if len(others) else 0


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
    shares = {
        name: np.array([recipes.sum_shares(row, groups, request.text_options["scope_options"]) for row in values[:, i]])
        for i, name in enumerate(names)
        if name in (GRADIENTS, ROLLOUT)
    }
    draft.note("flow-layers-look", "look layer by layer")
    if len(shares) == 2 and all(np.nansum(each[-1]) > 0 for each in shares.values()):
        facts: dict[str, str] = {}
        for name, method in (("first", GRADIENTS), ("second", ROLLOUT)):
            top, frame = first_in_front(shares[method])
            facts |= {name: f"“{plain(named(tokens[top].text))}”", f"{name}_layer": f"L{request.trace.numbers[frame]}"}
        draft.note("flow-layers-answer", "in front from", **facts)
    draft.add(drawing, LAYERS)
    draft.say("layer by layer")
