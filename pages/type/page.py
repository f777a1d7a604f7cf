"""Page "Type": the tokens of a text, what comes next, and where a head looks, at every keystroke."""

from pathlib import Path

import numpy as np
import streamlit as st

from analysis import prediction_entropy, surprise
from ui import loaded, pick, shell, state
from ui.show import choice, picture, show
from ui.text import plain
from ui.words import say
from viz import head_grid, percent, prediction_bars, reading_view, token_chips
from viz.tokens import label

HERE = Path(__file__).parent
SLIDER = {"width": 104, "label_visibility": "collapsed", "persist_state": "session"}
BARS = {"beginner": 5, "intermediate": 8, "expert": 10}


def chips(trace, chosen: int) -> None:
    bits = surprise(trace) if state.level() == "expert" else None
    view = token_chips(trace.tokens, chosen=chosen, ids=state.level() != "beginner", positions=state.level() == "expert", surprise=bits, link="text")
    show(view, "chips", chosen=lambda: pick.token(choice("chips"), trace))


def what_comes_next(model, trace) -> None:
    level, logits = state.level(), trace.logits_at(-1)
    temperature, bars = 1.0, BARS[level]
    with st.container(horizontal=True, vertical_alignment="center", key="inline-next"):
        st.markdown("##### What comes next", width="content")
        st.space("stretch")
        if level != "beginner":
            temperature = st.slider("Temperature", 0.1, 3.0, 1.0, 0.1, format="T = %.1f", key="temperature", **SLIDER)
        if level == "expert":
            bars = st.slider("Bars", 5, 50, bars, format="%d bars", key="bar-count", **SLIDER)
    say(HERE, "next", vocabulary=f"{model.info.vocabulary:,}", bars=bars)
    best = model.top(logits, len(trace.tokens) - 1, bars, temperature)
    view = prediction_bars(
        [one.text for one in best],
        [one.probability for one in best],
        ids=[one.id for one in best],
        logits=None if level == "beginner" else [float(logits[one.id]) for one in best],
    )
    show(view, "bars", chosen=lambda: append(model, trace))
    bits = prediction_entropy(logits, temperature)
    raised = np.logaddexp.reduce(logits.astype(np.float64) / temperature)
    say(
        HERE, "sure", bits=f"{bits:.2f}", choices=f"{2**bits:,.0f}", most=f"{np.log2(model.info.vocabulary):.2f}",
        logit=f"{logits.max():.2f}", temperature=f"{temperature:.1f}", logsum=f"{raised:.2f}",
        share=percent(best[0].probability), token=plain(label(best[0].text)),
    )


def append(model, trace) -> None:
    if pressed := choice("bars"):
        shell.set_text(trace.text + model.token_text(pressed["id"]))


def where_it_looks(model, trace, chosen: int) -> None:
    attention = trace.attention["self"]
    layer, head = pick.layer_and_head(model, title="Where it looks")
    say(HERE, "where", layer=layer, head=head, layers=model.info.layers, heads=model.info.heads)
    view = reading_view(trace.tokens, attention[layer][head], chosen=chosen, link="text")
    show(view, "reading", chosen=lambda: pick.token(choice("reading"), trace))
    if state.level() != "beginner":
        say(HERE, "heads", layers=attention.layers, heads=attention.heads)
        maps = np.stack([attention[one] for one in range(attention.layers)])
        with st.container(width=60 + 48 * attention.heads):
            show(head_grid(maps, chosen=(layer, head)), "heads", chosen=lambda: pick.head(*choice("heads")))


def draw(model, trace) -> None:
    chosen = pick.chosen_token(trace)
    with picture("The tokens"):
        chips(trace, chosen)
    left, right = st.columns([5, 6])
    with left, st.container(border=True, gap="xsmall", height="stretch", key="card-next"), picture("What comes next"):
        what_comes_next(model, trace)
    with right, st.container(border=True, gap="xsmall", height="stretch", key="card-where"), picture("Where it looks"):
        where_it_looks(model, trace, chosen)
    say(HERE, "more", share=percent(pick.favourite_score(model.info.name)))


shell.live(draw)
