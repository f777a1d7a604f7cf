"""The board of page "Type": tokens, predictions and attention of one text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pages.type import head_parts, of_image
from pages.type.predicted import earlier, predictions
from pages.type.tokens import chips
from ui.look import Look
from ui.picture.board import Board, Draft
from viz.views.board import Card

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Settings:
    """The choices that only this page has. bars: how many predictions are listed."""

    temperature: float
    bars: int


def compose(look: Look, settings: Settings) -> Board:
    """Return the board of a text. It does not read the session, so any thread may call it."""
    draft, trace, queries = Draft(HERE, look), look.trace, look.attention.queries
    if "image" in look.model.info.reads:
        draft.add_cards("board", of_image.cards(draft, settings.temperature, settings.bars), "Patches, labels and attention")
        return draft.finished()
    marked = look.token + look.attention.chooses
    texts = [("chips", trace.tokens), ("target", trace.target)] if trace.target else [("chips", trace.tokens)]
    tokens = [draft.part("The tokens", chips, name, tokens, marked if tokens == queries else None) for name, tokens in texts]
    cards = [
        Card([*draft.apart(), *tokens]),
        Card(
            predictions(draft, earlier(look), settings.temperature, settings.bars),
            draft.words(f"title {look.model.info.kind if trace.unembed else look.without_words}"),
            5,
        ),
        Card(
            [
                draft.part("Where it looks", head_parts.where_it_looks),
                draft.part("The heads", head_parts.all_heads),
            ],
            "Where it looks" if look.beginner else f"Where it looks through {draft.reader.mark_head(look.head_name)}",
            6,
        ),
    ]
    draft.add_cards("board", cards, "Tokens, guesses and attention")
    return draft.finished()
