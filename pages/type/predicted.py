"""What page "Type" says comes next: the bars of a position, at the end of the text, at each mask, or after an earlier token."""

from pathlib import Path

import numpy as np

from analysis import prediction_entropy
from ui.look import Look
from ui.show import part
from ui.words import words
from viz import Part, percent, prediction_bars
from viz.tokens import label, named

HERE = Path(__file__).parent
MASKS = 4  # as many have their predictions shown


def what_it_predicts(look: Look, position: int, number: int | None, temperature: float, bars: int) -> Part:
    """The bars of one position; number: which of several masks."""
    model, trace = look.model, look.trace
    logits = trace.logits_at(position)
    assert logits is not None, "asked where the model predicts"
    best = model.top(logits, position, bars, temperature)
    view = prediction_bars(
        [one.text for one in best],
        [one.probability for one in best],
        ids=[one.id for one in best],
        logits=None if look.beginner else [float(logits[one.id]) for one in best],
    )
    bits = prediction_entropy(logits, temperature)
    facts = {
        "vocabulary": f"{len(logits):,}",
        "bars": bars,
        "bits": f"{bits:.2f}",
        "choices": f"{2**bits:,.0f}" if bits > 4 else f"{2**bits:.1f}",
        "most": f"{np.log2(len(logits)):.2f}",
        "logit": f"{logits.max():.2f}",
        "exponent": f"{np.log(best[0].probability):.4f}".replace("-", "−"),
        "temperature": f"{temperature:.1f}",
        "logsum": f"{float(logits.max()) / temperature - np.log(best[0].probability):.2f}",  # as log p = z / T − logsum
        "share": percent(best[0].probability),
        "token": label(best[0].text).replace("*", r"\*"),
    }
    said = {"decoder": "next", "encoder": "masked", "encoder-decoder": "said next"}[model.info.kind]
    if model.info.kind != "encoder" and position < len(trace.read) - 1:
        said, facts["chosen"] = "after an earlier one", named(trace.read[position].text).replace("*", r"\*")
    above = words(HERE, said, **facts)
    if number is not None:
        above = f"**Gap {number + 1}**" if number else f"{above}\n\n**Gap 1**"
    below = words(HERE, "sure" if number is None else "sure several", **facts)
    return Part("bars" if number is None else f"bars {number}", view, above, below)


def predictions(look: Look, earlier: int | None, temperature: float, bars: int) -> list[Part]:
    """What comes next, or what came next after an earlier token that is chosen; for an encoder, what stands at each mask."""
    model, trace = look.model, look.trace
    if trace.unembed is None:
        return [Part("bars", None, words(HERE, "headless", name=model.info.name.replace("*", r"\*")))]
    places = [earlier] if earlier is not None else model.places(trace)
    if not places:
        return [Part("bars", None, words(HERE, "unmasked" if model.info.mask else "maskless", mask=model.info.mask))]
    several = len(places) > 1
    rest = [Part("more", None, words(HERE, "more", shown=MASKS, all=len(places)))] if len(places) > MASKS else []
    return rest + [
        part("What the model predicts", what_it_predicts, look, place, i if several else None, temperature, bars)
        for i, place in enumerate(places[:MASKS])
    ]


def earlier(look: Look) -> int | None:
    """The chosen token, where the model predicted what comes after it and read on."""
    if look.model.info.kind == "encoder" or look.attention.queries != look.trace.read:
        return None
    return look.token if look.token < len(look.trace.read) - 1 else None
