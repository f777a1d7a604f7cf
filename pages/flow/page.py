"""Page "Flow": from one token back to the input, by every method side by side, and which of them to believe."""

from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from analysis.attribution import FOLLOWING
from pages.flow import choose
from pages.flow.asked import FLOW, Asked, answers, flow, layers, title
from pages.flow.believe import panel
from pages.flow.streams import drawn
from ui import shell, state
from ui.choices import scope
from ui.choices.widgets import one_of, slider, tabs
from ui.look import Look
from ui.show import picture, show, show_chart
from ui.words import say, words
from viz import Card, Part, board, compare_view, percent, reading_view

HERE = Path(__file__).parent


def controls() -> tuple[tuple[str, object], ...]:
    """How heads become one and layers are followed back, in the side bar, from the level on that has it."""
    if state.level() != "expert":
        state.later("expert", state.DISCARD, state.RESIDUAL)
    if state.level() == "beginner":
        state.later("intermediate", state.FUSION)
        return ()
    with st.sidebar:
        fusion = one_of(
            state.FUSION, state.FUSION.values, "heads of a layer as one by", label="Heads of a layer, as one", menu=True
        )
        if state.level() != "expert":
            return (("fusion", fusion),)
        discard = slider(
            state.DISCARD, "Discard", 0.0, 0.95, 0.05,
            help="In rollout and flow, this share of the keys that a query sees counts as 0, the weakest ones.",
        )  # fmt: skip
        residual = slider(
            state.RESIDUAL, "Residual", 0.0, 1.0, 0.05,
            help="The share r of the residual connection in rollout and flow: r · I + (1 − r) · A.",
        )  # fmt: skip
    return (("fusion", fusion), ("discard", discard), ("residual", residual))


def side_by_side(asked: Asked) -> None:
    found = answers(asked)
    if found is None:
        return
    if FLOW in asked.methods:
        with picture(title(FLOW)):
            if (most := flow(asked, np.asarray(found["pipes"]))) is not None:
                found = found | {FLOW: most}
    facts = {}
    if "slopes" in found and (logits := asked.trace.logits_at(asked.position)) is not None:
        facts = {"total": f"{found['slopes']:.3g}", "logit": f"{logits[asked.token]:.3g}"}
    cards = [Card([method_part(asked, method, found[method], facts)], title(method), 5) for method in asked.methods
             if method in found]  # fmt: skip
    show(board(cards, "Methods side by side"), "flow-methods")
    say(HERE, "side by side")


def method_part(asked: Asked, method: str, scores: np.ndarray | str, facts: dict[str, str]) -> Part:
    """The text shaded by what a method gives to each token; a sentence where it gives nothing."""
    section = f"method {method}"
    text = words(HERE, section, layer=asked.attribution.ways.layers - 1)
    if asked.trace.target:
        text = words(HERE, f"{section} cross") or text
    if isinstance(scores, str):
        return Part(method, None, text, scores)
    if method in FOLLOWING and scores.sum() == 0:
        return Part(method, None, text, words(HERE, "none"))
    tokens, _, start = asked.seen
    whole = len(tokens) == len(asked.trace.tokens) and not start
    view = reading_view(
        tokens, None, asked.chosen, False, quantity=100 * asked.shown(scores), unit="%",
        second=start or None, link="flow" if whole else "methods",
    )  # fmt: skip
    known = scores[np.isfinite(scores)]
    least, most = percent(known[known > 0].min(initial=1.0)), percent(known.max(initial=0.0))
    return Part(method, view, text, words(HERE, f"below {method}", least=least, most=most, **facts))


def layer_by_layer(asked: Asked) -> None:
    if (found := layers(asked)) is None:
        return
    names, values = found
    shares = np.array([[asked.shown(one) for one in frame] for frame in values])
    titles = [words(HERE, f"layer {name}") or title(name) for name in names]
    frames = [f"after layer {layer}" for layer in range(len(values))]
    left, right = st.columns([7, 3])
    with left:
        show(compare_view(asked.seen[0], titles, shares, frames, asked.chosen), "flow-layers")
    with right:
        say(HERE, "layer by layer")


def streams(asked: Asked) -> None:
    figure, facts, table = drawn(asked)
    if figure is None:
        return
    show_chart(figure, "streams")
    say(HERE, "streams", **facts)
    with st.expander("The numbers"):
        st.dataframe(pd.DataFrame(table), hide_index=True)


def believe(asked: Asked) -> None:
    found = answers(asked)
    if found is None:
        return
    scores = {method: one for method in asked.methods if isinstance(one := found.get(method), np.ndarray)}
    if FLOW in asked.methods and asked.token is not None:
        most = flow(asked, np.asarray(found["pipes"]))
        if not isinstance(most, np.ndarray):
            return
        scores[FLOW] = most
    panel(asked, scores)


def draw(look: Look) -> None:
    position, trace = choose.position(look), look.trace
    choose.chips(look, position)
    if len(trace.tokens) + len(trace.target) == 1:
        say(HERE, "single")
        return
    left, right = (st.container(), st.container()) if look.beginner else st.columns([5, 4], vertical_alignment="bottom")
    with left:
        view = tabs(state.SHOW, "the view")
    with right:
        token = choose.token(look, position)
    asked = Asked(look, position, token, settings)
    with picture(f"The view “{view}”"):
        dict(zip(state.SHOW.values, (side_by_side, layer_by_layer, streams, believe), strict=True))[view](asked)


scope.side_bar()
settings = controls()
shell.live(HERE, draw)
