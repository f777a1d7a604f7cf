"""The input of a model: a text or the ids of its tokens, or an image."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Number
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

from models.images.opening import is_image
from models.reading.long_texts import beginning, moved
from models.tokens import Token

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image
    from torch import Tensor

    from models.reading.readable import ReadableModel

# A text, or ids; for a model of images, an image as `models.images.opening` takes it.
Text: TypeAlias = "str | Sequence[int] | Image | np.ndarray | Tensor | PathLike[str]"
SECOND = "The second text"


class Spelt(str):
    """The text of tokens that were passed as ids. These are read, even if a tokenizer would cut the text otherwise."""

    tokens: list[Token]

    def __bool__(self) -> bool:
        return bool(self.tokens)  # special tokens have no text, but are read


class ReadImage(Spelt):
    """An image that was cut into tokens for a model, in the place of a text: as a str it is a name, another one for each image.

    reader: the name of the model.
    """

    reader: str


def are_ids(text: object) -> bool:
    """Return whether this is one text as ids: a list of numbers, or an array or tensor with one dimension."""
    if isinstance(text, str | bytes):
        return False
    if (dimensions := getattr(text, "ndim", None)) is not None:
        return dimensions == 1
    return isinstance(text, Sequence) and len(text) > 0 and all(isinstance(element, Number) for element in text)


def text_of(model: ReadableModel, text: Any, what: str = "The text") -> str:
    """Return a text unchanged, or the text of ids as `Spelt`. what: its name in error messages; `SECOND` for the second text.

    A model of images gets an image as `ReadImage`.
    Errors: TypeError for neither a text nor ids, and for an image that is given to a model of texts; ValueError for an id that
    the model does not have; for images see `models.images.model`.
    """
    if "image" in model.info.reads:
        return _image_of(model, text, what)
    if isinstance(text, ReadImage) or is_image(text):
        raise TypeError(f'{model.info.name} reads text, and this is an image. Load a model of images, such as "digits".')
    if isinstance(text, str):
        return text
    if hasattr(text, "tolist"):  # of numpy or torch
        text = text.tolist()
    if not isinstance(text, Sequence) or isinstance(text, bytes):
        kind = "None" if text is None else f"of type {type(text).__name__}"
        raise TypeError(f"{what} must be a str or a list of token ids; it is {kind}.")
    if strange := [id for id in text if not isinstance(id, int) or isinstance(id, bool)]:
        raise TypeError(f"{what} holds {strange[0]!r}: the ids of one text are a list of whole numbers.")
    if strange := [id for id in text if not 0 <= id < model.ids]:
        raise ValueError(f"{model.info.name} has no token {strange[0]}: its tokens are 0 to {model.ids - 1:,}.")
    if what == "The text" and not text:
        raise ValueError("There is no token to read: the list of ids is empty.")
    segment = int(what == SECOND and model.info.kind == "encoder")
    tokens: list[Token] = []
    for id in text:
        (token_text, fragment), special = model.vocabulary.text(id), model.is_special(id)
        at = tokens[-1].end if tokens else 0
        tokens.append(Token(id, token_text, at, at if special else at + len(token_text), special, fragment, segment))
    spelt = Spelt("".join(token.text for token in tokens if not token.special))
    spelt.tokens = tokens
    return spelt


def _image_of(model: ReadableModel, image: Any, what: str) -> str:
    if what != "The text":
        if isinstance(image, str) and not image:
            return ""
        raise ValueError(f"{model.info.name} reads one image at a time. Leave the second input empty.")
    if isinstance(image, ReadImage) and image.reader == model.info.name:
        return image
    return model.read_image(image)


def tokens_at_end(tokens_of: Callable[[str], list[Token]], text: str, room: int | None) -> list[Token]:
    """Return the tokens of a text; of a long text, only those of an end longer than what fits; of ids, their own tokens."""
    if isinstance(text, Spelt):
        return list(text.tokens)
    start = beginning(tokens_of, text, room)
    return moved(tokens_of(text[start:]), start)
