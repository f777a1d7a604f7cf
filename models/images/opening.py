"""Opens whatever a person gives as an image, and says in a sentence what cannot be read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from models.numbers.sizes import count

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 40_000_000
LONGEST = 20  # times as long as wide, at most: a model's resizing would make a strip enormous
GIVE = "Give a PIL image, an array [height, width, 3] or the path of an image file."


def is_image(given: object) -> bool:
    """Return whether this is an image in memory or a path as an object: a PIL image, or an array or tensor with at least two
    dimensions."""
    return isinstance(given, os.PathLike) or _is_pil(given) or getattr(given, "ndim", 0) >= 2


def open_image(given: Any, name: str) -> Image:
    """Return an image as RGB, upright. name: of the model that reads it, for messages.

    given: a PIL image; an array or tensor [height, width, 3] (also 4 with transparency, 1 or none for grey), of whole numbers
    from 0 to 255 or of floats from 0 to 1; or the path of a file. A photograph is turned upright as its EXIF data says, what is
    transparent is put on white, CMYK and 16 bits a channel become RGB of 8 bits, and of an animation the first frame is read.
    Errors: ValueError or TypeError, a sentence, for a file that cannot be read, for more than MOST_PIXELS, for a strip, and for
    arrays of another shape or range.
    """
    if isinstance(given, str | os.PathLike):
        return _open_file(Path(given).expanduser(), name)
    if _is_pil(given):
        return _upright(given)
    array = given.detach().cpu().numpy() if hasattr(given, "detach") else given
    if not isinstance(array, np.ndarray):
        kind = "None" if given is None else f"of type {type(given).__name__}"
        raise TypeError(f"{name} reads images, and this is {kind}. {GIVE}")
    return _of_array(array)


def _is_pil(given: object) -> bool:
    from PIL.Image import Image

    return isinstance(given, Image)


def _open_file(path: Path, name: str) -> Image:
    typed = str(path) if len(str(path)) <= 60 else str(path)[:60] + "…"
    try:
        is_file = path.is_file()
    except (OSError, ValueError):  # a text that is no path
        is_file = False
    if not is_file:
        raise ValueError(f"{name} reads images, and there is no file “{typed}”. {GIVE}")
    return open_file(path, path.name)


def open_file(file: Path | BinaryIO, title: str) -> Image:
    """Return the image in a file as RGB, upright. title: how messages name it. Errors: ValueError, a sentence."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(file) as opened:
            _check_size(*opened.size)
            opened.load()
            return _upright(opened)
    except UnidentifiedImageError as error:
        raise ValueError(f"“{title}” is not an image that can be read. Save it as PNG or JPEG.") from error
    except Image.DecompressionBombError as error:
        raise ValueError(_too_large(title)) from error
    except (OSError, SyntaxError, EOFError) as error:  # PIL has no error of its own for a broken file
        raise ValueError(f"The image file “{title}” is broken or cut short. Save it again, as PNG or JPEG.") from error


def _upright(image: Image) -> Image:
    """Return an image as RGB, upright and on white. Errors: ValueError for its size."""
    from PIL import Image, ImageOps

    _check_size(*image.size)
    try:
        first = image.convert("RGBA") if image.mode == "P" else image
        upright = ImageOps.exif_transpose(first)
        if upright.mode.startswith(("I", "F")):
            return _of_depth(np.asarray(upright))
        if upright.has_transparency_data:
            upright = upright.convert("RGBA")
            return Image.alpha_composite(Image.new("RGBA", upright.size, "white"), upright).convert("RGB")
        return upright.convert("RGB")
    except (OSError, SyntaxError, EOFError) as error:
        raise ValueError("The image is broken or cut short. Save it again, as PNG or JPEG.") from error


def _of_depth(levels: np.ndarray) -> Image:
    """Return grey levels of 16 bits, or floats of 0 to 1, as an image."""
    return _of_array(levels if levels.dtype.kind == "f" else np.clip(levels / 65535, 0, 1))


def _of_array(array: np.ndarray) -> Image:
    from PIL import Image

    shape = list(array.shape)
    if array.ndim == 3 and shape[0] in (1, 3, 4) and shape[2] not in (1, 3, 4):
        raise ValueError(f"An image is an array [height, width, 3]; this has shape {shape}. Move its first axis to the end.")
    if not (array.ndim == 2 or (array.ndim == 3 and shape[2] in (1, 3, 4))):
        raise ValueError(f"An image is an array [height, width, 3], or [height, width] for grey; this has shape {shape}.")
    if not array.size:
        raise ValueError(f"An image has pixels; this array of shape {shape} has none.")
    _check_size(shape[1], shape[0])
    if array.dtype.kind not in "buif":
        raise ValueError(f"The pixels of an image are numbers; these are of type {array.dtype}.")
    most = 1 if array.dtype.kind in "bf" else 255
    least, largest = float(array.min()), float(array.max())
    if not (least >= 0 and largest <= most):  # also where one is NaN
        what = "floats from 0 to 1" if most == 1 else "whole numbers from 0 to 255"
        raise ValueError(f"The pixels of an image are {what}; these go from {least:g} to {largest:g}. Scale them first.")
    levels = np.rint(array.astype(np.float64) * (255 / most)).astype(np.uint8)
    image = Image.fromarray(levels[..., 0] if array.ndim == 3 and shape[2] == 1 else levels)
    return _upright(image)


def _check_size(width: int, height: int) -> None:
    if width * height > MOST_PIXELS:
        raise ValueError(_too_large(f"{width:,} × {height:,}"))
    if max(width, height) > LONGEST * max(1, min(width, height)):
        raise ValueError(f"The image has {width:,} × {height:,} pixels: it is too long and narrow. Cut it to a wider part.")


def _too_large(what: str) -> str:
    return f"The image is too large ({what}): at most {count(MOST_PIXELS)} pixels are read. Make it smaller."
