"""The handwritten digits that come with scikit-learn: those to train with, those held out, and one example of each.

1,797 images of 8 × 8 grey pixels (`sklearn.datasets.load_digits`), from the test set of Alpaydin and Kaynak 1998, "Optical
Recognition of Handwritten Digits" (UCI Machine Learning Repository, CC BY 4.0).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from models.numbers.readonly import read_only

INK = 16  # the largest number of a pixel in the data
HELD_OUT = 450  # images: a quarter
SEED = 0  # of the order in which they are held out


@dataclass(frozen=True, eq=False)
class Example:
    """An image that no training has seen, with its right label. image: float32 [8, 8], ink is 1 and paper 0."""

    image: np.ndarray
    label: str


@cache
def split() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the images to train with and their digits, then those held out: float32 [image, 8, 8] of 0..1, int64 [image].

    A quarter is held out, the same on each machine: the first HELD_OUT of a permutation by numpy's generator with SEED. The same
    43 people may have written images of both.
    """
    from sklearn.datasets import load_digits

    pixels, digits = load_digits(return_X_y=True)
    order = np.random.default_rng(SEED).permutation(len(digits))
    pixels, digits = (pixels[order] / INK).astype(np.float32).reshape(-1, 8, 8), digits[order].astype(np.int64)
    parts = pixels[HELD_OUT:], digits[HELD_OUT:], pixels[:HELD_OUT], digits[:HELD_OUT]
    return read_only(parts[0]), read_only(parts[1]), read_only(parts[2]), read_only(parts[3])


def examples() -> list[Example]:
    """Return one image of each digit from 0 to 9, the first of those held out."""
    _, _, pixels, digits = split()
    return [Example(pixels[int(np.argmax(digits == digit))], str(digit)) for digit in range(10)]
