"""Follows a network: hooks it, finds its way to logits or labels, and checks both before any number is shown."""

from __future__ import annotations

from typing import Any

from transformers import PreTrainedModel

from models.class_labels import Labels
from models.errors import ModelError
from models.huggingface import layout
from models.huggingface.checks import Checks
from models.huggingface.followed import FollowedNetwork
from models.huggingface.names import short
from models.huggingface.two_stacks import matches_transformers, score_each_position
from models.huggingface.way_out import WayOut
from models.numbers.finite import all_finite
from models.reading.prefix import Recent

BOTH_WAYS = "It sees both ways, so it does not predict what comes next."
POOLED = "Its labels are made of several tokens at once in a way that cannot be followed here, so none are shown."
FULL = "It reads at most {} tokens: longer texts it would read with sparse attention, which is not shown here."
LONG = 72  # tokens of the longer probe: some models read short texts in another way


def follow(
    network: PreTrainedModel,
    vocabulary: Any,
    kind: str,
    predicts: bool,
    labels: Labels | None,
    name: str,
    reader: type[FollowedNetwork] = FollowedNetwork,
) -> tuple[FollowedNetwork, WayOut, list[str]]:
    """Follow a network: its hooks, its way out, and notes on what is special about it.

    vocabulary: its `TextTokens`, or for `reader`, a class that makes other inputs, what that takes.

    A decoder that looks ahead becomes an encoder that predicts nothing. Errors: ModelError, a sentence, where it cannot be
    followed or where its numbers are not those of transformers.
    """
    if labels and kind == "encoder-decoder":
        score_each_position(network)
    weights = (parameter for parameter in network.parameters() if parameter.is_floating_point())
    config = reader.config_of(network, kind)
    for_text = labels is not None and not labels.each and kind != "encoder-decoder" and reader is FollowedNetwork
    if for_text and getattr(config, "pad_token_id", None) is None:
        config.pad_token_id = -1  # transformers reads no two texts at once without one; no token is it
    if not all_finite(weights):
        raise ModelError("Some of its weights are not numbers (NaN or infinite), so nothing it says can be trusted.")
    try:
        followed = reader(network, config, vocabulary, kind, name)
        way, notes = _check(followed, predicts and not labels, labels)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(
            f"{type(network).__name__} could not be followed while it read a few tokens: {short(error, 120)}. {layout.CHOOSE}"
        ) from error
    followed.recent = Recent(network)
    return followed, way, notes


def _check(followed: FollowedNetwork, predicts: bool, labels: Labels | None) -> tuple[WayOut, list[str]]:
    """Compare short and long probes with transformers, and find the way out and whether the network can read on."""
    checks = Checks(followed.network, followed.layout, followed.tap_heads)
    notes = [FULL.format(followed.longest_full)] if followed.longest_full else []
    limits = (followed.positions, followed.longest_full, getattr(followed.config, "max_position_embeddings", None))
    length = min([LONG, *(limit for limit in limits if limit and limit > 0)])
    if followed.kind == "decoder" and checks.looks_ahead(followed.probe(layout.SOURCE)):
        followed.kind, predicts = "encoder", False
        notes.append(BOTH_WAYS)
    way = WayOut(followed, predicts, labels)
    for source, target in ((layout.SOURCE, layout.TARGET), (length, length // 2)):
        recorded, logits = checks.check_probe(followed.probe(source, target))
        if way.labels_text:
            assert logits is not None, "a classifier has them"
            if not way.find_labels(recorded, logits):
                notes.append(POOLED)
        elif way.predicts or way.labels:
            assert logits is not None, "a model that predicts has them"
            way.check(recorded, logits)
        both = followed.kind == "encoder-decoder"
        if (
            way.labels is not None
            and both
            and not matches_transformers(followed.network, range(3, 3 + source // 2), checks.close)
        ):
            way.labels = None
            notes.append(POOLED)
    followed.reusable = (
        followed.kind == "decoder"
        and not followed.tap_heads
        and not followed.layout.others
        and checks.can_read_on(followed.probe(length))
    )
    return way, notes
