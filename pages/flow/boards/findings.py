"""The sentences that a view begins with: where the information comes from, in the numbers of this text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from pages.flow import recipes
from pages.flow.recipes import GRADIENTS, ROLLOUT
from pages.flow.request import Request
from pages.flow.settings import Without
from ui.escaping import plain
from ui.picture.board import Draft, Note
from viz.numbers import decimal, percent_or_score, whole_percent
from viz.tokens import named, plain_sign

ANSWER, WITHOUT = "flow-answer", "flow-without-words"
Scores = Mapping[str, np.ndarray | str]


def say_answer(draft: Draft, request: Request, scores: Scores) -> None:
    """Say to a beginner what the model guesses, and which two typed tokens count most. scores: of the method in sight, if any."""
    facts, headings = guess_of(request), list[str]()
    for method, values in scores.items():
        if not isinstance(values, str) and (most := most_typed(draft, request, values)):
            facts |= most
            headings = ["answer guess" if method == GRADIENTS else "answer"]
    headings = [*([cased("follows", request.covers and not request.of_image)] if "prediction" in facts else []), *headings]
    headings = [draft.heading_for(heading, request.case) for heading in headings]
    if headings:
        draft.contents[ANSWER] = Note(draft.paragraph(*headings, **facts))


def on_board(text: str) -> str:
    """Return a text as the words of a board have it, which know no Markdown but its asterisks."""
    return text.replace("*", r"\*")


def guess_of(request: Request, written: Callable[[str], str] = plain) -> dict[str, str]:
    """Return the guess that is followed, and its share; nothing where there is none. written: escapes the guess for its place."""
    if request.token is None or (logits := request.trace.scores_at(request.position)) is None:
        return {}
    best = request.model.top(logits, request.position, 1)[0]
    share = percent_or_score(best.probability, best.score, whole=True)
    return {"prediction": f"“{written(named(plain_sign(best.text)))}”", "share": share}


def is_own(request: Request, place: int) -> bool:
    """Return whether a token on screen is the one at which the guess is made, or has it."""
    return request.attribution.ways.place(request.position) in request.seen[1][place]


def rank_typed(request: Request, scores: np.ndarray) -> list[int]:
    """Return the places on screen of the typed tokens that count, those that count most first."""
    tokens, shares = request.seen[0], shares_of(request, scores)
    return [int(i) for i in np.argsort(-shares, kind="stable") if shares[i] > 0 and not tokens[i].special]


def what_to_try(draft: Draft, request: Request, scores: np.ndarray) -> str:
    """Return sentences for beginners on what to do next: take the word that counts most away."""
    facts = guess_of(request, on_board)
    if request.of_image or not facts:
        return ""
    ranked, place = rank_typed(request, scores), place_to_take(request, scores)
    headings = ["own"] * (bool(ranked) and is_own(request, ranked[0]))
    if place is not None:
        facts["word"] = word_at(request, place)
        headings.append(cased("try", request.covers))
    return draft.paragraph(*headings, token=named(request.seen[0][ranked[0]].text) if ranked else "", **facts)


def place_to_take(request: Request, scores: np.ndarray) -> int | None:
    """Return the place on screen of the typed word that counts most and can be taken away; None if there is none."""
    if request.of_image or not guess_of(request) or not request.can_take_away:
        return None
    tokens, _, start = request.seen
    typed = [i for i in rank_typed(request, scores) if not is_own(request, i) and (not start or i < start)]
    return next((i for i in typed if word_at(request, i).isalpha() and not tokens[i].fragment), None)


def word_at(request: Request, place: int) -> str:
    return request.seen[0][place].text.strip()


def cased(heading: str, covered: bool) -> str:
    """Return the heading for a token that is taken away, or covered."""
    return f"{heading} covered" if covered else heading


def say_without(draft: Draft, request: Request, reading: Without) -> None:
    """Say what the guess is without a token, beside what it was, and what it is without other tokens on average."""
    facts = {**guess_of(request), "word": plain(reading.word), "after": whole_percent(reading.share)}
    headings = [cased("without", reading.covered)]
    if reading.usual is not None:
        facts["usual"] = whole_percent(reading.usual)
        headings.append(cased("without usual", reading.covered))
    best = reading.best
    facts["best"] = f"“{plain(named(plain_sign(best.text)))}”"
    facts["best_share"] = percent_or_score(best.probability, best.score, whole=True)
    headings.append("still the best" if best.id == request.token else "another best")
    draft.contents[WITHOUT] = Note(draft.paragraph(*headings, **facts))


def most_typed(draft: Draft, request: Request, scores: np.ndarray) -> dict[str, str]:
    """Return the two typed tokens that count most, with their shares; nothing if no typed token counts, as of the first one."""
    tokens, shares = request.seen[0], shares_of(request, scores)
    ranked = rank_typed(request, scores)[:2]
    if not ranked:
        return {}
    names, whole = [token_name(request, i) for i in ranked], request.look.beginner
    then = draft.words("answer then", second=names[1], other=as_drawn(shares[ranked[1]], whole)) if len(ranked) > 1 else ""
    extra = " and ".join(dict.fromkeys(f"“{plain(named(token.text))}”" for token in tokens if token.special))
    facts = {"first": names[0], "first_share": as_drawn(shares[ranked[0]], whole), "then": then, **even_of(request)}
    return facts | {"extra": draft.words("answer extra", extra=extra) if extra else ""}


def say_first_tokens(draft: Draft, request: Request, pair: Scores) -> None:
    """Say which token each of the two methods in sight puts first, where both have an answer."""
    facts: dict[str, str] = {}
    first = draft.words("stands first image" if request.of_image else "stands first")
    for name, scores in zip(("first", "second"), pair.values(), strict=True):
        if isinstance(scores, str) or not np.nansum(scores) > 0:
            return
        shares = shares_of(request, scores)
        top = int(shares.argmax())
        facts |= {name: token_name(request, top), f"{name}_share": as_drawn(shares[top])} | even_of(request)
        facts[f"{name}_start"] = first if top == 0 and request.seen[0][0].special else ""
    heading = "both answers" if GRADIENTS in pair else "both answers without a guess"
    draft.note(ANSWER, f"{heading}{' same' * (facts['first'] == facts['second'])}", **facts)


def say_leaders(draft: Draft, request: Request, scores: Mapping[str, np.ndarray]) -> None:
    """Say which token leads after the first layer, and from which layer on the leader of the last one does, by each method.

    scores: [layer, token] of each method.
    """
    leads: dict[str, str] = {}
    for name, method in (("first", GRADIENTS), ("second", ROLLOUT)):
        if method not in scores or not np.nansum(scores[method][-1]) > 0:
            return
        shares = np.array([shares_of(request, row) for row in scores[method]])
        top, frame = first_in_front(shares)
        layers = [f"L{number}" for number in request.trace.numbers]
        facts = {"top": token_name(request, top), "layer": layers[frame], "share": as_drawn(shares[-1, top])}
        facts |= {"start": token_name(request, int(shares[0].argmax())), "first_layer": layers[0]}
        heading = "leads" if frame == 0 else "leads last" if frame == len(layers) - 1 else "leads later"
        leads[name] = draft.words(heading, **facts)
        leads |= even_of(request)
    draft.note("flow-layers-answer", "in front from", **leads)


def first_in_front(shares: np.ndarray) -> tuple[int, int]:
    """Return the token that is in front in the last frame, and the first frame from which on it stays there. shares: [frame,
    token]."""
    leaders = np.nan_to_num(shares).argmax(-1)
    others = np.flatnonzero(leaders != leaders[-1])
    return int(leaders[-1]), int(others[-1]) + 1 if len(others) else 0


def say_sources(draft: Draft, request: Request, method: str) -> None:
    """Say at which tokens most of what reaches the position starts."""
    scores = request.attribution.scores(method)
    shares = shares_of(request, scores)
    first, *others = (int(i) for i in np.argsort(-shares, kind="stable")[:2])
    facts = {"first": token_name(request, first), "first_share": as_drawn(shares[first]), **even_of(request)}
    facts["then"] = "".join(
        draft.words("streams then", second=token_name(request, i), other=as_drawn(shares[i])) for i in others if shares[i] > 0
    )
    at = request.look.spell_tokens(request.trace.read)[request.position].text
    draft.note("streams-look", "look streams", token=f"“{plain(named(at))}”", **facts)


def check_rollout(draft: Draft, request: Request, scores: np.ndarray) -> str:
    """Return the last step of rollout for the token that leads, in numbers to check by hand; "" where it is not that simple."""
    layers = request.attribution.ways.layers
    if not can_check(request) or layers < 2:
        return ""
    shares = shares_of(request, scores)
    top = int(shares.argmax())
    share, had = float(shares[top]), float(shares_of(request, request.attribution.scores(ROLLOUT, layers - 2))[top])
    facts = {"had": as_drawn(had), "brought": as_drawn(2 * share - had), "share": as_drawn(share)}
    name = f"“{on_board(named(request.seen[0][top].text))}”"
    return draft.words("check rollout", name=name, layer=f"L{request.trace.numbers[-1]}", **facts)


def check_layer(draft: Draft, request: Request) -> str:
    """Return the first step of rollout for the token that is looked at most, in numbers to check by hand; "" as above."""
    if not can_check(request):
        return ""
    looks = shares_of(request, request.attribution.attention[0][request.position])
    others = [-1.0 if is_own(request, i) else float(look) for i, look in enumerate(looks)]
    top = int(np.argmax(others))
    if others[top] <= 0:
        return ""
    share = shares_of(request, request.attribution.scores(ROLLOUT, 0))[top]
    facts = {"attention": as_drawn(others[top]), "share": as_drawn(float(share)), "layer": f"L{request.trace.numbers[0]}"}
    return draft.words("check layer", name=token_name(request, top), **facts)


def can_check(request: Request) -> bool:
    """Return whether a step of rollout is half a token itself and half the attention of one stack, with shares as they are."""
    attribution, one_stack = request.attribution, not request.trace.target
    whole = not request.text_options["scope_options"].get("renormalised")
    return one_stack and whole and attribution.residual == 0.5 and attribution.fusion == "mean" and not attribution.discard


def shares_of(request: Request, scores: np.ndarray) -> np.ndarray:
    """Return the scores of the tokens or words on screen, 0 where there is none."""
    return np.nan_to_num(recipes.sum_shares(scores, request.seen[1], request.text_options["scope_options"]))


def token_name(request: Request, place: int) -> str:
    text = plain(named(request.seen[0][place].text))
    return text if request.of_image else f"“{text}”"


def even_of(request: Request) -> dict[str, str]:
    """Return the share of each token if all that the position can see had the same, for comparison."""
    causal = request.model.info.kind == "decoder"
    count = sum(not causal or group[0] <= request.position for group in request.seen[1])
    return {"even": as_drawn(1 / count, request.look.beginner), "count": f"{count:,}"}


def as_drawn(share: float, whole: bool = False) -> str:
    """Return a share as it stands below a token. whole: in whole per cent, as beginners read it."""
    if whole:
        return whole_percent(share)
    return f"{decimal(100 * share)}\u00a0%"
