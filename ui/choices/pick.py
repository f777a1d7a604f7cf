"""The choice of a kind of attention, a layer, a head and a token, shared by the pages that look through one head."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import streamlit as st

from ui import shell, state
from ui.memory import loaded, trainings

KINDS = ("Cross", "Encoder", "Decoder")  # of an encoder-decoder; a newcomer meets the first


@dataclass(frozen=True)
class Favourite:
    """The head that a newcomer should meet first, and how much of what it does it does: "previous", its mean weight on the token
    before; "induction", that on what followed earlier copies; "lookup" of cross-attention, how sharply it looks up what is being
    said (`analysis.heads.lookup`)."""

    layer: int
    head: int
    score: float
    does: str = "previous"


@lru_cache(maxsize=64)
def favourite(name: str, kind: str = "self") -> Favourite:
    """The head of a model that looks most at the token before; of a model that was trained here its induction head, where there
    is one; in cross-attention, the head that looks up each word most sharply while a few sentences are said again."""
    if (trained := trainings.found(name)) and trained.induction:
        return Favourite(*trained.induction, "induction")
    if kind == "cross":
        import numpy as np

        from analysis.heads import SENTENCES, lookup

        scores = np.mean([lookup(loaded.read(name, text, text)) for text in SENTENCES], axis=0)
        layer, head = np.unravel_index(scores.argmax(), scores.shape)
        return Favourite(int(layer), int(head), float(scores.max()), "lookup")
    scores = loaded.head_scores(name, kind)
    best = scores.loc[scores["previous"].idxmax()]
    return Favourite(int(best["layer"]), int(best["head"]), float(best["previous"]))


def side_bar(name: str) -> None:
    """Pickers of kind, layer and head, in every link (a beginner sees the favourite head and no pickers)."""
    if state.level() == "beginner":
        return
    info = loaded.model(name).info
    if info.kind == "encoder-decoder":
        state.check_link("attention", KINDS, "the attention")
        st.sidebar.segmented_control(
            "Attention",
            KINDS,
            default=KINDS[0],
            required=True,
            key="attention",
            bind="query-params",
            width="stretch",
            wrap=False,
            help="Cross: from the target to the source. Encoder: within the source. Decoder: within the target.",
            on_change=forget_token,
        )
    first = favourite(name, kind(info))
    for choice in st.session_state.pop("favourites-next", ()):
        st.session_state[choice] = getattr(first, choice)
    in_decoder = kind(info) in ("decoder", "cross")
    layers, heads = (info.decoder_layers, info.decoder_heads) if in_decoder else (info.layers, info.heads)
    left, right = st.sidebar.columns(2, gap="small")
    with left:
        one_of("layer", range(layers), first.layer)
    with right:
        one_of("head", range(heads), first.head)


def forget_token() -> None:
    st.session_state["token"] = None


def kind(info) -> str:
    """Which attention is looked at: "self", or what was chosen of an encoder-decoder's three."""
    if info.kind != "encoder-decoder":
        return "self"
    chosen = st.session_state.get("attention")
    return (chosen if chosen in KINDS and state.level() != "beginner" else KINDS[0]).lower()


def both_ways(info) -> bool:
    """Whether a token also looks at those after it."""
    return info.kind == "encoder" or kind(info) == "encoder"


def one_of(name: str, numbers: range, default: int) -> None:
    """A picker of a layer or a head by its number, shown and linked as L0, L1, … or H0, H1, …"""
    state.check_link(name, [f"{name[0].upper()}{number}" for number in numbers], f"the {name}")
    if name in st.session_state and st.session_state[name] not in numbers:
        st.session_state[name] = default  # chosen on a larger stack; without a word the browser would go on showing it
    letter = name[0].upper()
    st.selectbox(name.capitalize(), numbers, default, lambda number: f"{letter}{number}", key=name, bind="query-params")


def chosen_head(model) -> tuple[int, int]:
    """Layer and head as chosen, or the favourite (always the favourite for a beginner, who reads what that one does)."""
    first = favourite(model.info.name, kind(model.info))
    if state.level() == "beginner":
        return first.layer, first.head
    return st.session_state.get("layer", first.layer), st.session_state.get("head", first.head)


def head(layer: int, head: int) -> None:
    """Choose a head from a picture; the pickers in the side bar follow."""
    st.session_state["layer"], st.session_state["head"] = layer, head
    shell.whole_page_next()


def token(position: int, newest: int) -> None:
    """Keep a token chosen; pressed again it is let go, and then, as for the newest one, that is shown."""
    kept = st.session_state.get("token")
    st.session_state["token"] = None if position in (kept, newest) else position


def newest(model, trace) -> int:
    """The token that is shown while none is chosen: an encoder's first mask, else the last that was typed."""
    if both_ways(model.info):
        typed = [i for i, token in enumerate(trace.tokens) if token.start < token.end]
        masks = model.places(trace) if model.info.kind == "encoder" else []
        return (masks or typed[-1:] or [0])[0]
    return len(trace.read) - 1


def chosen_token(model, trace, count: int) -> int:
    """The token kept chosen among `count`, or the newest. A text that became shorter than that lets it go."""
    position = st.session_state.get("token")
    if position is not None and (position >= count or count == 1):
        position = st.session_state["token"] = None
    return min(newest(model, trace), count - 1) if position is None else position
