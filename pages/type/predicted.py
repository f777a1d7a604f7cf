"""The predictions on page "Type": bars at the end of the text, at each mask, or after an earlier token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis import prediction_entropy
from pages.type import labelled, recipes
from ui.look import Look
from ui.memory.together import make_once
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz.numbers import percent
from viz.tokens import label, named
from viz.views.board import Part

if TYPE_CHECKING:
    from models.language_model import Prediction

MASKS = 4  # masks whose predictions are shown
STABLE = "How a computer calculates it"
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
PLAIN = range(-3, 7)  # powers of ten that are written out


def what_it_predicts(draft: Draft, position: int, number: int | None, temperature: float, bars: int) -> Part:
    """Return the part with the bars of a position; number: which of several masks."""
    look = draft.look
    model, trace = look.model, look.trace
    logits = trace.logits_at(position)
    assert logits is not None, "asked where the model predicts"
    best, bits = make_once(
        trace,
        ("what it predicts", position, bars, temperature),
        lambda: (model.top(logits, position, bars, temperature), prediction_entropy(logits, temperature)),
    )
    drawing = picture(look, position, number, temperature, bars, best, logits)
    facts = {
        "vocabulary": f"{len(logits):,}",
        "bars": bars,
        "bits": f"{bits:.2f}",
        "choices": f"{2**bits:,.0f}" if bits > 4 else f"{2**bits:.1f}",
        "most": f"{np.log2(len(logits)):.2f}",
        **worked_out(float(logits.max()), temperature, best[0].probability),
        "together": look.percent(sum(prediction.probability for prediction in best)),
        "token": label(best[0].text).replace("*", r"\*"),
    }
    where = {"decoder": "next", "encoder": "masked", "encoder-decoder": "said next"}[model.info.kind]
    if model.info.kind != "encoder" and position < len(trace.read) - 1:
        where, facts["chosen"] = "after an earlier one", named(trace.read[position].text).replace("*", r"\*")
    above = draft.words(where, **facts)
    if number is not None:
        above = f"**Gap {number + 1}**" if number else f"{above}\n\n**Gap 1**"
    below = draft.words("sure" if number is None else "sure several", **facts)
    stable = "" if number is not None else draft.words("stable", **facts)
    return draft.picture(drawing, above, below, more=(STABLE, stable))


def worked_out(logit: float, temperature: float, probability: float) -> dict[str, str]:
    """Write a softmax in numbers, with enough digits for a reader to get the same result: as a fraction, power / total, and with
    the logarithm of the total in the exponent."""
    logsum = logit / temperature - np.log(probability)  # as log p = z / T − logsum
    for places in range(2, 7):
        exponent = round(round(logit, places) / temperature - round(logsum, places), places)
        if percent(np.exp(exponent)) == percent(probability):
            break
    facts = {"logit": logit, "logsum": logsum, "exponent": exponent}
    numbers = {name: f"{value:.{places}f}".replace("-", "−") for name, value in facts.items()}
    top = round(logit, places) / temperature
    for digits in range(4, 9):
        power, total = (rounded_power(log, digits) for log in (top, top - float(np.log(probability))))
        if percent(power[0] / total[0] * 10.0 ** (power[1] - total[1])) == percent(probability):
            break
    fraction = {"power": write_power(*power, digits), "total": write_power(*total, digits)}
    return numbers | fraction | {"temperature": str(round(temperature, 3)), "share": percent(probability)}


def rounded_power(log: float, digits: int) -> tuple[float, int]:
    """Return exp(log), which may be too large for a float, as a number from 1 to below 10 and a power of ten."""
    power = int(np.floor(log / np.log(10)))
    first = round(10 ** (log / np.log(10) - power), digits - 1)
    return (first, power) if first < 10 else (first / 10, power + 1)


def write_power(first: float, power: int, digits: int) -> str:
    """Write first · 10^power, with the power of ten where the number is long."""
    if power in PLAIN:
        return f"{first * 10.0**power:,.{max(0, digits - 1 - power)}f}"
    return f"{first:.{digits - 1}f} · 10{str(power).translate(RAISED)}"


def picture(
    look: Look, position: int, number: int | None, temperature: float, bars: int, best: list[Prediction], logits: np.ndarray
) -> Picture:
    options = {"position": position, "count": bars, "temperature": temperature, "scores": not look.beginner}

    def numbers() -> dict[str, Numbers]:
        each = {
            "probability": [prediction.probability for prediction in best],
            "token": [prediction.text for prediction in best],
            "id": [prediction.id for prediction in best],
            "logit": [logits[prediction.id] for prediction in best],
        }
        return {name: Numbers(np.array(values), ("place",), {"place": range(1, len(best) + 1)}) for name, values in each.items()}

    of = "in place of" if look.model.info.kind == "encoder" else "after"
    return Picture(
        recipes.bars,
        (look,),
        options,
        "board",
        numbers,
        words=f"{of} “{label(look.trace.read[position].text)}”",
        title="Predictions" if number is None else f"Predictions for gap {number + 1}",
        part="bars" if number is None else f"bars {number}",
        takes=("model", "trace"),
        known={"best": best, "logits": logits},
    )


def predictions(draft: Draft, earlier: int | None, temperature: float, bars: int) -> list[Part]:
    """Return the parts with the predictions after the text or a selected earlier token; for an encoder, at each mask."""
    look = draft.look
    model, trace = look.model, look.trace
    if model.info.labels:
        return [draft.part("What the model predicts", labelled.what_it_says, temperature, bars)]
    if trace.unembed is None:
        heading = "headless image" if "image" in model.info.reads else "headless"
        return [Part("bars", None, draft.words(heading, name=model.info.name.replace("*", r"\*")))]
    places = [earlier] if earlier is not None else model.places(trace)
    if not places:
        return [Part("bars", None, draft.words("unmasked" if model.info.mask else "maskless", mask=model.info.mask))]
    several = len(places) > 1
    rest = [Part("more", None, draft.words("more", shown=MASKS, all=len(places)))] if len(places) > MASKS else []
    return rest + [
        draft.part("What the model predicts", what_it_predicts, place, i if several else None, temperature, bars)
        for i, place in enumerate(places[:MASKS])
    ]


def earlier(look: Look) -> int | None:
    """Return the selected token if it is an earlier one after which the model made a prediction; else None."""
    if look.model.info.kind == "encoder" or look.attention.queries != look.trace.read:
        return None
    return look.token if look.token < len(look.trace.read) - 1 else None
