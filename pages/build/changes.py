"""A beginner's last change on page "Build": which numbers it changes, and which it does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from analysis.cost import costs
from models.numbers.sizes import count
from models.scratch.config import TransformerConfig
from pages.build import state as page_state
from ui.words import say

SIZES = {"layers": "layers", "d_model": "width", "heads": "heads"}  # and the headings of the words on them
UNITS = ((31_557_600, "year"), (86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))  # in seconds


def say_change(here: Path, config: TransformerConfig, length: int) -> None:
    """Say what the last change of a size did, or how to make one. length: tokens of the text."""
    before, now = page_state.CHANGED.get() or (None, config)
    if now != config:
        before = now
    page_state.CHANGED.set((before, config))
    if before is None:
        say(here, "change none")
        return
    changed = [name for name in SIZES if getattr(before, name) != getattr(config, name)]
    facts = change_facts(before, config, length)
    name = SIZES[changed[0]] if len(changed) == 1 else "several"
    if name == "heads" and facts["parameters_before"] != facts["parameters"]:
        name = "several"
    if len(changed) == 1:
        facts |= {"before": f"{getattr(before, changed[0]):,}", "after": f"{getattr(config, changed[0]):,}"}
    say(here, f"change {'width' if name == 'd_model' else name}", **facts)


def change_facts(before: TransformerConfig, after: TransformerConfig, length: int) -> dict[str, str]:
    """Return the numbers of two transformers, formatted for sentences. length: tokens of the text."""
    facts = {}
    for suffix, config in (("_before", before), ("", after)):
        parts = costs(config, length)
        facts[f"parameters{suffix}"] = count(sum(part.parameters.value for part in parts))
        facts[f"operations{suffix}"] = count(sum(part.flops.value for part in parts))
    size = {layers: sum(part.parameters.value for part in costs(replace(after, layers=layers), length)) for layers in (1, 2)}
    more = after.heads > before.heads
    return facts | {
        "layer": count(size[2] - size[1]),
        "each": f"each now works with {after.d_head} of the {after.d_model:,} numbers, not with {before.d_head}",
        "more": "more" if more else "fewer",
        "finer": "narrower" if more else "wider",
        "amount": "more" if after.d_model > before.d_model else "fewer",
    }


def time_alone(operations: int) -> str:
    """Return how long that many operations take at one a second, in the largest unit that it reaches."""
    seconds, unit = next(each for each in UNITS if operations >= each[0] or each[0] == 1)
    number = operations / seconds
    amount = f"{number:.2g}" if number < 10 else count(round(number))
    return f"{amount} {unit}{'' if amount == '1' else 's'}"
