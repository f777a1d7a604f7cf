"""Experiment "Switch off" for a model of images: heads switched off, patches covered, and the labels before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.images.written import parse
from pages.change import baseline, changes, choose, figures, recipes, switching
from pages.change import state as page_state
from pages.change.boards.switching import KEY, head_dials, list_part, rank_in_words
from pages.change.changed_text import ChangedText
from pages.change.compose import compose_unfit
from pages.change.live import PARTS, after_click, join, settings_of, values_of
from pages.change.settings import Settings, Switched
from ui.choices import patches
from ui.choices.token import keep
from ui.live.connect import Live
from ui.look import Look
from ui.memory import loaded
from ui.picture.board import Board, Draft
from ui.picture.mount import composed, mount_all
from ui.picture.picture import Numbers, Picture
from ui.show import choice, picture
from viz import Card, Part

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

HERE = Path(__file__).parent
MAPS = ("after", "before")
picked = patches.picker(MAPS)


def read_changed(look: Look, current: Sequence[str]) -> ChangedText:
    """Return the picture as the model reads it with the changes, and the whole picture's trace where patches are covered."""
    changed = changes.apply(look, current)
    written = parse(look.trace.text)
    return replace(changed, whole=loaded.read(look.model.info.name, written.name)) if written.hidden else changed


def panel(look: Look, above: DeltaGenerator) -> tuple[Sequence[Picture], Live | None]:
    """Draw the experiment; return its pictures, and what the line needs unless every part is tried."""
    current, position = changes.load(), figures.predicted_position(look)
    with above:
        choose.switch(HERE, page_state.TRY_ALL, "try all", position is not None)
    tries_all = bool(page_state.TRY_ALL.get())
    changed = read_changed(look, current)
    unfit = composed(compose_unfit, look, changed)
    mount_all(unfit)
    part_effects = ranking = None
    with picture("The effect of each part"):
        part_effects = switching.effects(look, position)
    with picture("The place among all heads"):
        ranking = None if changed.whole else baseline.rank(look, changed, position, tries_all)
    settings = Settings(tuple(current), bool(page_state.CHANGES_BEFORE.get()))
    board = composed(compose, look, settings, Switched(changed, part_effects, ranking))
    pictures = mount_all(board, {KEY: partial(react, look, settings)})
    if tries_all:
        return pictures, None
    return pictures, Live(compose_from, join(unfit, board), values_of(settings, ""), picked, after_click, (*PARTS, *MAPS))


def react(look: Look, settings: Settings) -> None:
    """Handle a click on the board, or on a patch."""
    match picked(look, choice(KEY)):
        case {"token": token}:
            keep(token)
        case None:
            switching.react(look, settings)


def compose(look: Look, settings: Settings, reading: Switched) -> Board:
    """Return the board of a picture. It does not read the session, so any thread may call it."""
    draft, changed = Draft(HERE, look), reading.changed
    position = figures.predicted_position(look)
    result = figures.result(draft, changed, position)
    parts = draft.part("The board", figures.parts, changed, position, reading.part_effects)
    rank = rank_in_words(draft, reading.ranking)
    after, *before = maps(draft, changed)
    cards = [  # the picture first, so that a drag over it moves nothing below the pointer
        Card([draft.part("What is changed", list_part, settings)]),
        after,
        Card([draft.part("The prediction", figures.prediction, changed, position, rank)], draft.words("title bars"), 6),
        Card([*result, parts], draft.words("title board"), 6),
        *before,
        *([] if look.beginner else [Card([draft.part("The dials", head_dials, settings)], draft.words("title dials"))]),
        Card([Part("warning", None, draft.words("warning image"))]),
    ]
    if not look.beginner:
        cards.append(Card([Part("more", None, draft.words(f"board more{figures.of_model(look)}"))]))
    draft.add_cards(KEY, cards, "The model and its changes", answers="" if result and look.narrow else "bars")
    return draft.finished()


def compose_from(look: Look, values: Mapping[str, Any]) -> Board:
    """Return the board of a picture from plain values, as of `pages.change.live.values_of`, below the changes that do not fit."""
    settings, _ = settings_of(values)
    changed = read_changed(look, settings.changes)
    unfit = compose_unfit(look, changed)
    explained = None if look.explained is None else {**look.explained, **unfit.explained}
    return join(unfit, compose(replace(look, explained=explained), settings, Switched(changed)))


def maps(draft: Draft, changed: ChangedText) -> list[Card]:
    """Return the picture shaded by where the chosen head looks with the changes, and where it looked before."""
    cards = []
    for name in MAPS if changed.is_changed else MAPS[:1]:
        title = draft.words(f"title {name}" if changed.is_changed else "title looks", head=draft.look.head_name)
        cards.append(Card([draft.part("Where the head looks", map_of, changed, name)], title, 5))
    return cards


def map_of(draft: Draft, changed: ChangedText, name: str) -> Part:
    look, after = draft.look, name == "after"
    trace = changed.trace if after else figures.trace_before(look, changed)
    options = {
        "changes": changed.text if after else "",
        "picture": str(trace.text),
        "layer": look.layer,
        "head": look.head,
        "chosen": look.token,
        "writes": parse(look.trace.text).name if after else "",
    }
    drawing = Picture(
        recipes.picture_map,
        (look,),
        options,
        KEY,
        lambda: {"weights": Numbers(trace.attention[look.kind][look.layer][look.head], ("from", "to"))},
        words=look.head_name,
        title="Where it looks" if after else "Where it looked before",
        part=name,
        takes=("model", "trace"),
        known={"changed": trace},
    )
    same = after and changed.is_changed and figures.is_untouched(look, changed)
    return draft.picture(drawing, "", draft.words(figures.upstream(look, changed)) if same else "")
