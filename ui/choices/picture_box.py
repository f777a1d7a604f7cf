"""The choice of a picture for a model of images: examples, a drawing, or the visitor’s own. The text box holds its name."""

from __future__ import annotations

from functools import cache

import numpy as np
import streamlit as st

from models.images.opening import open_image
from models.images.written import MOST, PHOTOS, SIDE, parse
from ui import state
from ui.choices import text_boxes
from ui.escaping import plain
from ui.memory import loaded, pictures
from ui.show import choice, show
from viz.views.picture_choice import picture_choice

KEY = "picture-choice"
DIGITS = tuple(f"digit {digit}" for digit in range(10))
THUMB = 66  # pixels along the longer side of an example
OWN = (
    "Your picture is in this server’s memory while you are here, and in no file. The link has its name and not the picture, so "
    "it opens it only until you leave."
)


def place(name: str) -> None:
    """Place the choice. name: of the model."""
    text = state.box_text(state.TEXT)
    written = parse(text)
    draws = reads_digits(name)
    names = DIGITS if draws else (*(f"photo {name}" for name in PHOTOS), *DIGITS)
    levels = levels_of(text) if draws else None
    view = picture_choice({name: thumbnail(name) for name in names}, written.name, levels, draws=draws)
    show(view, KEY, take_own)
    if pictures.is_own(text):
        st.caption(OWN)


def reads_digits(name: str) -> bool:
    """Return whether a model reads images as small as a drawing."""
    model = loaded.model(name)
    return bool(model.sample.shape[:2] == (SIDE, SIDE))


def take_own() -> None:
    """Read the image that a visitor has opened."""
    match choice(KEY):
        case {"picture": str() as text}:
            try:
                text_boxes.change(state.TEXT, pictures.keep(text))
            except ValueError as error:
                st.toast(plain(str(error)), icon=":material/report:")


@cache
def thumbnail(name: str) -> np.ndarray:
    """Return an example as it is shown in the row: uint8 [height, width, 3]."""
    image = open_image(parse(name).pixels(), "The app")
    image.thumbnail((THUMB, THUMB))
    return np.asarray(image)


def levels_of(text: str) -> np.ndarray | None:
    """Return the levels of a drawing or a digit, uint8 [8, 8]; None for other images."""
    written = parse(text)
    if written.is_file or written.name.startswith("photo"):
        return None
    return np.rint(written.pixels() * MOST).astype(np.uint8)
