"""Board "Steer": what the model writes and predicts while a direction between two kinds of texts is added to its stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from analysis.steering import moves, stream_length
from analysis.steering import push as pushed
from models.numbers.softmax import softmax
from pages.change import figures
from pages.change.settings import Steered
from pages.change.steer import recipes
from pages.change.steer.push import Push
from ui.look import Look
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz import Card, Part, percent
from viz.numbers import decimal, under
from viz.tokens import named
from viz.views.dials import Dial, dials

KEY = "steering"
MOST = 8.0  # times the direction
TOKENS = {"beginner": 14, "intermediate": 24, "expert": 24}  # how many it writes
BARS = {"beginner": 4, "intermediate": 6, "expert": 8}
NAMES = ("as it is", "with the push", "with a random push of that length")


def add(draft: Draft, reading: Steered) -> None:
    """Add the board."""
    push, position = reading.push, steered_position(draft.look)
    bars = draft.part("The prediction", prediction, reading, position)
    cards = [
        Card([*direction(draft, push), draft.part("The sliders", sliders, push), lengths(draft, push, reading.added)]),
        Card([draft.part("The text", text_part, reading, position)], draft.words("title text"), 6),
        Card([bars], draft.words("title bars"), 5),
        Card([Part("warning", None, draft.words("warning"))]),
    ]
    draft.add_cards(KEY, cards, "The model, pushed and as it is")


def steered_position(look: Look) -> int | None:
    """Return the position of the prediction; None where the model predicts no token: a text with labels alone cannot go on."""
    return figures.predicted_position(look) if look.trace.unembed else None


def sliders(draft: Draft, push: Push) -> Part:
    """Return the sliders for the strength and the layer."""
    look = draft.look
    last = len(look.trace.hidden["encoder" if look.trace.target else "self"]) - 1
    dial_list = [Dial(draft.words("strength", name=push.name), push.strength, -MOST, MOST, 0.5)]
    if not look.beginner:
        dial_list.append(Dial(draft.words("place"), push.layer, 0, last, 1))
    return Part("dials", dials(dial_list))


def options_of(push: Push) -> dict[str, Any]:
    """Return the options that all recipes take."""
    return {"pairs": [list(pair) for pair in push.pairs], "layer": push.layer, "strength": push.strength}


def direction(draft: Draft, push: Push) -> list[Part]:
    """Return a sentence on what the direction is, at the levels whose words have it."""
    text = draft.words("direction", **pair_facts(draft.look, push))
    return [Part("direction", None, text)] if text else []


def pair_facts(look: Look, push: Push) -> dict[str, Any]:
    """Return the first pair of texts, how many there are, and the place in the stream."""
    numbers = look.trace.attention[recipes.stack(look.model)].numbers
    with_it, without = (text.replace("*", r"\*") for text in push.pairs[0])
    where = f"after L{numbers[push.layer - 1]}" if push.layer else "after the embedding"
    return {"one_with": with_it, "one_without": without, "pairs": len(push.pairs), "where": where}


def lengths(draft: Draft, push: Push, added: np.ndarray) -> Part:
    """Return a sentence on the lengths of the direction and the push, compared with the stream."""
    look = draft.look
    length = float(np.linalg.norm(added[1]))
    stream = stream_length(look.trace, push.layer, recipes.stack(look.model))
    facts = {"push": decimal(length), "stream": decimal(stream), "share": percent(length / stream), **pair_facts(look, push)}
    facts |= {"one": decimal(length / abs(push.strength)) if push.strength else "0", "layer": push.layer, "name": push.name}
    return Part("lengths", None, draft.words("lengths" if push.strength else "no push", **facts))


def text_part(draft: Draft, reading: Steered, position: int | None) -> Part:
    """Return the text in three versions."""
    look, push, pieces = draft.look, reading.push, reading.pieces
    if position is None or pieces is None:
        return Part("texts", None, draft.words("nothing written" if position is None else "writing"))
    options = options_of(push) | {
        "second": look.second,
        "names": list(NAMES),
        "method": push.method,
        "seed": push.seed,
        "most": TOKENS[look.level],
    }

    def numbers() -> dict[str, Numbers]:
        return {"added": Numbers(reading.added[:3], ("version", "dimension"), {"version": NAMES})}

    drawing = Picture(
        recipes.texts,
        (look,),
        options,
        KEY,
        numbers,
        words=push.name,
        title="The text without and with a direction",
        part="texts",
        takes=("model", "trace"),
        known={"pieces": pieces},
    )
    fills_masks = look.model.info.kind == "encoder"
    return draft.picture(drawing, "", draft.words("filled" if fills_masks else push.method))


def prediction(draft: Draft, reading: Steered, position: int | None) -> Part:
    """Return the likeliest tokens without and with the push, and whether random directions move the prediction as far."""
    look, push = draft.look, reading.push
    if position is None:
        return Part("bars", None, draft.words("no prediction"))
    logits = pushed(look.model, look.trace, reading.added, push.layer, position)
    options = options_of(push) | {"position": position, "count": BARS[look.level], "simple": look.beginner}
    shares = [softmax(scores) for scores in logits]

    def numbers() -> dict[str, Numbers]:
        ids = recipes.candidates(logits, BARS[look.level])
        names = {"token": [look.model.token_text(id) for id in ids]}
        arrays = {"before": shares[0], "after": shares[1], "random": shares[2]}
        return {name: Numbers(values[ids], ("token",), names) for name, values in arrays.items()}

    drawing = Picture(
        recipes.bars,
        (look,),
        options,
        KEY,
        numbers,
        words=push.name,
        title="The prediction without and with a direction",
        part="bars",
        takes=("model", "trace"),
        known={"logits": logits},
    )
    first, now, *_ = guesses = [int(scores.argmax()) for scores in logits]
    moved, chance = moves(logits), look.percent  # as beside the bars
    push_move, rival, nats = moved.push, moved.strongest, [move.nats for move in moved.random]
    facts = {
        "token": token_name(look, first),
        "before": chance(float(shares[0][first])),
        "after": chance(float(shares[1][first])),
        "now": token_name(look, now),
        "nats": under(push_move.nats),
        "least": under(min(nats)),
        "most": under(max(nats)),
        "risen": token_name(look, push_move.token),
        "risen_before": chance(push_move.before),
        "risen_after": chance(push_move.after),
        "count": len(nats),
        "rival": token_name(look, rival.token),
        "rival_before": chance(rival.before),
        "rival_after": chance(rival.after),
        "rise_rank": moved.rise_rank,
        "nats_rank": moved.nats_rank,
        "all": len(nats) + 1,
        "others": (others := sum(guess != first for guess in guesses[2:])),
        "same": guesses[2:].count(now) or "none",
    }
    if not push.strength:
        return draft.picture(drawing, draft.words("prediction plain", **facts))
    guess = "now" if first != now else "stays"
    above = draft.paragraph(guess, f"others {guess}" if others else "no others", "prediction", **facts)
    return draft.picture(drawing, above, draft.paragraph("random", moved.verdict, **facts))


def token_name(look: Look, id: int) -> str:
    return named(look.outcome(id)).replace("*", r"\*")
