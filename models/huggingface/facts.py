"""The facts about a model of the Hub that pages show, and the notes on what is special about it."""

from __future__ import annotations

from collections.abc import Sequence

from models.huggingface.followed import FollowedNetwork
from models.huggingface.way_out import WayOut
from models.info import ModelInfo

FIRST = "It reads one text. Of a pair of texts, such as a claim that is to follow from another, it is given the first alone."


def facts_of(followed: FollowedNetwork, way: WayOut, source: str, notes: Sequence[str]) -> ModelInfo:
    """Return the facts about a followed network. notes: those that come before what is found here."""
    config, kind, network = followed.config, followed.kind, followed.network
    layout, vocabulary = followed.layout, followed.vocabulary
    stacks, labels = layout.blocks, way.labels
    counts = next(layout.counts[name] for name in ("self", "encoder") if name in layout.counts)
    heads = max(counts)
    return ModelInfo(
        name=followed.name,
        kind=kind,
        layers=len(stacks.get("encoder") or stacks["self"]),
        heads=heads,
        kv_heads=getattr(config, "num_key_value_heads", None) or heads,
        d_model=config.hidden_size,
        vocabulary=vocabulary.size,
        context=_context(followed),
        parameters=sum(parameter.numel() for parameter in network.parameters()),
        source=source,
        decoder_layers=len(stacks.get("decoder", ())),
        decoder_heads=max(layout.counts.get("decoder", (0,))),
        head_counts=counts if min(counts) < heads else (),
        layer_numbers=layout.numbers("encoder" if "encoder" in stacks else "self"),
        predicts=way.predicts,
        queries=not followed.tap_heads,
        pairs=kind == "encoder" and vocabulary.pairs,
        mask=vocabulary.mask if kind == "encoder" else "",
        dtype=str(network.dtype).removeprefix("torch."),
        notes=(*notes, *_notes(followed, counts, labels is not None)),
        labels=labels,
        languages=_languages(followed) if kind == "encoder-decoder" and not labels else (),
    )


def _languages(followed: FollowedNetwork) -> tuple[str, ...]:
    """Return the languages of the tokenizer that the network has a vector for."""
    rows = followed.embedding_rows or followed.vocabulary.size
    return tuple(code for code, id in followed.vocabulary.languages.items() if id < rows)


def _notes(followed: FollowedNetwork, counts: Sequence[int], labels: bool) -> list[str]:
    notes = []
    if followed.tap_heads:
        notes.append(
            f"{type(followed.network).__name__} computes attention in its own way: "
            "its weights can be seen, its queries, keys and values cannot."
        )
    if min(counts) < max(counts):
        notes.append(f"Its layers have {min(counts)} to {max(counts)} heads; what a layer has not is left blank.")
    if followed.layout.others:
        notes.append(f"{followed.layout.others} of its layers have no attention, and are left out.")
    if labels and followed.kind == "encoder-decoder":
        notes.append(FIRST)
    return notes


def _context(followed: FollowedNetwork) -> int | None:
    """Return the longest input in tokens: what the positions allow, or what the tokenizer names; None when neither does."""
    named = getattr(followed.vocabulary.tokenizer, "model_max_length", None)
    limits = [
        followed.positions,
        followed.longest_full,
        getattr(followed.config, "max_position_embeddings", None),
        named if named and named < 10**6 else None,
    ]
    return min((limit for limit in limits if limit and limit > 0), default=None)
