"""Whatever a person gives as an image is read upright as RGB, or refused in a sentence."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from models.images import opening
from models.images.opening import open_image


@pytest.fixture(scope="module")
def colours() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (6, 9, 3), dtype=np.uint8)


def pixels(given) -> np.ndarray:
    return np.asarray(open_image(given, "model"))


def test_an_image_is_the_same_from_a_file_an_array_a_tensor_and_pil(colours, tmp_path):
    Image.fromarray(colours).save(tmp_path / "a.png")
    ways = [colours, torch.tensor(colours), colours / 255, (colours / 255).astype(np.float32), colours.astype(np.int64)]
    for given in (*ways, Image.fromarray(colours), tmp_path / "a.png", str(tmp_path / "a.png")):
        np.testing.assert_array_equal(pixels(given), colours)


def test_grey_is_read_as_three_equal_channels(colours):
    grey = colours[..., 0]
    for given in (grey, grey[..., None], grey / 255, Image.fromarray(grey), Image.fromarray(grey.astype(np.uint16) * 257)):
        np.testing.assert_array_equal(pixels(given), np.repeat(grey[..., None], 3, 2))
    np.testing.assert_array_equal(pixels(grey > 100)[..., 0], 255 * (grey > 100))


def test_a_photograph_is_turned_upright(colours):
    sideways = Image.fromarray(np.rot90(colours).copy())
    exif = sideways.getexif()
    exif[0x0112] = 6  # it must be turned by 90° to the right
    file = io.BytesIO()
    sideways.save(file, "PNG", exif=exif)
    np.testing.assert_array_equal(pixels(Image.open(file)), colours)


def test_what_is_transparent_is_white(colours):
    clear = np.dstack([colours, np.full(colours.shape[:2], 255, np.uint8)])
    clear[0, :, 3] = 0
    expected = colours.copy()
    expected[0] = 255
    np.testing.assert_array_equal(pixels(clear), expected)
    np.testing.assert_array_equal(pixels(Image.fromarray(clear)), expected)
    palette = Image.fromarray(np.array([[0, 1]], np.uint8), "P")
    palette.putpalette([10, 20, 30, 40, 50, 60])
    palette.info["transparency"] = 1
    np.testing.assert_array_equal(pixels(palette)[0], [[10, 20, 30], [255, 255, 255]])


def test_cmyk_is_read_as_rgb_and_of_an_animation_the_first_frame(colours, tmp_path):
    image = Image.fromarray(colours).convert("CMYK")
    image.save(tmp_path / "a.tiff")
    np.testing.assert_array_equal(pixels(tmp_path / "a.tiff"), np.asarray(image.convert("RGB")))
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    assert pixels(tmp_path / "a.gif")[0, 0].tolist() == [255, 0, 0]


def broken(folder: Path) -> dict[str, object]:
    """Return inputs that cannot be read, each with a part of the sentence that refuses it."""
    file = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)).save(file, "PNG")
    (folder / "cut.png").write_bytes(file.getvalue()[:3000])
    (folder / "text.png").write_text("The cat sat on the mat.")
    (folder / "large.png").write_bytes(claims(10_000, 5_000))
    (folder / "bomb.png").write_bytes(claims(60_000, 60_000))
    return {
        "“cut.png” is broken or cut short": folder / "cut.png",
        "“text.png” is not an image": folder / "text.png",
        "too large (10,000 × 5,000): at most 40 million pixels": folder / "large.png",
        "too large (bomb.png)": folder / "bomb.png",
        "there is no file “The cat sat on the mat.”": "The cat sat on the mat.",
        "there is no file “aaaa": "a" * 100_000,
        "there is no file “\0": "\0",
        "[3, 8, 8]. Move its first axis to the end": np.zeros((3, 8, 8)),
        "this has shape [4]": np.zeros(4),
        "this has shape [2, 8, 8, 3]": np.zeros((2, 8, 8, 3)),
        "this has shape [8, 8, 2]": np.zeros((8, 8, 2)),
        "of shape [0, 8, 3] has none": np.zeros((0, 8, 3)),
        "these go from 0 to 16. Scale them first": np.full((8, 8), 16.0) * np.eye(8),
        "these go from -1 to": np.eye(8) * 2 - 1,
        "these go from 0 to 300": np.eye(8, dtype=int) * 300,
        "these go from nan": np.full((8, 8), np.nan),
        "these are of type complex128": np.zeros((8, 8), complex),
        "1,000 × 10 pixels: it is too long and narrow": np.zeros((10, 1000)),
        "this is None": None,
        "this is of type dict": {},
        "there is no file “.”": ".",
    }


def claims(width: int, height: int) -> bytes:
    """A PNG file whose header claims a size, with almost no pixels."""
    chunks = {b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0), b"IDAT": zlib.compress(b"0"), b"IEND": b""}
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks.items()
    )


def test_what_cannot_be_read_is_refused_in_a_sentence(tmp_path):
    for words, given in broken(tmp_path).items():
        with pytest.raises((ValueError, TypeError)) as caught:
            open_image(given, "model")
        message = str(caught.value)
        assert words in message and message.endswith((".", ")")) and len(message) < 300


def test_a_large_image_in_memory_is_refused_too(monkeypatch):
    monkeypatch.setattr(opening, "MOST_PIXELS", 63)
    for given in (np.zeros((8, 8)), Image.new("RGB", (8, 8))):
        with pytest.raises(ValueError, match="too large"):
            open_image(given, "model")
