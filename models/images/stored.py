"""The image of a trace in a file: the pixels that the model read, and the grid that they were cut by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from models.images.grid import Grid
from models.tokens import Patch, Token


def description_of(tokens: Sequence[Token]) -> tuple[dict[str, Any], np.ndarray] | None:
    """Return what a file holds of the image of these tokens: its grid and its covered patches, for JSON, and the pixels, float32
    [channels, height, width]. None for tokens of a text."""
    grid = next((token.grid for token in tokens if isinstance(token, Patch)), None)
    if not isinstance(grid, Grid):
        return None
    covered = [position for position, token in enumerate(tokens) if isinstance(token, Patch) and token.covered]
    return {"grid": asdict(grid), "covered": covered}, grid.pixels(tokens)


def tokens_of(description: Mapping[str, Any], pixels: np.ndarray) -> list[Token]:
    """Rebuild the tokens of an image from what a file holds of it. Errors: ValueError where that does not fit together."""
    facts: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in description["grid"].items()
    }
    grid = Grid(**facts)
    if pixels.shape != (len(grid.mean), grid.height, grid.width) or min(grid.patch_height, grid.patch_width) < 1:
        raise ValueError("an image does not fit its patches")
    tokens = grid.tokens(pixels)
    for position in description["covered"]:
        patch = tokens[position]
        if not isinstance(patch, Patch):
            raise ValueError("a token that is no patch is covered")
        tokens[position] = patch.cover()
    return tokens
