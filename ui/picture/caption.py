"""The caption of a picture: model, text, layer, head and options in words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ui.escaping import display_name
from ui.look import Look
from ui.picture.picture import Caption, Picture
from ui.picture.provenance import provenance
from viz.tokens import label, row_names

if TYPE_CHECKING:
    from models.info import ModelInfo

# Options whose words stand in the subject, or that follow from the model.
SAID = {"layer", "head", "heads", "shade", "kind", "causal", "title", "target", "clear", "same_text", "names", "simple"}
KINDS = {"bertviz": "BertViz’s head view"}
WORDS: dict[str, Any] = {
    "special": {False: "without special tokens"},
    "whole_words": {True: "whole words"},
    "whole_characters": {True: "whole characters"},
    "renormalised": {True: "rows scaled to 100 %"},
    "by": "ordered by {}",
    "filter": "filtered by the pattern “{}”",
}


def caption(picture: Picture) -> Caption:
    """Return the caption of a picture."""
    kind = picture.title or (
        "Comparison" if len(picture.looks) > 1 else KINDS.get(picture.key, picture.key.replace("-view", " view").capitalize())
    )
    about = picture.words if picture.title else subject(picture)
    joined = f"{kind}, {about}" if picture.title and about else kind if picture.title else f"{kind} of {about}"
    reads = "trace" in picture.takes or "seen" in picture.takes
    counted = [picture.counted] if picture.counted else []
    texts = [text for look in (*(picture.looks if reads else ()), *counted) for text in (look.trace.text, look.second) if text]
    options = {
        **({} if picture.title else picture.options),
        **(picture.look.scope.options if "seen" in picture.takes and picture.look else {}),
    }
    chosen = [in_words(name, value, picture.look) for name, value in options.items() if picture.look and name not in SAID]
    chosen += [f"lengths in tokens of {display_name(look.model.info.name)}" for look in counted]
    names = [
        f"{display_name(info.name)} ({info.kind}, {size(info)})"
        for info in dict.fromkeys(look.model.info for look in picture.looks)
    ]
    parts = ["headlight", *dict.fromkeys(display_name(look.model.info.name) for look in picture.looks), about, kind]
    return Caption(
        kind,
        joined,
        tuple(names),
        tuple(dict.fromkeys(texts)),
        tuple(filter(None, chosen)),
        "-".join(filter(None, map(slug, parts))),
        provenance(
            *((look.model, look.trace if reads else None) for look in picture.looks),
            *((look.model, look.trace) for look in counted),
        ),
    )


def subject(picture: Picture) -> str:
    """Return layer and head as people write them: "L5 H1", "L5, all heads", "mean of the heads of L5"."""
    if len(picture.looks) == 1:
        return of_look(picture.looks[0], picture.options, picture.words)
    heads = picture.options.get("heads", [(look.layer, look.head) for look in picture.looks])
    means = [head is None for _, head in heads]
    names = [look.layer_name if mean else look.head_name for look, mean in zip(picture.looks, means, strict=True)]
    return ("the mean of the heads of " if any(means) else "") + " and ".join(dict.fromkeys(names))


def of_look(look: Look, options: dict[str, Any], words: str) -> str:
    layer, heads = look.layer_name, options.get("heads", ())
    match words or options.get("shade"):
        case "layer":
            return f"the mean of the heads of {layer}"
        case "all heads":
            return f"{layer}, all heads"
        case "rollout":
            return f"rollout up to {layer}"
        case "entropy":
            return f"the entropy of {look.head_name}"
        case "surprise":
            return "surprise"
    if "by" in options:
        return f"all heads{'' if look.kind == 'self' else f' ({look.kind})'}"
    if heads is None or ("head" not in options and not heads):
        return f"{layer}, all heads"
    if heads:
        return f"{layer} {' and '.join(f'H{head}' for head in heads)}"
    return look.head_name


def in_words(name: str, value: Any, look: Look) -> str:
    """Return an option in words; "" for an option that needs no mention."""
    if name in WORDS:
        words = WORDS[name]
        return (
            (words.get(value, "") if isinstance(words, dict) else words.format(value)) if value not in (None, "", "layer") else ""
        )
    if value is None or value is False or value == "":
        return ""
    if name in ("chosen", "position") and isinstance(value, int):
        tokens = look.scope.attention.rows if name == "position" else look.scope.queries.tokens
        if (rows := row_names(tokens)) and value < len(rows):
            return f"{rows[value]} (row {value})"
        return f"from token {value}, “{label(tokens[value].text).lstrip('·')}”" if value < len(tokens) else f"from token {value}"
    if name == "key" and isinstance(value, int):
        keys = look.scope.keys.tokens
        return f"to token {value}, “{label(keys[value].text).lstrip('·')}”" if value < len(keys) else f"to token {value}"
    spelt = " to ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
    return name.replace("_", " ") + ("" if value is True else f" {spelt}")


def size(info: ModelInfo) -> str:
    encoder = f"{info.layers} layers × {info.heads} heads"
    both = encoder + (f" and {info.decoder_layers} × {info.decoder_heads}" if info.decoder_layers else "")
    return f"{both}; {info.numbering.rstrip('.')}" if info.numbering else both


def slug(text: str) -> str:
    """Return text as a part of a file's name that every system accepts."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")[:60]
