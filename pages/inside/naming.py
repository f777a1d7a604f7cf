"""Names for the rows, columns and numbers of a stage, in the tokens of this text."""

from __future__ import annotations

from collections.abc import Sequence

from analysis import inside
from models.tokens import Token
from pages.inside import formulas, recipes
from pages.inside.spots import Spot
from ui.escaping import starred
from ui.look import Look
from ui.picture.board import Draft
from viz.tokens import label, named

TOKENS = ("token", "query", "key", "source")  # axes that run over tokens
WORDS = {
    "token": "token",
    "query": "from",
    "key": "to",
    "source": "token",
    "vocabulary": "candidate",
    "label": "label",
    "head": "head",
    "d_model": "dimension",
    "d_head": "dimension",
}
SIMPLY = {"source": "token", "vocabulary": "candidate", "d_model": "number", "d_head": "number"}
SYMBOLS = {"token": "n", "query": "n", "key": "n", "source": "n", "vocabulary": "V", "label": "labels", "head": "heads"}


def axis_word(look: Look, axis: str) -> str:
    return (SIMPLY if look.beginner else WORDS).get(axis, WORDS.get(axis, axis))


def tokens(look: Look, stage: inside.Stage, axis: str) -> list[Token]:
    """Return the tokens that an axis of positions runs over."""
    across = stage.name.startswith("cross") and axis in ("key", "source")
    own = look.trace.target if stage.stack == "decoder" and not across else look.trace.tokens
    return look.spell_tokens(own)


def row_axis(stage: inside.Stage) -> str:
    return stage.axes[recipes.stacked(stage)]


def count(look: Look, stage: inside.Stage) -> int:
    """Count the positions for which a stage has numbers: 1 where a classifier's label is read, else those of the text."""
    return 1 if at_the_label(look, stage) else len(tokens(look, stage, row_axis(stage)))


def at_the_label(look: Look, stage: inside.Stage) -> bool:
    """Return whether a stage comes after the blocks of a classifier, which has it only where the label is read."""
    labels = look.model.info.labels
    return labels is not None and not labels.each and stage.held is not None


def sizes(look: Look, stage: inside.Stage) -> tuple[int, ...]:
    """Return the sizes of a stage over the whole text, even if only a part of it is shown."""
    lengths = list(stage.sizes)
    lengths[stage.axes.index(row_axis(stage))] = count(look, stage)
    return tuple(lengths)


def axes(look: Look, stage: inside.Stage) -> tuple[str, str]:
    """Return the names of the row axis and the column axis in words."""
    inner = stage.axes[recipes.stacked(stage) :]
    return axis_word(look, inner[0]), axis_word(look, inner[1]) if len(inner) > 1 else ""


def rows(look: Look, stage: inside.Stage, places: Sequence[int]) -> list[str]:
    """Return the labels of the rows."""
    every = tokens(look, stage, row_axis(stage))
    return [label(every[at].text) for at in places]


def columns(look: Look, stage: inside.Stage, places: Sequence[int]) -> list[str]:
    """Return the labels of the columns."""
    axis = stage.axes[-1]
    if axis in recipes.OUTCOMES:
        return [label(look.model.outcome(at)) for at in places]
    if axis == row_axis(stage):
        return [""]
    every = tokens(look, stage, axis) if axis in TOKENS else []
    return [label(every[at].text) for at in places] if every else [str(at) for at in places]


def along(look: Look, stage: inside.Stage, axis: str, at: int) -> str:
    """Return a place on an axis in words for a sentence."""
    if axis in recipes.OUTCOMES:
        return f"“{named(look.model.outcome(at))}”"
    if axis in TOKENS:
        every = tokens(look, stage, axis)
        return f"“{named(every[at].text)}”" if at < len(every) else str(at)
    return f"{axis_word(look, axis)} {at}"


def spot(draft: Draft, way: inside.Way, of: Spot) -> str:
    """Return a number's name in words: "Weights: “dog” to “the”"."""
    look = draft.look
    stage = next((candidate for candidate in way.stages if candidate.name == of.stage), None)
    layer = ""
    if of.layer is not None and of.layer != way.layer:
        layer = f"L{look.trace.attention[of.stack].numbers[of.layer]} "
    if stage is None or len(stage.axes) != len(of.index):
        return f"{layer}{formulas.name(draft, of.stage) or of.stage}"
    places = [along(look, stage, axis, at) for axis, at in zip(stage.axes, of.index, strict=True) if axis != "head"]
    pair = " to ".join(places) if stage.axes[-1] == "key" else ", ".join(places)
    return f"{layer}{formulas.name(draft, stage)}: {pair}"


def term(draft: Draft, way: inside.Way, of: inside.Stage, summand: inside.Term) -> str:
    """Return the name of a term: its place on the axis that is summed over, or the stage that it comes from."""
    if summand.source is None:
        return summand.label
    stage = next((each for each in way.stages if each.name == summand.source.stage), None)
    if stage is None:
        return summand.label
    if of.formula == "add":
        return formulas.name(draft, stage)
    inner = along(draft.look, stage, stage.axes[-1], summand.source.at[-1])
    if of.formula == "rotary" and summand.label != "not turned" and not draft.look.beginner:
        return f"{inner} · {formulas.turn_name(of, summand)}"
    return f"{summand.label.partition(',')[0]}, {inner}" if summand.label.startswith("head") else inner


def facts(look: Look, stage: inside.Stage, index: tuple[int, ...]) -> dict[str, str]:
    """Return the names and numbers that stand in the words."""
    info, whole = look.model.info, sizes(look, stage)
    inner = index[recipes.stacked(stage) :]
    texts = {
        "token": along(look, stage, row_axis(stage), inner[0]),
        "other": along(look, stage, stage.axes[-1], inner[-1]),
        "head": look.head_name,
        "layer": look.layer_name,
        "value": recipes.written(stage.at(index)),
        "model": info.name,
        "size": f"{info.d_model:,}",
        "width": f"{whole[-1]:,}",
        "vocabulary": f"{info.vocabulary:,}",
        "labels": f"{len(info.labels.names) if info.labels else 0:,}",
        "tokens": f"{whole[0]:,}",
        "shape": shape(look, stage),
    }
    return {name: starred(text) for name, text in texts.items()}


def shape(look: Look, stage: inside.Stage) -> str:
    """Return the shape of a stage in figures, preceded by its symbols except for beginners."""
    figures = " × ".join(f"{size:,}" for size in sizes(look, stage))
    symbols = SYMBOLS | ({row_axis(stage): "1"} if at_the_label(look, stage) else {})
    return figures if look.beginner else f"{' × '.join(symbols.get(axis, axis) for axis in stage.axes)} = {figures}"
