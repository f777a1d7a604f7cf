"""View "BertViz": BertViz's own head view, for the layers whose data fits."""

from __future__ import annotations

from typing import Any

from analysis import head_summary
from pages.attention.settings import Settings
from pages.attention.wording import even_share
from ui.look import Look
from ui.picture.board import Draft, Note
from ui.picture.picture import Picture
from viz import percent
from viz.bertviz import bertviz_encoder_decoder_view, bertviz_head_view, layers_that_fit

HIGHEST = 900  # pixels; a higher page scrolls
LAYERS = "bertviz-layers"  # the key of the sentence on which layers are shown


def bertviz(draft: Draft, look: Look, settings: Settings) -> Picture | Note:
    attentions = matching_attentions(look)
    layers = max(attention.layers for attention in attentions.values())
    weights = sum(len(attention.queries) * len(attention.keys) for attention in attentions.values())
    tokens = max(len(look.attention.queries), len(look.attention.keys))
    second = [i for i, token in enumerate(look.trace.tokens) if token.segment] if look.kind == "self" else []
    counts = look.attention.counts
    fit = layers_that_fit(layers, look.attention.heads, weights * (2 if second else 1), 1, around=look.layer)
    fit = [layer for layer in fit if look.kind != "self" or counts[layer] == counts[look.layer]]
    if not fit:
        return Note(
            f"BertViz stores every weight as text, and at {tokens:,} tokens not even one layer fits. Choose the view “Head”, or "
            "shorten the text.",
            "info",
        )
    if len(set(counts)) > 1 and look.kind == "self":
        layer_names = ", ".join(map(look.named, fit))
        draft.contents[LAYERS] = Note(
            f"BertViz shows only layers with equally many heads together: {layer_names} have {counts[look.layer]}."
        )
    elif len(fit) < layers:
        few = look.named(fit[0]) if len(fit) == 1 else f"{look.named(fit[0])} to {look.named(fit[-1])}"
        draft.contents[LAYERS] = Note(
            f"BertViz stores every weight as text. At {tokens:,} tokens, only {few} of the {layers} layers can be shown."
        )
    options: dict[str, Any] = {"layer": look.number(look.layer), "heads": [look.head], "theme": settings.theme}
    weights_of: dict[str, Any] = {
        name: {attention.numbers[layer]: attention[layer] for layer in fit if layer < attention.layers}
        for name, attention in attentions.items()
    }
    if "self" in weights_of:
        page = bertviz_head_view(weights_of["self"], look.trace.tokens, second=min(second, default=None), **options)
    else:
        weights_of = {name: maps for name, maps in weights_of.items() if maps}
        tokens_of: dict[str, Any] = {"encoder_tokens": look.trace.tokens, "decoder_tokens": look.trace.target}
        options["first"] = look.kind
        tokens_of["cross_rows"] = look.trace.attention["cross"].rows
        page = bertviz_encoder_decoder_view(**weights_of, **tokens_of, **options)
    draft.add_words("bertviz-words", *about(draft, look))
    return Picture(lambda *arguments: page, (look,), {}, "bertviz", dict, height=min(HIGHEST, 120 + 23 * tokens))


def about(draft: Draft, look: Look) -> list[str]:
    """Return where the chosen head looks most, in one text, and how to read the squares."""
    facts: dict[str, Any] = {"head": look.head_name, "square": f"H{look.head}", "last": f"H{look.attention.heads - 1}"}
    texts = [draft.words("about bertviz", **facts)]
    if look.kind != "cross" and len(look.attention.queries) > 1:
        shares = head_summary(look.attention[look.layer][look.head])
        each = {name: getattr(shares, name) for name in ("previous", "itself", "next", "first")}
        name, share = max(each.items(), key=lambda item: item[1])
        texts.insert(0, draft.words(f"most {name}", share=percent(share), even=even_share(look), **facts))
    return texts


def matching_attentions(look: Look) -> dict:
    """Return the attentions that one page of BertViz can show together: those with as many heads as the chosen one."""
    return {name: attention for name, attention in look.trace.attention.items() if attention.heads == look.attention.heads}
