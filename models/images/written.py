"""The written form of an image: a name, and the patches of it that are hidden, as in "digit 3 without 1.2 4.4"."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

SIDE, MOST = 8, 15  # pixels along a side of a drawing, and the largest level of one; a hexadecimal digit stands for each
PHOTOS = {"flower": "flower.jpg", "temple": "china.jpg"}  # that come with scikit-learn, CC BY
_HIDDEN = re.compile(r" without ([0-9]{1,4}\.[0-9]{1,4}(?: [0-9]{1,4}\.[0-9]{1,4})*)$")
_DIGIT = re.compile(r"digit ([0-9])")
_DRAWN = re.compile(f"drawn ([0-9a-f]{{{SIDE**2}}})")
_PHOTO = re.compile(f"photo ({'|'.join(PHOTOS)})")


@dataclass(frozen=True)
class WrittenImage:
    """An image by its name. name: "digit 3", an example that no training has seen; "drawn " and a hexadecimal digit for each of 8
    × 8 pixels, row by row, f for full ink; "photo flower" or "photo temple"; or the name of a file. hidden: row and column of the
    patches that are covered, counted from 0."""

    name: str
    hidden: tuple[tuple[int, int], ...] = ()

    def __str__(self) -> str:
        places = " ".join(f"{row + 1}.{column + 1}" for row, column in sorted(set(self.hidden)))
        return f"{self.name} without {places}" if places else self.name

    @property
    def is_file(self) -> bool:
        """Whether the name is that of a file, or of nothing."""
        return not any(form.fullmatch(self.name) for form in (_DIGIT, _DRAWN, _PHOTO))

    def pixels(self) -> np.ndarray:
        """Return the image: float32 [8, 8] from 0 to 1 of a digit or a drawing, uint8 [height, width, 3] of a photograph. Errors:
        ValueError for the name of a file."""
        if match := _DIGIT.fullmatch(self.name):
            from models.images.digits import examples

            return examples()[int(match[1])].image
        if match := _DRAWN.fullmatch(self.name):
            levels = [int(level, 16) / MOST for level in match[1]]
            return np.array(levels, np.float32).reshape(SIDE, SIDE)
        if match := _PHOTO.fullmatch(self.name):
            from sklearn.datasets import load_sample_image

            return np.asarray(load_sample_image(PHOTOS[match[1]]))
        raise ValueError(f"“{self.name[:60]}” names a file, or nothing: only examples and drawings are made of their name.")


def parse(text: str) -> WrittenImage:
    """Return the image that a text names; rows and columns count from 1 in the text. Any text is a name."""
    places = _HIDDEN.search(text)
    if not places:
        return WrittenImage(text)
    pairs = (place.split(".") for place in places[1].split())
    return WrittenImage(text[: places.start()], tuple((int(row) - 1, int(column) - 1) for row, column in pairs))
