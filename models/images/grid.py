"""The grid by which an image is cut into patches, which are tokens, and put together again."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.numbers.readonly import read_only
from models.tokens import Patch, Token

LEADING = 64  # ids below are those of tokens before the patches; a patch has a larger one


@dataclass(frozen=True)
class Grid:
    """The tokens of an image: those before the patches, then its patches, row by row.

    height, width: pixels of the image that the model reads; patch_height, patch_width: of a patch. What is left at the right and
    at the bottom, where patches do not fill the image, belongs to no patch. mean, spread: of each channel; a pixel of 0 to 1
    enters the model as (pixel - mean) / spread. leading: the names of the tokens before the patches, such as "[CLS]".
    """

    height: int
    width: int
    patch_height: int
    patch_width: int
    mean: tuple[float, ...] = (0.5, 0.5, 0.5)
    spread: tuple[float, ...] = (0.5, 0.5, 0.5)
    leading: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        return self.height // self.patch_height

    @property
    def columns(self) -> int:
        return self.width // self.patch_width

    @property
    def length(self) -> int:
        """The number of tokens of each image."""
        return len(self.leading) + self.rows * self.columns

    def tokens(self, pixels: np.ndarray) -> list[Token]:
        """Return the tokens of an image as the model reads it: float32 [channels, height, width]."""
        first = [Token(id, name, 0, 0, special=True) for id, name in enumerate(self.leading)]
        places = [(row, column) for row in range(self.rows) for column in range(self.columns)]
        return [*first, *(self.patch(row, column, pixels[self.part(row, column)]) for row, column in places)]

    def patch(self, row: int, column: int, pixels: np.ndarray, covered: bool = False) -> Patch:
        """Return one patch. pixels: float32 [channels, patch height, patch width]."""
        pixels = read_only(np.ascontiguousarray(pixels, np.float32))
        top, left = row * self.patch_height, column * self.patch_width
        box = left, top, left + self.patch_width, top + self.patch_height
        name = f"row {row + 1}, column {column + 1}"
        id = LEADING + zlib.crc32(pixels.tobytes())
        return Patch(id, name, 0, 0, row=row, column=column, box=box, covered=covered, pixels=pixels, grid=self)

    def cover(self, tokens: Sequence[Token], places: Sequence[tuple[int, int]]) -> list[Token]:
        """Return the tokens of an image with the patches at these rows and columns covered, counted from 0. Errors: ValueError
        for a place outside the grid."""
        if outside := [place for place in places if not (0 <= place[0] < self.rows and 0 <= place[1] < self.columns)]:
            row, column = outside[0]
            raise ValueError(
                f"There is no patch in row {row + 1}, column {column + 1}: the image has {self.rows} rows of {self.columns} "
                "patches."
            )
        hidden = set(places)
        return [token.cover() if isinstance(token, Patch) and (token.row, token.column) in hidden else token for token in tokens]

    def part(self, row: int, column: int) -> tuple[slice, slice, slice]:
        """Return the slices of a patch in an image [channels, height, width]."""
        top, left = row * self.patch_height, column * self.patch_width
        return slice(None), slice(top, top + self.patch_height), slice(left, left + self.patch_width)

    def pixels(self, tokens: Sequence[Token]) -> np.ndarray:
        """Return the image of these tokens as the model reads it: float32 [channels, height, width]. Where no patch is, it is 0.

        Errors: ValueError where a patch is missing or of another grid.
        """
        patches = [token for token in tokens if isinstance(token, Patch)]
        places = {(patch.row, patch.column) for patch in patches}
        if places != {divmod(i, self.columns) for i in range(self.rows * self.columns)}:
            raise ValueError(f"An image has {self.rows} × {self.columns} patches. Cover a patch, and leave none out.")
        whole = np.zeros((len(self.mean), self.height, self.width), np.float32)
        for patch in patches:
            whole[self.part(patch.row, patch.column)] = patch.pixels
        return whole

    def picture(self, pixels: np.ndarray) -> np.ndarray:
        """Return pixels as the model reads them [channels, height, width] as they can be drawn: uint8 [height, width, 3]."""
        mean, spread = (np.asarray(values, np.float32)[:, None, None] for values in (self.mean, self.spread))
        colours = np.clip(np.rint(255 * (pixels * spread + mean)), 0, 255).astype(np.uint8).transpose(1, 2, 0)
        return np.repeat(colours, 3, axis=2) if colours.shape[2] == 1 else colours

    def image_of(self, tokens: Sequence[Token]) -> np.ndarray:
        """Return the image that the model reads as it can be drawn, covered patches included: uint8 [height, width, 3]. It is
        the image that was given, after the model's own resizing and cropping; the box of each patch counts its pixels."""
        return self.picture(self.pixels(tokens))


class ImageVocabulary:
    """The vocabulary of a model of images: it holds no token of a text."""

    size = 0
    rules = None
    special = frozenset(range(LEADING))
    pairs = False
    mask = ""
    languages: dict[str, int] = {}  # noqa: RUF012
    tokenizer = None

    def __init__(self, grid: Grid):
        self.grid = grid

    def text(self, id: int) -> tuple[str, bool]:
        """Return the name of a token before the patches. Errors: ValueError for any other id: that of a patch is no place in a
        vocabulary."""
        if not 0 <= id < len(self.grid.leading):
            raise ValueError(f"There is no token {id} in a vocabulary: an image is made of patches.")
        return self.grid.leading[id], False

    def tokens(self, text: str) -> list[Token]:
        raise ValueError("This model reads images: it cuts no text into tokens.")
