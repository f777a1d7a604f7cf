"""The part of a model that reads images: an image in the place of a text, cut into tokens by its grid."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from models.images.grid import LEADING, Grid
from models.images.opening import open_image
from models.images.written import WrittenImage, parse
from models.language_model import LanguageModel
from models.reading.inputs import ReadImage, are_ids
from models.reading.readable import Ready
from models.tokens import Token

if TYPE_CHECKING:
    from PIL.Image import Image
    from torch import Tensor


class ImageModel(LanguageModel):
    """A model that reads an image: `trace`, `traces` and `predict` take one where others take a text.

    Its tokens are the patches of the image, behind those that the model adds ([CLS], registers). Wherever tokens are read again,
    the image is put together from its patches, so that a covered patch, or that of another image, is read like a changed token.
    """

    grid: Grid

    @abstractmethod
    def pixels_of(self, image: Image) -> np.ndarray:
        """Return an image as the model reads it, after its own resizing: float32 [channels, height, width].

        image: RGB, upright. Errors: ValueError where the model cannot resize it.
        """

    def read_image(self, image: Any, written: WrittenImage | None = None) -> ReadImage:
        """Cut an image into tokens, hidden patches covered.

        image: as `models.images.opening.open_image` takes it, or the written form of one (see `models.images.written`). written:
        the form that stands for this image, by which the result is named; by default that of a text.
        Errors: ValueError, a sentence, for what cannot be read and for a hidden patch that is not there; TypeError for ids of
        tokens.
        """
        if are_ids(image) or (isinstance(image, Sequence) and not isinstance(image, str)):
            raise TypeError(f"{self.info.name} reads one image, and this is a list. For several images use `model.traces`.")
        if isinstance(image, ReadImage):
            raise ValueError(f"This image was cut into tokens by {image.reader}. Give {self.info.name} the image itself.")
        if written is None and isinstance(image, str):
            written = parse(image)
            image = written.name if written.is_file else written.pixels()
        pixels = self.pixels_of(open_image(image, self.info.name))
        digest = f"image of {self.grid.width} × {self.grid.height} pixels, {zlib.crc32(pixels.tobytes()):08x}"
        written = written or WrittenImage(digest)
        read = ReadImage(WrittenImage(digest, written.hidden) if isinstance(image, str) else written)
        read.tokens, read.reader = self.grid.cover(self.grid.tokens(pixels), written.hidden), self.info.name
        return read

    @cached_property
    def sample(self) -> np.ndarray:
        """An image of noise, always the same."""
        generator = np.random.default_rng(0)
        return generator.integers(0, 256, (self.grid.height, self.grid.width, 3), dtype=np.uint8)

    def tokenize(self, text: Any) -> list[Token]:
        """Return the tokens of an image."""
        return list(self.read_image(text).tokens)

    def token_text(self, id: int) -> str:
        return self.vocabulary.text(id)[0]

    def is_special(self, id: int) -> bool:
        return 0 <= id < LEADING

    def prepare(self, text: str, target: str) -> Ready:
        return Ready(text, self.tokens_of(text), [], 0)

    @staticmethod
    def tokens_of(image: str) -> list[Token]:
        assert isinstance(image, ReadImage), "`text_of` has made it one"
        return image.tokens

    def embedding(self, ids: Sequence[int] | slice = slice(None)) -> np.ndarray:
        raise ValueError(f"{self.info.name} reads images: it has no table with a vector for each token.")

    @property
    def embedding_tables(self) -> list[Tensor]:
        raise ValueError(f"{self.info.name} reads images: its patches are looked up in no table.")
