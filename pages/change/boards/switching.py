"""Board "Switch off": what the model predicts without some of its parts, and where it looks, compared with before."""

from __future__ import annotations

import numpy as np

from pages.change import changed_text, figures
from pages.change.settings import Ranking, Settings, Switched
from ui.escaping import plain
from ui.look import Look
from ui.picture.board import Draft, Note
from viz import Card, Part, change_list
from viz.numbers import under
from viz.views.dials import Dial, dials

KEY, UNFIT, TOO_LONG = "change", "unfit", "lines too long"
LINES = 64  # the most tokens a side for which every line is tried
LISTED = 24  # the most changes that have a button of their own
NAMED = 3  # changes that do not fit, each of which has a sentence
DIALS = {"s": ("Strength", 0.0, 2.0), "t": ("Temperature", 0.1, 5.0)}  # title, least, most


def add(draft: Draft, settings: Settings, reading: Switched) -> None:
    """Add the board."""
    look, changed = draft.look, reading.changed
    position = figures.predicted_position(look)
    rank = rank_in_words(draft, reading.ranking)
    if settings.tries_lines and position is not None and longest(look) > LINES:
        draft.note(TOO_LONG, "lines too long", most=LINES, count=longest(look))
    result = figures.result(draft, changed, position)
    parts = draft.part("The board", figures.parts, changed, position, reading.part_effects, reading.suggested)
    cards = [
        Card([draft.part("What is changed", list_part, settings)]),
        Card([*result, parts], draft.words("title board"), 6),
        Card([draft.part("The prediction", figures.prediction, changed, position, rank)], draft.words("title bars"), 5),
        *figures.attention(draft, changed),
        *figures.edges(draft, position, reading.line_effects, settings.all_heads),
        *([] if look.beginner else [Card([draft.part("The dials", head_dials, settings)], draft.words("title dials"))]),
        Card([Part("warning", None, draft.words("warning"))]),
    ]
    if not look.beginner:  # what the board means in full, below all that one looks at
        cards.append(Card([Part("more", None, draft.words(f"board more{figures.of_model(look)}"))]))
    draft.add_cards(KEY, cards, "The model and its changes", answers="" if result and look.narrow else "bars")


def longest(look: Look) -> int:
    """Return how many tokens the longer side of the attention has."""
    return max(len(look.attention.queries), len(look.attention.keys))


def add_unfit(draft: Draft, changed: changed_text.ChangedText) -> None:
    """Say why some of the changes are left out."""
    for number, (change, why) in enumerate(list(changed.unfit.items())[:NAMED]):
        name = changed_text.name(draft.look, change, draft.words("name feed-forward"))
        draft.contents[f"{UNFIT} {number}"] = Note(plain(f"“{name}” does not fit here, so it is left out. {why}"), "info")
    if (more := len(changed.unfit) - NAMED) > 0:
        draft.contents[f"{UNFIT} more"] = Note(f"{more} more changes do not fit here and are left out.", "info")


def rank_in_words(draft: Draft, ranking: Ranking | None) -> str:
    """Return the rank of the changed head among all heads in a sentence; "" where it has none."""
    if ranking is None:
        return ""
    if ranking.nats is None:
        return draft.words("prediction no rank")
    facts = {"median": under(float(np.median(ranking.nats))), "largest": under(float(ranking.nats.max()))}
    return draft.words("prediction rank", rank=ranking.rank, all=len(ranking.nats), **facts)


def list_part(draft: Draft, settings: Settings) -> Part:
    """Return the list of changes, each with a button that removes it, with the buttons for undo and for reset."""
    listed = settings.changes[:LISTED]
    names = [changed_text.name(draft.look, change, draft.words("name feed-forward")) for change in listed]
    more = f"and {len(settings.changes) - LISTED} more" if len(settings.changes) > LISTED else ""
    view = change_list(names, settings.undo, more)
    case = figures.of_image(draft.look) or None
    below = draft.words(draft.heading_for("press", case))  # always, so that the board below stays in its place
    return Part("changes", view, below=below)


def head_dials(draft: Draft, settings: Settings) -> Part:
    """Return the dials for the strength and the temperature of the chosen head."""
    look, current = draft.look, settings.changes
    pair = [
        Dial(f"{title} of {look.head_name}", min(max(changed_text.value_of(look, current, letter), least), most), least, most)
        for letter, (title, least, most) in DIALS.items()
    ]
    return Part("dials", dials(pair), below=draft.words("dials", head=look.head_name))
