"""What only the filler's card says."""

from __future__ import annotations

import json
from pathlib import Path

from bin.model_card.common import attributions, best_heads, epochs, quoted
from models.catalog import WEIGHTS, load

PROMPTS = (
    "She poured the tea into a MASK and drank it slowly.",
    "The farmer gave the hungry dog a MASK, and the dog ran into the garden.",
    "The MASK barked all night, and nobody in the street could sleep.",
    "The MASK sat on the mat.",
    "Once upon a MASK, there was a king.",
)


def values(data: Path) -> dict[str, object]:
    folder, model = WEIGHTS / "filler", load("filler")
    figures = json.loads((folder / "figures.json").read_text())
    attributions(data / "ATTRIBUTION_storybooks.tsv", folder / "ATTRIBUTION.md", "filler")
    prompts = [prompt.replace("MASK", model.info.mask) for prompt in PROMPTS]
    return (
        best_heads("filler", data, "previous", "next")
        | epochs("filler", data, figures["recipe"]["twice_under"])
        | {"examples": "\n".join(f"- “{prompt}”: {quoted(model.predict(prompt, top=5))}" for prompt in prompts)}
    )
