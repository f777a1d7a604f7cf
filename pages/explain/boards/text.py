"""The text, coloured by one method, with its numbers and its doubts beside it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis import Explanation, Faithfulness
from pages.explain import recipes
from pages.explain.asked import TITLES, Request, chance_of
from ui.escaping import plain
from ui.picture.board import Draft, Note, Table
from ui.picture.picture import Numbers, Picture
from viz.numbers import decimal
from viz.tokens import label, named

ANSWER, KEY, TABLE = "explain-answer", "explain-text", "explain-numbers"
MOST, LEAST = 3, 0.1  # tokens in the answer, and the least amount of each, as a share of the largest


def add(draft: Draft, request: Request, explanation: Explanation, alone: bool) -> None:
    """Add the coloured text and its numbers, with words `beside` on their meaning and how far to trust them."""
    if draft.look.level != "expert" and (request.chance or not draft.look.beginner):
        add_answer(draft, request, explanation)
    draft.add(text_picture(request, explanation, alone), KEY)
    draft.say(f"line {explanation.method}")
    say_method(draft, request, explanation)
    say_last(draft, request, explanation)
    colours = "contrast" if request.against is not None else "no contrast"
    if explanation.method in recipes.SHARES and draft.words("shares"):
        colours = "shares"
    say(draft, request, colours, word=plain(request.description))
    if draft.look.trace.target:
        draft.say("read twice" if draft.look.model.info.labels else "both sides")
    say(draft, request, "amount", draft.words("fold numbers"))
    say_sums(draft, explanation)
    draft.contents[TABLE] = Table(table(request, explanation), scrolls=True)


def add_answer(draft: Draft, request: Request, explanation: Explanation) -> None:
    """Answer the question in words: the tokens that help most, without the last where its number says little."""
    tokens, groups, _ = request.seen
    amount, unit = amounts(request, explanation)
    values = np.nan_to_num(amount)
    ranked = [int(i) for i in np.argsort(-values, kind="stable") if values[i] > 0]
    most = [i for i in ranked[:MOST] if values[i] >= LEAST * values[ranked[0]]]
    if not most:
        draft.note(ANSWER, "most none")
        return
    names = [f"“{plain(named(tokens[i].text))}”" for i in most]
    sign = "\u00a0%" if unit == "%" else f" {unit}"
    listed = " and ".join(f"{name} ({decimal(values[i])}{sign})" for name, i in zip(names[1:], most[1:], strict=True))
    facts = {"first": names[0], "amount": f"{decimal(values[most[0]])}{sign}", "word": plain(request.description)}
    facts |= {"even": f"{decimal(float(np.nanmean(amount)))}{sign}", "count": f"{np.isfinite(amount).sum():,}"}
    facts |= {"method": TITLES[explanation.method], "others": listed}
    headings = ["most", *(["then"] if listed else [])]
    alone = explanation.method == "leave-one-out" and request.chance and request.against is None
    if alone and len(groups[most[0]]) == 1:  # the numbers of a word's tokens add up in nats alone
        before, value = chance_of(draft.look, request.position, request.token), float(values[most[0]])
        after = before - value / 100 if draft.look.beginner else before * float(np.exp(-value))
        facts |= {"before": draft.look.percent(before), "after": draft.look.percent(after)}
        headings[0] = "most without"
    draft.contents[ANSWER] = Note(draft.paragraph(*headings, **facts))


def add_doubt(draft: Draft, request: Request, explanation: Explanation, evidence: Faithfulness) -> None:
    """Say in `beside` whether one method does better than chance, and folded how that was tested."""
    facts = request.trial([explanation]).facts(draft.reader, evidence, explanation.method)
    draft.say(f"believe {evidence.verdict(explanation.method)}")
    say(draft, request, "doubt", draft.words("fold doubt"), **facts)


def say(draft: Draft, request: Request, heading: str, fold: str = "", /, **values: object) -> None:
    """Say the words under a heading, in the variant for covered tokens if the model covers them and the page has that variant."""
    masked = f"{heading} masked"
    first, second = (plain(f"“{named(draft.look.outcome(id))}”") for id in (request.token, request.against or 0))
    kind = "evidence contrast" if request.against is not None else "evidence" if request.chance else "evidence number"
    evidence = draft.words(kind, word=plain(request.description), first=first, second=second)
    values |= {"evidence": evidence, "points": draft.words("points") if request.chance else ""}
    draft.say(masked if request.question.keeps_places and draft.words(masked) else heading, fold, **values)


def say_method(draft: Draft, request: Request, explanation: Explanation) -> None:
    """Say what the numbers are: for Shapley values whether they were enumerated or sampled, and then how certain they are; for
    gradient × input with respect to what the slope is taken."""
    errors = explanation.errors([[unit] for unit in request.question.units])
    say(
        draft,
        request,
        f"method {explanation.method}{f' {explanation.kind}' if explanation.kind in ('enumerated', 'token embedding') else ''}",
        word=plain(request.description),
        texts=f"{explanation.passes:,}",
        error="" if errors is None else f"{decimal(float(errors.max()))} {request.unit}",
    )


def say_last(draft: Draft, request: Request, explanation: Explanation) -> None:
    """Say why the last token has no number, where it has none: without it, a decoder predicts what follows another token."""
    look, last = draft.look, request.question.length - 1
    if request.question.asks_at_the_end and np.isnan(explanation.scores[last]):
        tokens = look.spell_tokens([*look.trace.tokens, *look.trace.target])
        if not tokens[last].special:
            before = tokens[max(0, last - 1)]
            draft.say("last token", last=plain(named(tokens[last].text)), before=plain(named(before.text)))


def say_sums(draft: Draft, explanation: Explanation) -> None:
    """Say what the numbers add up to, what they should add up to, and what they cost."""
    cost = {"passes": f"{explanation.passes:,}", "seconds": f"{explanation.seconds:.2g}", "total": decimal(explanation.total)}
    if explanation.difference is not None:
        draft.say("sums", **cost, difference=decimal(explanation.difference))
    draft.say("cost", draft.words("fold numbers"), **cost)


def amounts(request: Request, explanation: Explanation) -> tuple[np.ndarray, str]:
    """Return the number on screen for each token or word, and its unit."""
    return recipes.amounts(
        request.look.model,
        request.look.trace,
        explanation.scores,
        request.seen[1],
        method=explanation.method,
        position=request.position,
        token=request.token,
        simple=request.look.beginner,
    )


def text_picture(request: Request, explanation: Explanation, alone: bool = False, key: str = KEY, part: str = "") -> Picture:
    """Return the text coloured by a method. key, part: as in `Picture`."""
    options = {"method": explanation.method, **request.text_options, **({"tokens_alone": True} if alone else {})}
    if part:  # one of several, of which the order of the tokens that can be taken away is compared
        options["start_apart"] = True

    def numbers() -> dict[str, Numbers]:
        values, unit = amounts(request, explanation)
        names = {"token": [token.text for token in request.seen[0]]}
        arrays = {"per cent" if unit == "%" else unit: Numbers(values, ("token",), names)}
        errors = explanation.errors(request.seen[1])
        return arrays if errors is None else arrays | {"standard error": Numbers(errors, ("token",), names)}

    title = f"{TITLES[explanation.method]}{', token embedding only' if alone else ''}"
    known = {"scores": explanation.scores}
    return request.picture(recipes.explained, key, title, options, part=part, numbers=numbers, known=known)


def table(request: Request, explanation: Explanation) -> pd.DataFrame:
    """Return a row for each token or word, as in the picture, with the standard error of sampled numbers."""
    values, unit = amounts(request, explanation)
    names = [label(token.text) for token in request.seen[0]]
    columns = {"Token": names, unit: [decimal(value) for value in values]}
    if (errors := explanation.errors(request.seen[1])) is not None:
        columns["± standard error"] = [decimal(error) for error in errors]
    return pd.DataFrame(columns)
