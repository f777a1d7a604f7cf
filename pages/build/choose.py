"""The controls for the parts and sizes of a transformer; each is in the link."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import fields
from itertools import cycle
from pathlib import Path
from typing import Any

import streamlit as st

from models.scratch.config import (
    COMPUTED,
    FEEDFORWARDS,
    INITIALISATIONS,
    KINDS,
    NORMS,
    PATTERNS,
    PLACES,
    POSITIONS,
    REACH,
    SCORES,
    TransformerConfig,
)
from pages.build import state as page_state
from ui import state
from ui.choices.widgets import number, one_of, switch
from ui.device import is_phone
from ui.words import words

HERE = Path(__file__).parent
DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(TransformerConfig)}
NAMES = {
    "kind": "Stacks",
    "layers": "Layers",
    "d_model": "Width (d_model)",
    "heads": "Heads",
    "kv_heads": "Key heads (0: all)",
    "d_ff": "Feed-forward (d_ff)",
    "vocabulary": "Vocabulary",
    "context": "Context",
    "positions": "Positions",
    "norm": "Norm",
    "norm_place": "Place of the norm",
    "feedforward": "Activation",
    "experts": "Experts",
    "experts_used": "Experts a token",
    "score": "Score",
    "temperature": "Temperature",
    "computed": "Computed",
    "features": "Features",
    "pattern": "Pattern",
    "window": "Window",
    "random_keys": "Random keys",
    "global_tokens": "Global tokens",
    "qk_norm": "Normalise q and k",
    "bias": "Biases",
    "tied": "Tied unembedding",
    "embedding_norm": "Norm after the embedding",
    "head_transform": "Layer before the unembedding",
    "embedding_scale": "Embeddings times √width",
    "initialisation": "Initialisation",
}
CHOICES = {
    "kind": KINDS,
    "positions": POSITIONS,
    "norm": NORMS,
    "norm_place": PLACES,
    "feedforward": FEEDFORWARDS,
    "score": SCORES,
    "computed": COMPUTED,
    "pattern": PATTERNS,
    "initialisation": INITIALISATIONS,
}
GROUPS = {
    "Sizes": ("kind", "layers", "d_model", "heads", "kv_heads", "d_ff", "vocabulary", "context"),
    "Order and norm": ("positions", "norm", "norm_place", "qk_norm", "embedding_norm", "embedding_scale"),
    "Attention": ("pattern", "window", "random_keys", "global_tokens", "score", "temperature", "computed", "features"),
    "Feed-forward and ends": ("feedforward", "experts", "experts_used", "bias", "tied", "head_transform", "initialisation"),
}
OPEN = {"Masks": "Attention", "Positions": "Order and norm"}  # the group that a part is about; "Sizes" for the others
SHARED = "The heads share the width equally, so only some numbers of heads fit. A number that does not fit becomes one that does."
SIMPLE = ("layers", "d_model", "heads")  # the controls for beginners
LIMITS = {
    "layers": 96,
    "d_model": 16_384,
    "heads": 256,
    "kv_heads": 256,
    "d_ff": 65_536,
    "vocabulary": 1_000_000,
    "context": 131_072,
}


def config(part: str) -> TransformerConfig:
    """Place the controls, and return the transformer that they describe. part: the chosen part of the page, whose controls are
    open at first. Errors: ValueError, a sentence, where they do not fit."""
    if state.level() == "beginner":
        state.later("intermediate", *(page_state.build_key(name) for name in DEFAULTS if name not in SIMPLE))
        parts = {name: _widget(name) for name in SIMPLE}
        page_state.HEADS_BEFORE.set(parts["heads"])
        page_state.WIDTH_BEFORE.set(parts["d_model"])
        return TransformerConfig(**parts)
    parts = {}
    open_group = OPEN.get(part, "Sizes")
    for group, names in GROUPS.items():
        with st.expander(group, expanded=group == open_group and not is_phone()):
            left, right = st.columns(2)
            places = cycle((left, right))
            for name in names:
                if not has_effect(name, parts):
                    parts[name] = DEFAULTS[name]
                    continue
                with nullcontext() if isinstance(DEFAULTS[name], bool) else next(places):  # a switch's label needs the width
                    parts[name] = _widget(name)
    return TransformerConfig(**parts)


def has_effect(name: str, parts: Mapping[str, Any]) -> bool:
    """Return whether a choice changes anything beside those in `parts`."""
    if name in REACH:
        return parts["pattern"] in REACH[name]
    if name == "features":
        return bool(parts["computed"] != "exact")
    return name != "experts_used" or bool(parts["experts"] > 1)


def _widget(name: str) -> Any:
    value = _place_control(name)
    state.keep(page_state.build_key(name), value, DEFAULTS[name])
    return value


def _place_control(name: str) -> Any:
    key, default, title = page_state.build_key(name), DEFAULTS[name], NAMES[name]
    more: dict[str, Any] = {}
    if state.level() == "beginner":
        title = title.removesuffix(" (d_model)")
        if name in ("d_model", "heads"):
            more = {"on_change": _fit, "args": (name,), "help": SHARED}
    elif help_text := words(HERE, f"{name} help"):
        more = {"help": help_text}
    if name in CHOICES:
        return one_of(key, CHOICES[name], f"the {title.lower()}", label=title, default=default, menu=True, **more)
    if isinstance(default, bool):
        return switch(key, title, default, **more)
    if isinstance(default, float):
        return number(key, title, 0.01, 100.0, default, 0.1, **more)
    return number(key, title, 0 if name == "kv_heads" else 1, LIMITS.get(name, 100_000), default, **more)


def _fit(name: str) -> None:
    """Move the number that a beginner has just changed on to the next one that fits: each head has an equal and even share of the
    width. name: "d_model" or "heads"."""
    key, heads = page_state.build_key(name), page_state.build_key("heads").get_or(DEFAULTS["heads"])
    width = page_state.build_key("d_model").get_or(DEFAULTS["d_model"])
    if name == "d_model":
        unit = 2 * heads
        step = width - page_state.WIDTH_BEFORE.get_or(DEFAULTS["d_model"])
        count = (width + unit - 1) // unit if step == 1 else width // unit if step == -1 else round(width / unit)
        key.set(min(LIMITS[name] // unit, max(1, count)) * unit)
        return
    before = page_state.HEADS_BEFORE.get_or(DEFAULTS["heads"])
    fitting = [count for count in range(1, LIMITS[name] + 1) if width % (2 * count) == 0]
    if fitting:
        up, down = (count for count in fitting if count >= heads), (count for count in reversed(fitting) if count <= heads)
        key.set(next(up, fitting[-1]) if heads > before else next(down, fitting[0]))
