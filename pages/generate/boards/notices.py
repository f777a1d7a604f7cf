"""Notices about a generated text: why it ended, dropped tokens, loops, and the repetition penalty that leads out of a loop."""

from __future__ import annotations

import numpy as np

from analysis.loops import GRID, STRONGEST, Escape, WayOut
from models.info import ModelInfo
from pages.generate.settings import Above, Grown, Looped, Settings
from ui.escaping import plain
from ui.picture.board import Draft, Note
from viz import percent
from viz.tokens import named

CANNOT, OWN, ENCODER, LOOP = "cannot grow", "own answer", "encoder rows", "loop"


def add_cannot_grow(draft: Draft) -> None:
    """Add the reason why the model does not continue a text."""
    info = draft.look.model.info
    draft.contents[CANNOT] = Note(draft.words(why_not(info), name=plain(info.name), mask=plain(info.mask)), "info")


def why_not(info: ModelInfo) -> str:
    """Return the heading of the words on why a model does not continue a text."""
    return "labels" if info.labels else "encoder" if info.kind == "encoder" else "elsewhere" if info.predicts else "headless"


def add_above(draft: Draft, settings: Settings, reading: Above) -> None:
    """Add the words above the text."""
    if reading.own_answer and not reading.begun:
        draft.note(OWN, "own answer")
    if draft.look.kind == "encoder" and settings.strategy.method != "beam":
        draft.note(ENCODER, "encoder rows")


def end_notice(draft: Draft, grown: Grown) -> str:
    """Return the words below the text: why it ended, and how many tokens were dropped."""
    if not grown.steps:
        return ""
    last, why = grown.steps[-1], grown.end_reason or grown.why
    paragraphs = [draft.words(f"ended {why}", count=f"{len(grown.steps):,}")] if why and not grown.running else []
    if last.dropped:
        paragraphs.append(draft.words("dropped", count=f"{last.dropped:,}", room=f"{draft.look.model.room:,}"))
    return "\n\n".join(paragraphs)


def add_loop(draft: Draft, reading: Looped) -> None:
    """Add words on the text's loop, and on the way out of it."""
    draft.contents[LOOP] = Note(describe_loop(draft, reading.remedy, reading.solution), "info", ":material/laps:")


def describe_loop(draft: Draft, remedy: Escape, solution: WayOut | None) -> str:
    """Return sentences on a text's loop, and on the way out of it. solution: the penalty that breaks it, if known."""
    look = draft.look
    piece = look.model.spell(remedy.loop.ids).strip("\ufffd").strip()  # a round may begin inside a character
    facts = {"piece": plain(piece), "rounds": f"{remedy.loop.rounds:.1f}", "length": len(remedy.loop.ids)}
    facts |= {"temperature": f"{remedy.temperature:.2f}", "chance": percent(1 - remedy.chance)}
    sentences: list[str] = [draft.words("loop", **facts)]
    if look.beginner:
        sentences.append(draft.words("loop why"))
    elif solution is not None:
        facts |= {
            "penalty": f"{solution.penalty:.3f}",
            "tried": solution.tried,
            "grid": f"{GRID:g}",
            "strongest": f"{STRONGEST:g}",
        }
        facts |= {"other": plain(named(solution.other)) or "the end", "said": plain(named(solution.original)) or "the end"}
        likeliest = "loop likeliest" if solution.penalty == 1 else "loop penalty"
        result = likeliest if np.isfinite(solution.penalty) else "loop no penalty" if solution.every else "loop penalty unknown"
        sentences.append(draft.words(result, **facts))
    if 0 < remedy.temperature < np.inf:
        sentences.append(draft.words("loop temperature", **facts))
    return " ".join(sentences)
