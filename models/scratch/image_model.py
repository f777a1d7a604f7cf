"""The from-scratch encoder of images: it predicts the label of an image at [CLS]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from models.images.grid import Grid, ImageVocabulary
from models.images.model import ImageModel
from models.scratch.config import TransformerConfig
from models.scratch.encoder_model import EncoderModel
from models.tokens import Token
from models.trace import Trace

if TYPE_CHECKING:
    from PIL.Image import Image


class ScratchImageModel(ImageModel, EncoderModel):
    """An encoder of our own that reads images. Safe to share between threads."""

    vocabulary: Any

    def make_vocabulary(self, tokenizer: None) -> ImageVocabulary:
        self.grid = grid_of(self.network.config)
        return ImageVocabulary(self.grid)

    def pixels_of(self, image: Image) -> np.ndarray:
        from PIL.Image import Resampling

        size = self.grid.width, self.grid.height
        fitting = image.convert("L" if len(self.grid.mean) == 1 else "RGB")
        fitting = fitting if fitting.size == size else fitting.resize(size, Resampling.BOX)
        levels = np.asarray(fitting, np.float32).reshape(self.grid.height, self.grid.width, -1) / 255
        mean, spread = np.array(self.grid.mean, np.float32), np.array(self.grid.spread, np.float32)
        return ((levels - mean) / spread).transpose(2, 0, 1)

    def _read(self, text: str, target: str, remember: bool) -> Trace:
        return self.trace_tokens(text, self.tokens_of(text), 0, target, None)

    def batch_ids(self, texts: Sequence[Sequence[Token]]) -> Tensor:
        """Return the pixels of the patches of images: [image, position, pixels of a patch], zeros at [CLS]."""
        images = [patches_of(self.grid.pixels(tokens), self.network.config.patch) for tokens in texts if tokens]
        return self.as_tensor(np.stack(images) if images else np.empty(0))


def grid_of(config: TransformerConfig) -> Grid:
    """Return the grid of an encoder's images."""
    mean, spread = ((number,) * config.channels for number in (config.pixel_mean, config.pixel_spread))
    return Grid(config.image, config.image, config.patch, config.patch, mean, spread, ("[CLS]",))


def patches_of(pixels: np.ndarray, size: int) -> np.ndarray:
    """Return the patches of an image [channels, height, width], row by row, behind a row of zeros for [CLS]: [position,
    channels · size²]."""
    channels, height, width = pixels.shape
    cut = pixels.reshape(channels, height // size, size, width // size, size).transpose(1, 3, 0, 2, 4)
    return np.pad(cut.reshape(-1, channels * size**2), ((1, 0), (0, 0)))
