"""Page "Type": the tokens of a text, what the model predicts, and where a head looks, at every keystroke."""

from pathlib import Path

import numpy as np
import streamlit as st

from analysis import prediction_entropy, surprise
from ui import boxes, looking, pick, picker, scope, shell, shown, state
from ui.show import choice, part, show
from ui.text import plain
from ui.words import words
from viz import Card, Part, board, percent, prediction_bars, token_chips
from viz.tokens import label

HERE = Path(__file__).parent
BARS = {"beginner": 5, "intermediate": 8, "expert": 10}
MASKS = 4  # as many have their predictions shown


def controls() -> tuple[float, int]:
    """Temperature and number of bars, in the side bar, from the level on that has them."""
    temperature, bars = 1.0, BARS[state.level()]
    with st.sidebar:
        if state.level() != "beginner":
            temperature = st.slider("Temperature", 0.1, 3.0, 1.0, 0.1, key="temperature", persist_state="session")
        if state.level() == "expert":
            bars = st.slider("Predictions", 5, 50, bars, key="bar-count", persist_state="session")
    return temperature, bars


def chips(name: str, model, trace, tokens, chosen: int | None) -> Part:
    """The tokens; below them how surprising each was, for a model that reads from left to right."""
    level, seen = state.level(), shown.shown(tokens)
    left_to_right = trace.unembed is not None and model.info.kind != "encoder" and tokens is trace.read
    bits = surprise(trace) if level == "expert" and left_to_right else None
    view = token_chips(
        seen.tokens,
        seen.index(chosen),
        ids=level != "beginner",
        positions=level == "expert",
        surprise=seen.of(bits),
        link="" if trace.target else "text",
    )
    above = (
        "cover" if model.info.mask and trace.unembed else {"chips": "source", "target": "target"}[name] if trace.target else ""
    )
    fragments = any(token.fragment for token in tokens)
    return Part(name, view, words(HERE, above, mask=model.info.mask), words(HERE, "fragments") if fragments else "")


def what_it_predicts(model, trace, position: int, number: int | None, temperature: float, bars: int) -> Part:
    """The bars of one position; number: which of several masks."""
    logits = trace.logits_at(position)
    best = model.top(logits, position, bars, temperature)
    view = prediction_bars(
        [one.text for one in best],
        [one.probability for one in best],
        ids=[one.id for one in best],
        logits=None if state.level() == "beginner" else [float(logits[one.id]) for one in best],
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
        "logsum": f"{np.logaddexp.reduce(logits.astype(np.float64) / temperature):.2f}",
        "share": percent(best[0].probability),
        "token": label(best[0].text).replace("*", r"\*"),
    }
    above = words(HERE, {"decoder": "next", "encoder": "masked", "encoder-decoder": "said next"}[model.info.kind], **facts)
    if number is not None:
        above = f"**Gap {number + 1}**" if number else f"{above}\n\n**Gap 1**"
    below = words(HERE, "sure" if number is None else "sure several", **facts)
    return Part("bars" if number is None else f"bars {number}", view, above, below)


def predictions(model, trace) -> list[Part]:
    """What comes next; or, for an encoder, what stands at each mask."""
    if trace.unembed is None:
        return [Part("bars", None, words(HERE, "headless", name=model.info.name.replace("*", r"\*")))]
    places = model.places(trace)
    if not places:
        return [Part("bars", None, words(HERE, "unmasked" if model.info.mask else "maskless", mask=model.info.mask))]
    several = len(places) > 1
    rest = [Part("more", None, words(HERE, "more", shown=MASKS, all=len(places)))] if len(places) > MASKS else []
    return rest + [
        part("What the model predicts", what_it_predicts, model, trace, place, i if several else None, *settings)
        for i, place in enumerate(places[:MASKS])
    ]


def react(model, trace) -> None:
    """What a press on the board does."""
    kind = pick.kind(model.info)
    read = {"cross": trace.target, "decoder": trace.target}.get(kind, trace.tokens)
    match choice("board"):
        case {"part": "chips", "value": position} if model.info.mask and trace.unembed:
            boxes.cover(model, trace, shown.shown(trace.tokens).places[position])
        case {"part": "chips" | "target" as name, "value": position}:
            tokens = trace.tokens if name == "chips" else trace.target
            if tokens == read:
                pick.token(shown.shown(tokens).places[position], pick.newest(model, trace))
        case {"part": "reading", "value": position}:
            seen = scope.of(trace.attention[kind])
            position -= len(seen.keys.tokens) if kind == "cross" else 0
            if position >= 0:
                pick.token(seen.queries.groups[position][0], pick.newest(model, trace))
        case {"part": str() as name, "value": {"id": id}} if model.is_special(id):
            sign = model.token_text(id)
            st.toast(f"“{plain(sign)}” is no text but a sign of the model's own, so it cannot be added.", icon=":material/block:")
        case {"part": str() as name, "value": {"id": id}}:
            if model.info.kind == "encoder":
                number = int(name.removeprefix("bars") or 0)
                boxes.fill(model, trace, model.places(trace)[number], model.token_text(id))
            else:
                boxes.append(model.token_text(id), "target" if trace.target else "text")
        case {"part": "heads", "value": [layer, head]}:
            pick.head(layer, head)


def draw(model, trace) -> None:
    layer, head = pick.chosen_head(model)
    queries = trace.attention[pick.kind(model.info)].queries
    chosen = pick.chosen_token(model, trace, len(queries))
    texts = [("chips", trace.tokens), ("target", trace.target)] if trace.target else [("chips", trace.tokens)]
    cards = [
        Card(
            [
                part("The tokens", chips, name, model, trace, tokens, chosen if tokens == queries else None)
                for name, tokens in texts
            ]
        ),
        Card(predictions(model, trace), words(HERE, f"title {model.info.kind}" if trace.unembed else "title headless"), 5),
        Card(
            [
                part("Where it looks", looking.where_it_looks, HERE, model, trace, chosen),
                part("The heads", looking.all_heads, HERE, model, trace),
            ],
            f"Where it looks through L{layer} H{head}" if state.level() != "beginner" else "Where it looks",
            6,
        ),
    ]
    show(board(cards, "Tokens, predictions and attention"), "board", chosen=lambda: react(model, trace))


pick.side_bar(picker.in_use())
scope.side_bar()
settings = controls()
shell.live(draw)
