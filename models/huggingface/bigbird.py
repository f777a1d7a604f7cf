"""Switches that single architectures need before they read."""

from __future__ import annotations

from transformers import PreTrainedModel


def read_fully(network: PreTrainedModel) -> int | None:
    """Switch BigBird to full attention, and return the longest text in tokens that it reads so; None for all other models.

    It reads longer texts with sparse attention, and a short text would switch it for good: its answers would depend on earlier
    texts. Source: Zaheer et al. 2020, "Big Bird", and transformers, `BigBirdModel.forward`.
    """
    config = network.config
    if getattr(config, "attention_type", None) != "block_sparse":
        return None
    for module in network.modules():
        switch = getattr(module, "set_attention_type", None)
        if switch is not None and hasattr(module, "attention_type"):
            switch("original_full")
    return (5 + 2 * config.num_random_blocks) * config.block_size
