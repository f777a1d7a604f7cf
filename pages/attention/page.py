"""Page "Attention": one layer and head as a heatmap and in a sentence, and BertViz's head view."""

from pathlib import Path

import numpy as np
import streamlit as st

from analysis import head_summary
from ui import pick, shell
from ui.show import picture
from ui.text import plain
from ui.words import say
from viz import percent
from viz.heatmap import heatmap
from viz.tokens import label

HERE = Path(__file__).parent


def summary(weights, tokens, layer: int, head: int) -> None:
    """The head in plain words, each number from these weights."""
    if len(tokens) == 1:
        return say(HERE, "single")
    facts = head_summary(weights)
    say(
        HERE, "summary", layer=layer, head=head, first=percent(facts.first), itself=percent(facts.itself),
        first_token=plain(label(tokens[0].text)),
        previous=percent(facts.previous),
        entropy=f"{facts.entropy:.2f}", even=f"{facts.even:.2f}",
    )  # fmt: skip


def bertviz(attention, tokens, layer: int, head: int) -> None:
    """BertViz's head view for the layers whose data fits, opened when asked for."""
    from viz.bertviz import bertviz_head_view, layers_that_fit

    fit = layers_that_fit(attention.layers, attention.heads, len(tokens), around=layer)
    if not fit:
        st.info(f"BertViz carries every weight as text, and at {len(tokens)} tokens not even one layer fits: shorten it.")
        return
    if len(fit) < attention.layers:
        few = f"layer {fit[0]}" if len(fit) == 1 else f"layers {fit[0]} to {fit[-1]}"
        st.caption(f"BertViz carries every weight as text: of {attention.layers} layers at {len(tokens)} tokens, {few} fit here.")
    say(HERE, "bertviz")
    theme = st.context.theme.type or "auto"
    page = bertviz_head_view({one: attention[one] for one in fit}, tokens, layer=layer, heads=[head], theme=theme)
    st.iframe(page, height=min(900, 120 + 23 * len(tokens)))


def one_head(attention, layer: int, head: int):
    """The heatmap; the future, which a decoder masks, is left blank rather than drawn as 0 %."""
    weights = attention[layer][head]
    masked = np.triu(np.ones(weights.shape, dtype=bool), 1)
    return heatmap(attention.queries, attention.keys, np.where(masked, np.nan, weights), title=f"L{layer} H{head}")


def draw(model, trace) -> None:
    attention, tokens = trace.attention["self"], trace.tokens
    layer, head = pick.chosen_head(model)
    left, right = st.container(key="look").columns([7, 4])
    with left, picture("The heatmap"):
        st.plotly_chart(one_head(attention, layer, head), key="heatmap", config={"displaylogo": False})
    with right, picture("The summary"):
        st.markdown("##### In words")
        summary(attention[layer][head], tokens, layer, head)
        say(HERE, "read", layer=layer, head=head)
        wanted = st.toggle(
            "BertViz head view", key="bertviz", bind="query-params", help="The view that many know, on these numbers."
        )
    if wanted:
        with picture("BertViz"):
            bertviz(attention, tokens, layer, head)


pick.side_bar(st.session_state["model"])
shell.live(draw)
