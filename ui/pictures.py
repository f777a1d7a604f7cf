"""The pictures of attention that a page can place: each takes a model, a trace, a kind, a scope, a layer and a head."""

from __future__ import annotations

import numpy as np
import streamlit as st

import viz
from analysis import entropy, order, patterns, query_key, rollout, surprise
from ui import pick, scope, state
from ui.show import choice, show
from viz.heatmap import difference, heatmap, heatmap_grid
from viz.tokens import label

SHADES = ("head", "layer", "all heads", "rollout", "entropy", "surprise")
ORDERS = ("layer", "similarity", "pattern", "entropy", "distance", "previous", "first", "induction")
FILTERS = {"all": "", "token before": "previous", "first token": "first", "itself": "current", "earlier copies": "duplicate"}
CLEAR = 0.3  # of a head's attention, and a filter lets it through


def head_lines(model, trace, kind, seen, layer: int, head: int) -> None:
    chosen = st.session_state.get("token")
    held = None if chosen is None else seen.queries.index(chosen)

    def react() -> None:
        match choice("head-view"):
            case {"token": ["from", position]}:
                st.session_state["token"] = seen.queries.groups[position][0]
            case {"token": None}:
                st.session_state["token"] = None

    held = None if held is None else ("from", held)
    alone = [head] if state.level() == "beginner" else None
    show(
        viz.head_view(seen.queries.tokens, seen.keys.tokens, seen[layer], layer=layer, heads=alone, chosen=held),
        "head-view",
        react,
    )


def reading(model, trace, kind, seen, layer: int, head: int) -> None:
    shade = SHADES[0]
    if state.level() != "beginner":
        shade = st.segmented_control("Shade by", SHADES, default=shade, required=True, key="shade", bind="query-params")
    if shade in ("rollout", "entropy", "surprise") and (kind == "cross" or (shade == "surprise" and pick.both_ways(model.info))):
        st.info(f"There is no {shade} for this attention: it takes one text, and surprise one that is read from left to right.")
        return
    if shade in ("entropy", "surprise"):
        each = entropy(seen.attention)[layer, head] if shade == "entropy" else surprise(trace)
        quantity = np.array(
            [np.nanmean(each[group]) if np.isfinite(each[group]).any() else np.nan for group in seen.queries.groups]
        )
        tokens, _, _ = scope.paragraph(trace, kind, seen, np.zeros((0, 0)))
        view = viz.reading_view(tokens, None, quantity=quantity, unit="nats" if shade == "entropy" else "bits", causal=False)
    else:
        weights = {
            "head": lambda: seen.apply(seen.attention[layer][head]),
            "layer": lambda: seen[layer].mean(0),
            "all heads": lambda: seen[layer],
            "rollout": lambda: seen.apply(rollout(seen.attention)[layer].astype(np.float32)),
        }[shade]()
        tokens, weights, start = scope.paragraph(trace, kind, seen, weights)
        causal = kind != "cross" and not pick.both_ways(model.info)
        view = viz.reading_view(tokens, weights, causal=causal, toggle=True, second=start or None)
    show(view, "reading-view")


def all_heads(model, trace, kind, seen, layer: int, head: int) -> None:
    left, right = st.columns(2)
    by = left.selectbox("Order by", ORDERS, key="order", bind="query-params")
    only = right.selectbox("Show heads that look at", tuple(FILTERS), key="only", bind="query-params")
    table = patterns(seen.attention)
    square = (seen.attention.layers, seen.attention.heads)
    notes = [f"{row.pattern}, entropy {row.entropy:.2f} nats" for row in table.itertuples()]

    def react() -> None:
        st.session_state["view"] = "Head"
        pick.head(*choice("model-view"))

    view = viz.model_view(
        (seen[one] for one in range(seen.attention.layers)),
        chosen=(layer, head),
        notes=np.array(notes, dtype=object).reshape(square).tolist(),
        order=None if by == "layer" else order(seen.attention, by),
        values=table["pattern"].to_numpy().reshape(square),
        faint=~(table[FILTERS[only]].to_numpy() >= CLEAR).reshape(square) if FILTERS[only] else None,
    )
    show(view, "model-view", react)


def numbers(model, trace, kind, seen, layer: int, head: int) -> None:
    chosen = pick.chosen_token(model, trace, len(seen.attention.queries))
    tokens = seen.attention.queries
    position = st.selectbox("Query", range(len(tokens)), chosen, lambda i: f"{i} {label(tokens[i].text)}")
    parts = query_key(seen.attention, layer, head, position)
    title = f"L{layer} H{head}"
    show(
        viz.query_key_view(tokens[position], seen.attention.keys, **vars(parts), position=position, title=title), "query-key-view"
    )


def heat(model, trace, kind, seen, layer: int, head: int) -> None:
    """The heatmap; the future, which a decoder masks, is left blank rather than drawn as 0 %."""
    what = "one head"
    if state.level() != "beginner":
        ways = ("one head", "all heads", "difference")
        what = st.segmented_control("Heatmap of", ways, default=what, required=True, key="heat", bind="query-params")
    weights, (queries, keys) = seen[layer], (seen.queries.tokens, seen.keys.tokens)
    if kind != "cross" and not pick.both_ways(model.info):
        weights = np.where(np.triu(np.ones(weights.shape[1:], dtype=bool), 1), np.nan, weights)
    name = "" if kind == "self" else f"{kind.capitalize()} "
    if what == "all heads":
        figure = heatmap_grid(queries, keys, weights, title=f"{name}L{layer}")
    elif what == "difference":
        other = st.selectbox("Less the head", range(len(weights)), (head + 1) % len(weights), lambda h: f"H{h}", key="less")
        figure = difference(queries, keys, weights[head], weights[other], (f"H{head}", f"H{other}"), title=f"{name}L{layer}")
    else:
        figure = heatmap(queries, keys, weights[head], title=f"{name}L{layer} H{head}")
    st.plotly_chart(figure, key="heatmap", config={"displaylogo": False})


def bertviz(model, trace, kind, seen, layer: int, head: int) -> None:
    """BertViz's head view for the layers whose data fits."""
    from viz.bertviz import bertviz_head_view, layers_that_fit

    attention, tokens = seen.attention, seen.attention.queries
    if kind == "cross":
        st.info("BertViz is shown here for one text: choose Encoder or Decoder in the side bar.")
        return
    fit = layers_that_fit(attention.layers, attention.heads, len(tokens), around=layer)
    if not fit:
        st.info(f"BertViz carries every weight as text, and at {len(tokens)} tokens not even one layer fits: shorten it.")
        return
    if len(fit) < attention.layers:
        few = f"layer {fit[0]}" if len(fit) == 1 else f"layers {fit[0]} to {fit[-1]}"
        st.caption(f"BertViz carries every weight as text: of {attention.layers} layers at {len(tokens)} tokens, {few} fit here.")
    theme = st.context.theme.type or "auto"
    page = bertviz_head_view({one: attention[one] for one in fit}, tokens, layer=layer, heads=[head], theme=theme)
    st.iframe(page, height=min(900, 120 + 23 * len(tokens)))


PICTURES = {
    "Head": head_lines,
    "Reading": reading,
    "Model": all_heads,
    "Query-key": numbers,
    "Heatmap": heat,
    "BertViz": bertviz,
}
BEGINNER = ("Head", "Reading", "Heatmap")
