"""The pictures of page "Change": the board, the prediction and the attention, each with its state before the changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from analysis import Side
from analysis.effects import divergence
from models.edits import Edit, Head
from models.trace import Trace
from pages.change import changed_text, recipes
from pages.change.changed_text import ChangedText
from pages.change.settings import Beginning
from ui.look import Look
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz import Card, Part, percent
from viz.numbers import decimal, under, whole_percent
from viz.tokens import named

BARS = {"beginner": 5, "intermediate": 8, "expert": 10}
SAME = 1e-5  # weights that differ by less are the same, computed in another order
NOTICED = 0.005  # of a head's attention: what is rounded to 1 % and more
LONG = 128  # tokens a side; of a longer text only the end is drawn


def predicted_position(look: Look) -> int | None:
    """Return the position of the prediction: the end, or an encoder's first mask; None where the model makes none."""
    return look.predicted_at if look.trace.predicts and look.model.places(look.trace) else None


def parts(
    draft: Draft,
    changed: ChangedText,
    position: int | None,
    part_effects: np.ndarray | None,
    suggested: Beginning | None = None,
) -> Part:
    """Return the board of the model's parts. part_effects: the effect of each, where all are tried; suggested: the head to begin
    with."""
    look = draft.look
    names = tuple(draft.words(f"name {part_name}") for part_name in ("head", "feed-forward", "layer"))
    at = None if part_effects is None else position
    options = {
        "changes": changed.text,
        "kind": look.kind,
        "chosen": (look.layer, look.head),
        "names": names,
        "position": at,
        "second": look.second,
        "factors": look.beginner and case(look) != "number",
        "suggested": None if changed.fitting or position is None or suggested is None else suggested.place,
    }

    def numbers() -> dict[str, Numbers]:
        size = look.attention.layers, look.attention.heads
        columns = {"part": [*(f"H{head}" for head in range(size[1])), "feed-forward", "block"]}
        strengths = Numbers(recipes.states(changed.text, look.kind, *size)[0].astype(np.float32), ("layer", "part"), columns)
        effects = {} if part_effects is None else {"effect_nats": Numbers(part_effects, ("layer", "part"), columns)}
        return effects | {"strength": strengths}

    drawing = Picture(
        recipes.parts,
        (look,),
        options,
        "change",
        numbers,
        title="The parts of the model",
        part="parts",
        takes=("model", "trace"),
        known={} if part_effects is None else {"effects": part_effects},
    )
    above, below = (
        draft.words(f"board{of_model(look)}", head=look.head_name),
        [draft.words(f"board more{of_model(look)}")] * look.beginner,
    )
    if part_effects is not None:
        facts = strongest(look, part_effects, position)
        below.insert(0, draft.words(draft.heading_for("effects", case(look)), **facts))
        if np.isnan(part_effects).any():
            below.insert(1, draft.words("effects blank"))
        if suggested is not None and "token" in facts and passes_on(part_effects, suggested.place):
            below.insert(1, draft.words("effects through", suggested=name_of(look, suggested.place), **facts))
    elif not changed.fitting and position is not None:
        above = "\n\n".join([beginning(draft, suggested, position), above])
    return draft.picture(drawing, above, "\n\n".join(filter(None, below)))


def name_of(look: Look, head: tuple[int, int]) -> str:
    """Return the name of a layer's head."""
    return f"L{look.number(head[0])} H{head[1]}"


def passes_on(effects: np.ndarray, writer: tuple[int, int]) -> bool:
    """Return whether the head that matters most works through later layers: it is not in the last, and another head, `writer`,
    writes most towards the prediction by itself."""
    strongest_head = recipes.most_needed(effects)
    return strongest_head != writer and strongest_head[0] < len(effects) - 1


def beginning(draft: Draft, suggested: Beginning | None, position: int) -> str:
    """Return a sentence on the head to begin with; without one, a sentence of the same height."""
    look = draft.look
    logits = look.trace.logits_at(position)
    if suggested is None or logits is None:
        return draft.words("board begin anywhere")
    name, token = name_of(look, suggested.place), look.outcome(int(logits.argmax()))
    facts = {"suggested": name, "token": named(token).replace("*", r"\*"), "count": str(suggested.heads)}
    if suggested.before is None or suggested.after is None or suggested.middle is None:
        return draft.words("board begin", **facts)
    chances = {"before": suggested.before, "after": suggested.after, "middle": suggested.middle}
    return draft.words("board begin needed", **facts, **{key: look.percent(chance) for key, chance in chances.items()})


def trace_before(look: Look, changed: ChangedText) -> Trace:
    """Return the trace before the changes: that of the text, or of a picture without covered patches."""
    return changed.whole or look.trace


def of_image(look: Look) -> str:
    """Return the end of the headings for pictures: "image" for a model of images, else ""."""
    return "image" if "image" in look.model.info.reads else ""


def of_model(look: Look) -> str:
    """Return the end of the headings on what a click changes: a mean only where heads can be given one."""
    if look.beginner:
        return ""
    return " image" if of_image(look) else "" if look.model.info.queries else " no mean"


