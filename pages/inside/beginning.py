"""The first stages, in which a text becomes numbers: the text itself, its pieces, and their ids."""

from __future__ import annotations

import numpy as np

from analysis import inside
from analysis.scopes import typed
from pages.inside import formulas, recipes
from pages.inside.detail import add_end, first_key
from pages.inside.opened import OpenStage
from pages.inside.pieces.sentences import quantity
from ui.escaping import starred
from ui.look import Look
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz.tokens import named


def explain(draft: Draft, stage: str) -> None:
    """Add the words about the stage of the typed text, or of its pieces, or about another order of its words."""
    facts = of_text(draft) if stage in ("text", "pieces") else {}
    draft.add_words("inside-explanation", formulas.explanation(draft, stage, facts))


def add_ids(draft: Draft, here: OpenStage) -> None:
    """Add the pieces with their ids, and the number that was followed back to one of them."""
    look, tokens = here.look, list(here.way.tokens)
    at = look.token_among(len(tokens))
    facts = {"token": starred(f"“{named(look.spell_tokens(tokens)[at].text)}”"), "id": f"{tokens[at].id:,}"}
    add_end(draft, here, chips(look, here.way), {**facts, "vocabulary": f"{look.model.info.vocabulary:,}"})


def of_text(draft: Draft) -> dict[str, object]:
    """Return the names and numbers in the words about the text and its pieces. Only typed text counts, and of two texts only the
    source; special tokens that the model adds are named."""
    look = draft.look
    text, tokens = look.trace.text, look.spell_tokens(look.trace.tokens)
    places = typed(look.trace.tokens)
    added = list(dict.fromkeys(starred(named(token.text)) for i, token in enumerate(tokens) if i not in set(places)))
    counted = quantity(len(places) if text else 0, "token")  # of no text only signs are left
    signs = draft.words("signs", signs=" and ".join(f"“{sign}”" for sign in added)) + " " if added else ""
    return {
        "characters": f"{len(text):,}",
        "bytes": f"{len(text.encode('utf-8', 'replace')):,}",
        "tokens": counted,
        "model": starred(look.model.info.name),
        "each": f"{len(text[look.trace.cut :]) / max(1, len(places)):.1f}",
        "signs": signs,
    }


def chips(look: Look, way: inside.Way) -> Picture:
    tokens = list(way.tokens)
    options = {
        "stack": way.stack,
        "tokens": [token.text for token in look.spell_tokens(tokens)],
        "chosen": look.token_among(len(tokens)),
    }

    def numbers() -> dict[str, Numbers]:
        return {"id": Numbers(np.array([token.id for token in tokens]), ("token",), {"token": [token.text for token in tokens]})}

    title = "The tokens and their ids"
    return Picture(recipes.chips, (look,), options, first_key(look), numbers, title=title, part="chips", takes=("trace",))
