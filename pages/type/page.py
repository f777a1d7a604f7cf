"""Page "Type": the tokens of a text, what comes next, and where a head looks, at every keystroke."""

from pathlib import Path

import numpy as np
import streamlit as st

from analysis import prediction_entropy, surprise
from ui import loaded, pick, shell, state
from ui.show import choice, show
from ui.words import per_cent, plain, say
from viz import head_grid, prediction_bars, reading_view, token_chips
from viz.tokens import label

HERE = Path(__file__).parent
BARS = {"beginner": 5, "intermediate": 8, "expert": 10}


def chips(trace, chosen: int) -> None:
    bits = surprise(trace) if state.level() == "expert" else None
    view = token_chips(trace.tokens, chosen=chosen, ids=state.level() != "beginner", positions=state.level() == "expert", surprise=bits)
    show(view, "chips", chosen=lambda: pick.token(choice("chips"), trace))


def what_comes_next(model, trace) -> None:
    level, logits = state.level(), trace.logits_at(-1)
    st.markdown("##### What comes next")
    say(HERE, "next", vocabulary=f"{model.info.vocabulary:,}", bars=BARS[level])
    temperature, bars = 1.0, BARS[level]
    if level != "beginner":
        with st.container(horizontal=True):
            temperature = st.slider("Temperature", 0.1, 3.0, 1.0, 0.1, key="temperature", persist_state="session")
            if level == "expert":
                bars = st.slider("Bars", 5, 50, bars, key="bars", persist_state="session")
    best = model.top(logits, len(trace.tokens) - 1, bars, temperature)
    view = prediction_bars(
        [label(one.text) for one in best],
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
        share=per_cent(best[0].probability), token=plain(label(best[0].text)),
    )


def append(model, trace) -> None:
    if pressed := choice("bars"):
        shell.set_text(trace.text + model.token_text(pressed["id"]))


def where_it_looks(model, trace, chosen: int) -> None:
    attention = trace.attention["self"]
    layer, head = pick.layer_and_head(model, title="Where it looks")
    say(HERE, "where", layer=layer, head=head, layers=model.info.layers, heads=model.info.heads)
    show(reading_view(trace.tokens, attention[layer][head], chosen=chosen), "reading", chosen=lambda: pick.token(choice("reading"), trace))
    if state.level() != "beginner":
        say(HERE, "heads")
        maps = np.stack([attention[one] for one in range(attention.layers)])
        show(head_grid(maps, chosen=(layer, head)), "heads", chosen=lambda: pick.head(*choice("heads")))


def draw(model, trace) -> None:
    chosen = pick.chosen_token(trace)
    chips(trace, chosen)
    left, right = st.columns([5, 6])
    with left, st.container(border=True):
        what_comes_next(model, trace)
    with right, st.container(border=True):
        where_it_looks(model, trace, chosen)
    say(HERE, "more", token=plain(label(trace.tokens[chosen].text)))


shell.live(draw)
