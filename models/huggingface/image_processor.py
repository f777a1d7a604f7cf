"""The processor of a folder, which makes an image into numbers: opened, tried and measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from models.errors import ModelError
from models.huggingface.folder import PROCESSORS, numbers, read_json
from models.huggingface.names import quoted, short
from models.images.grid import Grid

if TYPE_CHECKING:
    from PIL.Image import Image
    from transformers import BaseImageProcessor, PreTrainedConfig

MOST = 4096  # pixels along a side, of what a processor makes
SAMPLE = 96, 64  # width and height
CLOSE = 0.02  # of the spread: how far the pixels of a grey image may be from where those of a black and of a white one put them


def open_processor(path: Path, name: str) -> BaseImageProcessor:
    """Open the image processor of a folder, one that needs no torchvision. Errors: ModelError."""
    from transformers import AutoImageProcessor

    for file in PROCESSORS:
        settings = read_json(path / file, file) if (path / file).is_file() else {}
        sides = [number for key, number in numbers(settings) if key.endswith(("height", "width", "edge", "size"))]
        if (longest := max(sides, default=0)) > MOST:
            raise ModelError(
                f"The image processor of {quoted(name)} makes images with sides of {short(longest)} pixels, which is too many."
            )
    try:
        return AutoImageProcessor.from_pretrained(path, backend="pil", local_files_only=True, trust_remote_code=False)
    except Exception as error:
        raise ModelError(f"The image processor of {quoted(name)} could not be loaded: {short(error, 160)}") from error


def check_processor(processor: BaseImageProcessor, name: str) -> None:
    """Check that a processor makes one array of each image, always of the same size. Errors: ModelError."""
    from PIL.Image import new

    width, height = SAMPLE
    try:
        shapes = {pixels_of(processor, new("RGB", size)).shape for size in ((width, height), (height, 2 * width))}
    except Exception as error:  # each family raises its own error
        raise ModelError(f"The image processor of {quoted(name)} does not read a plain image: {short(error, 120)}") from error
    if len(shapes) > 1 or len(next(iter(shapes))) != 3:
        raise ModelError(
            f"The image processor of {quoted(name)} makes another number of patches of each image; Headlight shows none such. "
            "Choose a model whose images all have one size."
        )


def pixels_of(processor: BaseImageProcessor, image: Image) -> np.ndarray:
    """Return an image, RGB, as the model reads it: float32 [channels, height, width]."""
    inputs: Any = processor(images=image, return_tensors="np")
    return np.asarray(inputs["pixel_values"][0], np.float32)


def grid_of(processor: BaseImageProcessor, config: PreTrainedConfig, title: str) -> Grid:
    """Return the grid of a model's patches, without the tokens before them.

    The mean and the spread of pixels are measured, with a black, a white and a grey image. title: of the network, for messages.
    Errors: ModelError where the config names no size of patches, and where a processor does more than scale pixels.
    """
    from PIL.Image import new

    size = getattr(config, "patch_size", None)
    sides = tuple(size) if isinstance(size, list | tuple) else (size, size)
    if len(sides) != 2 or not all(isinstance(side, int) and side > 0 for side in sides):
        raise ModelError(f"{title} does not cut an image into patches of one size, so it has no tokens that could be shown.")
    black, white, grey = (pixels_of(processor, new("RGB", SAMPLE, (level,) * 3)) for level in (0, 255, 51))
    middle = (..., black.shape[1] // 2, black.shape[2] // 2)  # a margin may be filled up
    low, high = black[middle], white[middle]
    if not (high > low).all() or np.abs((grey[middle] - low) / (high - low) - 0.2).max() > CLOSE:
        raise ModelError(f"The image processor of {title} does more than resize images and scale their pixels.")
    spread = 1 / (high - low)
    mean = tuple(float(number) for number in -low * spread)
    height, width = black.shape[1:]
    return Grid(height, width, sides[0], sides[1], mean, tuple(float(number) for number in spread))
