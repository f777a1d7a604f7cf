"""Page "Attention": one layer and head as a heatmap and in a sentence, and BertViz's head view."""

from pathlib import Path

import numpy as np
import streamlit as st

from analysis import alignment, head_summary
from analysis.statistics import entropy_of
from ui import pick, picker, shell, shown
from ui.show import picture
from ui.text import plain
from ui.words import say
from viz import percent
from viz.heatmap import heatmap
from viz.tokens import label

HERE = Path(__file__).parent


def summary(model, trace, kind: str, layer: int, head: int) -> None:
    """The head in plain words, each number from these weights."""
    attention = trace.attention[kind]
    weights, tokens = attention[layer][head], attention.queries
    if kind == "cross":
        special = [i for i, token in enumerate(attention.keys) if token.special]
        return say(
            HERE, "summary cross", layer=layer, head=head, special=percent(weights[:, special].sum(-1).mean()),
            entropy=f"{entropy_of(weights).mean():.2f}", even=f"{np.log(weights.shape[1]):.2f}",
            along=f"{alignment(trace)[layer, head]:.2f}".replace("-", "−") if len(tokens) > 1 else "– (it takes two tokens)",
        )  # fmt: skip
    if len(tokens) == 1:
        return say(HERE, "single")
    facts = head_summary(weights)
    say(
        HERE, "summary both ways" if pick.both_ways(model.info) else "summary", layer=layer, head=head,
        first=percent(facts.first), itself=percent(facts.itself), first_token=plain(label(tokens[0].text)),
        previous=percent(facts.previous), next=percent(facts.next),
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


def one_head(model, trace, kind: str, layer: int, head: int):
    """The heatmap; the future, which a decoder masks, is left blank rather than drawn as 0 %."""
    attention = trace.attention[kind]
    weights = attention[layer][head]
    if kind != "cross" and not pick.both_ways(model.info):
        weights = np.where(np.triu(np.ones(weights.shape, dtype=bool), 1), np.nan, weights)
    queries, keys = shown.shown(attention.queries), shown.shown(attention.keys)
    return heatmap(
        queries.tokens,
        keys.tokens,
        shown.weights_of(weights, queries, keys),
        title=f"L{layer} H{head}" if kind == "self" else f"{kind.capitalize()} L{layer} H{head}",
    )


def draw(model, trace) -> None:
    kind = pick.kind(model.info)
    attention = trace.attention[kind]
    layer, head = pick.chosen_head(model)
    left, right = st.container(key="look").columns([7, 4])
    with left, picture("The heatmap"):
        st.plotly_chart(one_head(model, trace, kind, layer, head), key="heatmap", config={"displaylogo": False})
    wanted = False
    with right, picture("The summary"):
        st.markdown("##### In words")
        summary(model, trace, kind, layer, head)
        how = "read cross" if kind == "cross" else "read both ways" if pick.both_ways(model.info) else "read"
        whole, name = attention[layer][head].sum(-1).min() > 0.999, model.info.name.replace("`", "’")
        say(
            HERE, how, layer=layer, head=head, kind=kind, name=name, formula=attention.formula(layer),
            total="adds up to 100 %" if whole else "adds up to less than 100 %: the rest goes to a sink, which is no token",
        )  # fmt: skip
        if kind != "cross":
            wanted = st.toggle(
                "BertViz head view", key="bertviz", bind="query-params", help="The view that many know, on these numbers."
            )
    if wanted:
        with picture("BertViz"):
            bertviz(attention, attention.queries, layer, head)


pick.side_bar(picker.in_use())
shown.side_bar()
shell.live(draw)