def case(look: Look) -> str:
    """Return the case of the headings for a model's kind of prediction: "" for tokens, else "labels" or "number"."""
    labels = look.model.info.labels
    return "" if labels is None else "labels" if labels.chances else "number"


def strongest(look: Look, effects: np.ndarray, position: int | None) -> dict[str, str]:
    """Return the head that the prediction needs most, and the probability of the likeliest token with and without it."""
    layer, head = recipes.most_needed(effects)
    effect = float(effects[layer, head])
    facts = {"layer": str(look.number(layer)), "head": str(head), "nats": decimal(effect)}
    if position is None or case(look) == "number" or (logits := look.trace.scores_at(position)) is None:
        return facts
    best = int(logits.argmax())
    factor, chance = min(1.0, float(np.exp(effect))), float(look.model.chances(logits)[best])
    chances = chance, chance * factor
    before, after = map(look.percent, chances)
    if before == after:  # in whole per cent
        before, after = map(percent, chances)
    facts |= {"before": before, "after": after, "factor": percent(factor)}
    return facts | {"token": named(look.outcome(best)).replace("*", r"\*")}


def prediction(draft: Draft, changed: ChangedText, position: int | None, rank: str) -> Part:
    """Return a picture of the likeliest tokens before and after the changes, with sentences on how far apart the predictions are.
    rank: a sentence on that distance."""
    look = draft.look
    if position is None:
        why = "headless" if not look.trace.predicts else "unmasked" if look.model.info.mask else "maskless"
        why = draft.heading_for(why, of_image(look))
        return Part("bars", None, draft.words(why, name=look.model.info.name.replace("*", r"\*"), mask=look.model.info.mask))
    before, after = trace_before(look, changed).scores_at(position), changed.trace.scores_at(position)
    assert before is not None and after is not None, "asked where the model predicts"
    if (labels := look.model.info.labels) and not labels.chances:
        numbers_in_words = {"label": labels.names[0].replace("*", r"\*"), "before": f"{before[0]:.3f}", "now": f"{after[0]:.3f}"}
        return Part(
            "bars",
            None,
            draft.words("prediction number", **{name: number.replace("-", "−") for name, number in numbers_in_words.items()}),
        )
    options: dict[str, Any] = {
        "changes": changed.text,
        "position": position,
        "count": BARS[look.level],
        "second": look.second,
        "simple": look.beginner,
        "other": changed.other,
        "whole": str(changed.whole.text) if changed.whole else "",
    }
    shares = [look.model.chances(logits) for logits in (before, after)]

    def numbers() -> dict[str, Numbers]:
        ids = recipes.candidates(before, after, options["count"])
        axis = "label" if labels else "token"
        both = {"before": shares[0][ids], "after": shares[1][ids]}
        return {name: Numbers(values, (axis,), {axis: [look.model.outcome(id) for id in ids]}) for name, values in both.items()}

    drawing = Picture(
        recipes.bars,
        (look,),
        options,
        "change",
        numbers,
        title="The prediction, before and after",
        part="bars",
        takes=("model", "trace"),
        known={"logits": (before, after)},
    )
    section, facts = outcome(look, changed, before, after)
    facts |= {"nats": under(divergence(before, after, labels))}
    heading = draft.heading_for(f"prediction {section}", case(look))
    sentence = draft.words(draft.heading_for(heading, of_image(look)), **facts)
    first = int(before.argmax())
    if look.beginner and section == "same" and shares[1][first] >= shares[0][first] + 0.01:  # less is not seen
        sentence += f" {draft.words('surer')}"
    return draft.picture(drawing, sentence, rank)


def outcome(look: Look, changed: ChangedText, before: np.ndarray, after: np.ndarray) -> tuple[str, dict[str, str]]:
    """Return whether the likeliest outcome is "unchanged", for nothing is, the "same" or an "other", and its chances in words."""
    first, now = int(before.argmax()), int(after.argmax())
    spoken = look.percent  # as beside the bars
    facts = {
        "token": named(look.outcome(first)).replace("*", r"\*"),
        "before": spoken(float(look.model.chances(before)[first])),
        "after": spoken(float(look.model.chances(after)[first])),
        "now": named(look.outcome(now)).replace("*", r"\*"),
    }
    return "unchanged" if not changed.is_changed else "same" if first == now else "other", facts


def result(draft: Draft, changed: ChangedText, position: int | None) -> list[Part]:
    """Return the outcome in one line, for beginners, and for a phone, whose screen ends above the bars; else no part."""
    look = draft.look
    if not (look.narrow or look.beginner) or position is None or case(look) == "number":
        return []
    before, after = trace_before(look, changed).scores_at(position), changed.trace.scores_at(position)
    assert before is not None and after is not None, "asked where the model predicts"
    section, facts = outcome(look, changed, before, after)
    return [Part("result", None, draft.words(f"result {section}", **facts))]


def attention(draft: Draft, changed: ChangedText) -> list[Card]:
    """Return pictures of where the chosen head looks with the changes, and where it looked before, if that differs. The first
    picture keeps its place and selection when the second appears."""
    differs = bool(changed.fitting) and not is_untouched(draft.look, changed)
    cards = []
    for name in ("after", "before") if differs else ("after",):
        title = draft.words(f"title {name}" if differs else "title looks", head=draft.look.head_name)
        cards.append(Card([draft.part("Where the head looks", lines, changed, name)], title, 5))
    return cards


