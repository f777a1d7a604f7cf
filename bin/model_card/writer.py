"""What only the writer's card says."""

from __future__ import annotations

import json
from pathlib import Path

from bin.model_card.common import attributions, best_heads, epochs, quoted
from models.catalog import WEIGHTS, load

PROMPTS = ("Once upon a", "The cat sat on the", "It was a dark and stormy", "She opened the door and saw a", "Thank you very")


def values(data: Path) -> dict[str, object]:
    folder, model = WEIGHTS / "writer", load("writer")
    figures = json.loads((folder / "figures.json").read_text())
    attributions(data / "ATTRIBUTION_storybooks.tsv", folder / "ATTRIBUTION.md", "writer")
    return (
        best_heads("writer", data, "previous", "induction", "first")
        | epochs("writer", data, figures["recipe"]["twice_under"])
        | {
            "bits": f"{figures['bits_per_byte']:.3f}",
            "examples": "\n".join(f"- “{prompt}”: {quoted(model.predict(prompt, top=5))}" for prompt in PROMPTS),
        }
    )
