"""Sentences on a head beside its picture, each number from these weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis import alignment, head_summary
from analysis.head_patterns import CLEAR
from analysis.statistics import choosing, entropy_of, keys_in_sight, split_attention
from ui.escaping import loadable_name, starred
from ui.look import Look
from ui.picture.board import Draft
from viz.numbers import percent
from viz.tokens import label, named

if TYPE_CHECKING:
    import pandas as pd

WORDS, AVERAGES = "attention-words", "attention-averages"  # their keys on the board


def say(draft: Draft, look: Look, view: str, shade: str, on: Sequence[int] | None) -> None:
    """Add sentences on the picture, and on this head's part in it. look: the picture's; shade: what shades a readable text; on:
    the heads that the view "Head" shows, None for all."""
    row = row_of(look) if view == "Heatmap" and look.beginner else {}
    if view == "Head":
        row = {"on": which_heads(draft, look, on)}
    if view == "Model":
        row = {"least": percent(CLEAR), "even": even_share(look)}
    if look.beginner and look.kind != "cross" and len(look.attention.queries) > 1:
        return say_to_beginners(draft, look, view, on)
    texts = [draft.words(f"view {view} {shade}") or draft.words(draft.heading_for(f"view {view}", look.kind), **row)]
    if look.kind == "cross":
        texts.append(draft.words(draft.heading_for("rows cross")))
    texts.append(summary(draft, look))
    if not look.scope.whole:
        texts.append(draft.words("all tokens"))
    if view == "Heatmap" or look.level == "expert":
        texts.append(rows_and_columns(draft, look))  # these words are about a heatmap
    draft.add_words(WORDS, *texts, title="In words")


def say_to_beginners(draft: Draft, look: Look, view: str, on: Sequence[int] | None) -> None:
    """Add what the selected token looks at, and how to read the picture; the averages of the head are folded."""
    row = row_of(look)
    several = view == "Head" and (on is None or len(on) > 1)
    facts = row | {"head": look.head_name, "layer": look.number(look.layer), "number": look.head}
    finding = "finding several" if several else "finding itself" if row["own"] else "finding"
    texts = ["" if view == "Heatmap" else draft.words(finding, **facts)]
    texts.append(draft.words(draft.heading_for(f"view {view}", look.kind), **row))
    if not look.scope.whole:
        texts.append(draft.words("all tokens"))
    if view == "Heatmap":
        texts.append(rows_and_columns(draft, look))
    draft.add_words(WORDS, *texts, title="In words")
    draft.add_words(AVERAGES, summary(draft, look))


def which_heads(draft: Draft, look: Look, on: Sequence[int] | None) -> str:
    """Say which heads are seen as lines. on: None for all."""
    count = look.scope.attention.counts[look.layer]
    number = count if on is None else len(on)
    name = {0: "none", 1: "one", count: "all"}.get(number, "some") if count > 1 else "one"
    return draft.words(f"heads {name}", number=number, count=count)


def even_share(look: Look) -> str:
    """Return what a head that looks evenly gives to each key, on average over the queries that are summed up."""
    keys = keys_in_sight(look.attention[look.layer])[choosing(look.attention)]
    return percent(float((1 / keys).mean()))


def counts(draft: Draft, look: Look, table: pd.DataFrame) -> str:
    """Return how many heads have each pattern in this text, the most frequent first. table: as of `patterns`."""
    names = Counter(name for name in table["pattern"] if name)
    each = [f"**{count}** {draft.words(f'pattern {name}') or name}" for name, count in names.most_common()]
    return draft.words("patterns", counts=", ".join(each), heads=names.total())


def rows_and_columns(draft: Draft, look: Look) -> str:
    """Return what a row and a column of the weights are."""
    attention, layer, head = look.attention, look.layer, look.head
    heading = "read cross" if look.kind == "cross" else "read both ways" if look.both_ways else "read"
    whole = look.scope.apply(attention[layer][head]).sum(-1).min(initial=1.0) > 0.999
    return draft.words(
        draft.heading_for(heading),
        index=layer,
        head=head,
        kind=look.kind,
        name=starred(loadable_name(look.model.info.name).replace("`", "’")),
        formula=starred(attention.formula(layer)),
        total="adds up to 100 %" if whole else "adds up to less than 100 %: the rest goes to what is not shown",
    )


def row_of(look: Look) -> dict[str, str]:
    """Return what the row of the selected token, or of the newest, shows: with it beginners learn to read a heatmap."""
    seen = look.scope
    row = seen.queries.index(look.token)
    row = len(seen.queries.tokens) - 1 if row is None else row
    weights = seen[look.layer][look.head][row]
    at = int(weights.argmax())
    own = "itself" if look.kind != "cross" and seen.queries.groups[row] == seen.keys.groups[at] else ""
    names = {"token": seen.queries.tokens[row].text, "key": seen.keys.tokens[at].text}
    return {name: starred(named(text)) for name, text in names.items()} | {"own": own, "share": look.percent(float(weights[at]))}


def summary(draft: Draft, look: Look) -> str:
    """Return sentences on the head."""
    attention, layer, head = look.attention, look.layer, look.head
    weights, tokens = attention[layer][head], attention.queries
    if look.kind == "cross":
        special = [i for i, token in enumerate(attention.keys) if token.special]
        return draft.words(
            draft.heading_for("summary cross"),
            layer=look.number(layer),
            head=head,
            special=percent(weights[:, special].sum(-1).mean()),
            entropy=f"{entropy_of(weights).mean():.2f}",
            even=f"{np.log(weights.shape[1]):.2f}",
            along=f"{alignment(look.trace)[layer, head]:.2f}".replace("-", "−") if len(tokens) > 1 else "– (needs two tokens)",
        )
    if len(tokens) == 1:
        return draft.words("single")
    heading, place = "summary both ways" if look.both_ways else "summary", {"layer": look.number(layer), "head": head}
    if look.beginner:
        return draft.words(heading, **place, **{name: percent(share) for name, share in split_attention(weights).items()})
    facts = head_summary(weights)
    return draft.words(
        heading,
        **place,
        first=percent(facts.first),
        itself=percent(facts.itself),
        first_token=starred(label(tokens[0].text)),
        previous=percent(facts.previous or 0.0),
        next=percent(facts.next),
        entropy=f"{facts.entropy:.2f}",
        even=f"{facts.even:.2f}",
    )