def edges(draft: Draft, position: int | None, effects: np.ndarray | None, everywhere: bool) -> list[Card]:
    """Return the effect of each line on the prediction, where all are tried."""
    look = draft.look
    if effects is None or not np.isfinite(effects).any():
        return []
    name = "all heads" if everywhere else look.head_name
    options = {
        "kind": look.kind,
        "place": (None, None) if everywhere else (look.layer, look.head),
        "position": position,
        "name": f"The effect of each line of {name}",
        "simple": look.beginner,
    }

    def numbers() -> dict[str, Numbers]:
        sides = {"from": look.attention.queries, "to": look.attention.keys}
        return {
            "effect_nats": Numbers(
                effects, ("from", "to"), {axis: [token.text for token in side] for axis, side in sides.items()}
            )
        }

    picture = Picture(
        recipes.edges,
        (look,),
        options,
        "change",
        numbers,
        words=name,
        title="The effect of each line",
        part="edges",
        takes=("model", "trace"),
        known={"effects": effects},
    )
    query, key = divmod(int(np.nanargmin(effects)), effects.shape[1])
    sides = look.attention.queries[query], look.attention.keys[key]
    facts = dict(zip(("query", "key"), (named(token.text).replace("*", r"\*") for token in sides), strict=True))
    facts |= {"nats": decimal(float(effects[query, key])), "head": name, "count": str(np.isfinite(effects).sum())}

    below = draft.words(draft.heading_for("edges", case(look)), **facts)
    part = draft.part("The effect of each line", Draft.picture, picture, "", below)
    return [Card([part], draft.words("title edges", head=name))]


def lines(draft: Draft, changed: ChangedText, name: str) -> Part:
    look = draft.look
    sides = {"queries": len(look.attention.queries), "keys": len(look.attention.keys)}
    window: dict[str, Any] = {side: (count - LONG, count - 1) for side, count in sides.items() if count > LONG}
    after = name == "after"
    options: dict[str, Any] = {
        "changes": changed.text if after else "",
        "kind": look.kind,
        "layer": look.layer,
        "head": look.head,
        "window": window,
        "second": look.second,
        "simple": look.beginner,
        "other": changed.other if after else "",
        "cuts": changed_text.cuts(look, changed.fitting) if after else None,
    }
    trace = changed.trace if after else look.trace

    def weights() -> dict[str, Numbers]:
        seen = look.within(**window).scope_of(trace.attention[look.kind])
        tokens = {"from": texts(seen.queries), "to": texts(seen.keys)}
        return {"weights": Numbers(seen[look.layer][look.head], ("from", "to"), tokens)}

    drawing = Picture(
        recipes.lines,
        (look,),
        options,
        "change",
        weights,
        words=look.head_name,
        title="Where it looks" if after else "Where it looked before",
        part=name,
        takes=("model", "trace"),
        known={"changed": trace},
    )
    below = [draft.words("cut")] * (options["cuts"] is not None) + [draft.words("window", count=LONG)] * bool(window)
    if not (after and changed.fitting and is_untouched(look, changed)):
        return draft.picture(drawing, "", "\n\n".join(below), late=True)
    above = " ".join(filter(None, [draft.words(upstream(look, changed), head=look.head_name), most_moved(draft, changed)]))
    return draft.picture(drawing, above, "\n\n".join(below), late=True, folds=draft.words("unfold looks", head=look.head_name))


def most_moved(draft: Draft, changed: ChangedText) -> str:
    """Return a sentence on the head of all whose attention the changes moved most, and by how much of it on average."""
    look = draft.look
    before, after = (trace.attention[look.kind] for trace in (trace_before(look, changed), changed.trace))
    moved = {
        (layer, head): float(np.abs(after[layer][head] - before[layer][head]).sum(-1).mean() / 2)
        for layer in range(before.layers)
        for head in range(before.counts[layer])
    }
    most = max(moved, key=lambda place: moved[place])
    if moved[most] < NOTICED:
        return draft.words("moved none")
    return draft.words("moved", most=name_of(look, most), share=whole_percent(moved[most]))


def is_untouched(look: Look, changed: ChangedText) -> bool:
    """Return whether the chosen head's weights are the same as before the changes."""
    traces = trace_before(look, changed), changed.trace
    before, after = (trace.attention[look.kind][look.layer][look.head] for trace in traces)
    return bool(np.abs(before - after).max() < SAME)


def upstream(look: Look, changed: ChangedText) -> str:
    """Return the heading of the reason why the chosen head looks as before: it is itself changed, or nothing that it needs is."""
    edits = [Edit.parse(change) for change in changed.fitting]
    own = [
        edit
        for edit in edits
        if isinstance(edit, Head) and (edit.kind, edit.layer, edit.head) == (look.kind, look.layer, look.head)
    ]
    return "upstream itself" if own else "upstream"


def texts(side: Side) -> list[str]:
    return [token.text for token in side.tokens]
