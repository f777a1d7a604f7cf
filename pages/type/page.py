"""Page "Type": the tokens of a text, what comes next, and where a head looks, at every keystroke."""

from pathlib import Path

import numpy as np
import streamlit as st

from analysis import prediction_entropy, surprise
from ui import pick, shell, state
from ui.show import choice, part, show
from ui.words import words
from viz import Card, Part, board, head_grid, percent, prediction_bars, reading_view, token_chips
from viz.tokens import label

HERE = Path(__file__).parent
BARS = {"beginner": 5, "intermediate": 8, "expert": 10}


def controls() -> tuple[float, int]:
    """Temperature and number of bars, in the side bar, from the level on that has them."""
    temperature, bars = 1.0, BARS[state.level()]
    with st.sidebar:
        if state.level() != "beginner":
            temperature = st.slider("Temperature", 0.1, 3.0, 1.0, 0.1, key="temperature", persist_state="session")
        if state.level() == "expert":
            bars = st.slider("Predictions", 5, 50, bars, key="bar-count", persist_state="session")
    return temperature, bars


def chips(trace, chosen: int) -> Part:
    level = state.level()
    bits = surprise(trace) if level == "expert" else None
    view = token_chips(trace.tokens, chosen, ids=level != "beginner", positions=level == "expert", surprise=bits, link="text")
    fragments = any(token.fragment for token in trace.tokens)
    return Part("chips", view, below=words(HERE, "fragments") if fragments else "")


def what_comes_next(model, trace, temperature: float, bars: int) -> Part:
    logits = trace.logits_at(-1)
    best = model.top(logits, len(trace.tokens) - 1, bars, temperature)
    view = prediction_bars(
        [one.text for one in best],
        [one.probability for one in best],
        ids=[one.id for one in best],
        logits=None if state.level() == "beginner" else [float(logits[one.id]) for one in best],
    )
    bits = prediction_entropy(logits, temperature)
    facts = {
        "vocabulary": f"{model.info.vocabulary:,}",
        "bars": bars,
        "bits": f"{bits:.2f}",
        "choices": f"{2**bits:,.0f}" if bits > 4 else f"{2**bits:.1f}",
        "most": f"{np.log2(model.info.vocabulary):.2f}",
        "logit": f"{logits.max():.2f}",
        "exponent": f"{np.log(best[0].probability):.4f}".replace("-", "−"),
        "temperature": f"{temperature:.1f}",
        "logsum": f"{np.logaddexp.reduce(logits.astype(np.float64) / temperature):.2f}",
        "share": percent(best[0].probability),
        "token": label(best[0].text).replace("*", r"\*"),
    }
    return Part("bars", view, words(HERE, "next", **facts), words(HERE, "sure", **facts))


def where_it_looks(trace, chosen: int, layer: int, head: int) -> Part:
    view = reading_view(trace.tokens, trace.attention["self"][layer][head], chosen, link="text")
    return Part("reading", view, words(HERE, "where", layer=layer, head=head), late=True)


def all_heads(model, trace, layer: int, head: int) -> Part:
    if state.level() == "beginner":
        return Part("heads", None, words(HERE, "heads", share=percent(pick.favourite(model.info.name).previous)))
    attention = trace.attention["self"]
    maps = np.stack([attention[one] for one in range(attention.layers)])
    above = words(HERE, "heads", layers=attention.layers, heads=attention.heads)
    return Part("heads", head_grid(maps, (layer, head)), above, late=True)


def react(model, trace) -> None:
    """What a press on the board does."""
    match choice("board"):
        case {"part": "chips" | "reading", "value": position}:
            pick.token(position, trace)
        case {"part": "bars", "value": {"id": id}}:
            shell.append(model.token_text(id))
        case {"part": "heads", "value": [layer, head]}:
            pick.head(layer, head)


def draw(model, trace) -> None:
    chosen, (layer, head) = pick.chosen_token(trace), pick.chosen_head(model)
    cards = [
        Card([part("The tokens", chips, trace, chosen)]),
        Card([part("What comes next", what_comes_next, model, trace, *settings)], "What comes next", 5),
        Card(
            [
                part("Where it looks", where_it_looks, trace, chosen, layer, head),
                part("The heads", all_heads, model, trace, layer, head),
            ],
            f"Where it looks through L{layer} H{head}" if state.level() != "beginner" else "Where it looks",
            6,
        ),
    ]
    show(board(cards, "Tokens, predictions and attention"), "board", chosen=lambda: react(model, trace))


pick.side_bar(st.session_state["model"])
settings = controls()
shell.live(draw)
