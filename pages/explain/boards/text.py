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
    values = np.nan_to_num(amounts(request, explanation)[0])
    ranked = [int(i) for i in np.argsort(-values, kind="stable") if values[i] > 0]
    last = [i for i in ranked if asks_otherwise(request, explanation) and request.position in groups[i]]
    others = [i for i in ranked if i not in last]
    most = [i for i in others[:MOST] if values[i] >= LEAST * values[others[0]]]
    names = [f"**“{plain(named(tokens[i].text))}”**" for i in most]
    listed = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
    answer = draft.words("most but the last" if last and most else "most" if most else "most none", tokens=listed)
    alone = explanation.method == "leave-one-out" and request.chance and request.against is None
    if most and alone and len(groups[most[0]]) == 1:  # the numbers of a word's tokens add up in nats alone
        before, value = chance_of(draft.look, request.position, request.token), float(values[most[0]])
        after = before - value / 100 if draft.look.beginner else before * float(np.exp(-value))
        facts = {"first": names[0].strip("*"), "word": plain(request.description)}
        shares = {"before": draft.look.percent(before), "after": draft.look.percent(after)}
        answer += f" {draft.words('most without', **facts, **shares)}"
    draft.contents[ANSWER] = Note(answer)


def asks_otherwise(request: Request, explanation: Explanation) -> bool:
    """Return whether the text without its last token asks for another token: a decoder then guesses what follows an earlier
    one."""
    info = request.look.model.info
    asks = explanation.method == "leave-one-out" and info.kind == "decoder" and not info.labels
    return asks and request.position in request.question.units


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
    draft.say(masked if request.question.mask and draft.words(masked) else heading, fold, **values)


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
    """Say why the last token counts much, where it does: without it, a decoder guesses what follows another token."""
    look, place, scores = draft.look, request.position, explanation.scores
    before = look.spell_tokens(look.trace.tokens)[max(0, place - 1)]
    if asks_otherwise(request, explanation) and not before.special and scores[place] >= np.nanmax(scores) / 2 > 0:
        last = look.trace.tokens[place]
        draft.say("last token", last=plain(named(last.text)), before=plain(named(before.text)))


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


def text_picture(request: Request, explanation: Explanation, alone: bool) -> Picture:
    options = {"method": explanation.method, **request.text_options, **({"tokens_alone": True} if alone else {})}

    def numbers() -> dict[str, Numbers]:
        values, unit = amounts(request, explanation)
        names = {"token": [token.text for token in request.seen[0]]}
        arrays = {"per cent" if unit == "%" else unit: Numbers(values, ("token",), names)}
        errors = explanation.errors(request.seen[1])
        return arrays if errors is None else arrays | {"standard error": Numbers(errors, ("token",), names)}

    title = f"{TITLES[explanation.method]}{', token embedding only' if alone else ''}"
    return request.picture(recipes.explained, KEY, title, options, numbers=numbers, known={"scores": explanation.scores})


def table(request: Request, explanation: Explanation) -> pd.DataFrame:
    """Return a row for each token or word, as in the picture, with the standard error of sampled numbers."""
    values, unit = amounts(request, explanation)
    names = [label(token.text) for token in request.seen[0]]
    columns = {"Token": names, unit: [decimal(value) for value in values]}
    if (errors := explanation.errors(request.seen[1])) is not None:
        columns["± standard error"] = [decimal(error) for error in errors]
    return pd.DataFrame(columns)
