"""Images that visitors opened in their browsers: kept in memory while their visitors are here, and never written to a disk."""

from __future__ import annotations

import base64
import binascii
import io
import re
from collections import OrderedDict
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from models.images.model import ImageModel
from models.images.opening import open_file
from models.images.written import parse
from ui.memory import visitors

if TYPE_CHECKING:
    from collections.abc import Callable

    from PIL.Image import Image

    from models.language_model import LanguageModel
    from models.reading.inputs import ReadImage
    from models.trace import Trace

TRACES = 4  # readings of a model that stay, so that a click on a picture reads nothing again
AT_MOST, LONGEST = 4, 3_000_000  # images of a visitor, and characters of one in base64: four of 640 × 640 pixels are 5 MB
NAME = re.compile(r"picture-[0-9a-f]{16}\.png")

_lock = Lock()
_images: dict[str, OrderedDict[str, Image]] = {}  # by visitor, the newest last
_traces: WeakKeyDictionary[LanguageModel, OrderedDict[str, Trace]] = WeakKeyDictionary()


def keep(text: str) -> str:
    """Keep the image in this base64 text for the present visitor, and return the name that stands for it in a text box.

    The name comes from the content, so nobody guesses it; whoever knows it, as a class in a room does, sees the image while its
    visitor is here. Errors: ValueError, a sentence, for what is no image.
    """
    if len(text) > LONGEST:
        raise ValueError("The image is too large. Make it smaller.")
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("This is not an image that can be read. Save it as PNG or JPEG.") from error
    image = open_file(io.BytesIO(raw), "Your picture")
    name = f"picture-{sha256(raw).hexdigest()[:16]}.png"
    with _lock:
        mine = _images.setdefault(visitors.me(), OrderedDict())
        mine[name] = image
        mine.move_to_end(name)
        while len(mine) > AT_MOST:
            mine.popitem(last=False)
    return name


def image_of(name: str) -> Image:
    """Return the image of a name. Errors: ValueError, a sentence, for a name without one."""
    with _lock:
        for mine in _images.values():
            if name in mine:
                return mine[name]
    if NAME.fullmatch(name):
        raise ValueError("This picture is not here any more: a visitor’s own picture goes when they leave. Open it again.")
    typed = name if len(name) <= 40 else f"{name[:40]}…"
    raise ValueError(f"“{typed}” is a text, and this model reads pictures. Choose an example, draw, or open a picture.")


def read(model: LanguageModel, text: str) -> ReadImage:
    """Return the image that a text names, cut into tokens for a model. A path of the server is no name here. Errors: ValueError,
    a sentence."""
    assert isinstance(model, ImageModel), "asked of a model of images"
    written = parse(text)
    image = image_of(written.name) if written.is_file else written.pixels()
    return model.read_image(image, written)


def trace_once(model: LanguageModel, text: str, trace: Callable[[ReadImage], Trace]) -> Trace:
    """Return the reading of the image that a text names: one of the last few, or a new one. Errors: as `read`."""
    with _lock:
        known = _traces.setdefault(model, OrderedDict())
        if text in known:
            known.move_to_end(text)
            return known[text]
    new = trace(read(model, text))
    with _lock:
        known[text] = new
        while len(known) > TRACES:
            known.popitem(last=False)
    return new


def is_own(text: str) -> bool:
    """Return whether a text names an image that a visitor opened."""
    return bool(NAME.fullmatch(parse(text).name))


def _keep_for(here: visitors.Here) -> None:
    with _lock:
        for visitor in [visitor for visitor in _images if not here(visitor)]:
            del _images[visitor]
        here_still = {name for mine in _images.values() for name in mine}
        for known in _traces.values():
            for text in [text for text in known if is_own(text) and parse(text).name not in here_still]:
                del known[text]


visitors.leaving.append(_keep_for)
