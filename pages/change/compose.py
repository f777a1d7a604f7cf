"""The boards of page "Change", one for each experiment."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pages.change.boards import circuit, steering, switching, texts, wrote
from pages.change.changed_text import ChangedText
from pages.change.settings import Compared, Reading, Refused, Settings, Steered, Switched, Unasked, Wired, Written
from ui.escaping import plain
from ui.look import Look
from ui.picture.board import Board, Draft, Note

HERE = Path(__file__).parent
STEER = HERE / "steer"  # an experiment with words of its own


def compose(look: Look, settings: Settings, reading: Reading) -> Board:
    """Return the board of an experiment for a text. It does not read the session, so any thread may call it.

    Every token is shown: nothing is hidden or joined here.
    """
    draft = Draft(STEER if isinstance(reading, Steered) else HERE, replace(look, options={}))
    match reading:
        case Switched():
            switching.add(draft, settings, reading)
        case Compared():
            texts.add(draft, reading)
        case Written():
            wrote.add(draft, settings, reading)
        case Wired():
            circuit.add(draft, reading)
        case Steered():
            steering.add(draft, reading)
        case Unasked(heading):
            info = look.model.info
            draft.note("unasked", heading, name=plain(info.name), mask=plain(info.mask or ""))
        case Refused(sentence):
            draft.contents["refused"] = Note(plain(sentence), "info", ":material/info:")
    return draft.finished()


def compose_unfit(look: Look, changed: ChangedText) -> Board:
    """Return the reasons why some changes are left out, which are shown above an experiment's controls."""
    draft = Draft(HERE, look)
    switching.add_unfit(draft, changed)
    return draft.finished()
