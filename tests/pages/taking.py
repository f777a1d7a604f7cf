"""The pictures that a page offers to take away, and what is taken of them, without a browser."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
import streamlit
from streamlit.testing.v1 import AppTest

import models
from tests.pages.opening import open_link
from ui.escaping import loadable_name
from ui.picture import take_away
from ui.picture.caption import caption
from ui.picture.files import csv, npz
from ui.picture.notebook import notebook
from ui.picture.picture import Picture
from viz.figures.style import on_page
from viz.view import View


class Unfolded:
    """A popover that stands open."""

    open = True

    def __init__(self, place):
        self.place = place

    def __enter__(self):
        return self.place.__enter__()

    def __exit__(self, *error):
        return self.place.__exit__(*error)


def offered(monkeypatch: pytest.MonkeyPatch, page: str, link: str = "") -> dict[str, Picture]:
    """What can be taken away of a page at a link, by the name of each picture."""
    return opened(monkeypatch, page, link)[1]


def opened(monkeypatch: pytest.MonkeyPatch, page: str, link: str = "") -> tuple[AppTest, dict[str, Picture]]:
    """A page at a link, and what can be taken away of it, by the name of each picture."""
    pictures_by_name: dict[str, Picture] = {}

    def keep(key: str, pictures: Sequence[Picture]) -> None:
        pictures_by_name.update({picture.name: picture for picture in pictures})

    with monkeypatch.context() as patch:
        patch.setattr(take_away, "choose_picture", keep)
        patch.setattr(streamlit, "popover", lambda *given, **options: Unfolded(streamlit.container()))
        app = open_link(page, link)
    return app, pictures_by_name


class Read:
    """A model, to which each text is what the page has read: reading on from another text may differ in the last digit."""

    def __init__(self, made: Picture, name: str):
        self.looks = [look for look in made.looks if loadable_name(look.model.info.name) == name]
        assert self.looks, f"the page shows nothing of {name}"

    def __getattr__(self, name: str):
        return getattr(self.looks[0].model, name)

    def trace(self, text: str, second: str = "", remember: bool = True):
        if not remember:
            return self.looks[0].model.trace(text, second, remember=False)
        (trace,) = {
            id(look.trace): look.trace for look in self.looks if (look.trace.text, look.second) == (text, second)
        }.values()
        return trace


def made_again(made: Picture) -> View | go.Figure | pd.DataFrame:
    """The picture of its notebook, whose cells are run here."""
    namespace: dict = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "load", lambda name: Read(made, name))
        for cell in json.loads(notebook(made, caption(made)))["cells"]:
            if cell["cell_type"] == "code":
                exec(cell["source"], namespace)
    return namespace["picture"]


def data(drawn: View | go.Figure | pd.DataFrame) -> bytes:
    """All that a picture shows; a figure's template is no part of it, nor is the accent that a page has: Streamlit brings one,
    Jupyter another."""
    if isinstance(drawn, View):
        return drawn.data
    if isinstance(drawn, pd.DataFrame):
        return drawn.to_csv().encode()
    return on_page(drawn, dark=False).update_layout(template=None).to_json().encode()


def assert_made_again(made: Picture, within: float = 1e-4) -> None:
    """Its notebook draws what stands on the page; numbers within a share that another order of adding may change."""
    assert_alike(header(made_again(made)), header(made.drawn), made.name, within)


def header(drawn: View | go.Figure | pd.DataFrame) -> object:
    """What a picture shows, as JSON, and the bytes of its arrays as numbers."""
    if isinstance(drawn, pd.DataFrame):
        return drawn.reset_index().astype(object).to_dict("split")
    if not isinstance(drawn, View):
        return json.loads(data(drawn), object_hook=numbers)
    length = int.from_bytes(drawn.data[:4], "little")
    content = json.loads(drawn.data[4 : 4 + length])
    begin = 4 + length + -(4 + length) % 8
    for array in content["arrays"].values():
        count = int(np.prod(array["shape"]))
        array["values"] = np.frombuffer(drawn.data, array["dtype"], count, begin + array["offset"]).tolist()
    return content


def numbers(array: dict) -> dict:
    """The numbers of an array, where a figure has their bytes."""
    return (
        array | {"bdata": np.frombuffer(base64.b64decode(array["bdata"]), array["dtype"]).tolist()} if "bdata" in array else array
    )


def assert_alike(a: object, b: object, where: str, within: float) -> None:
    """The same, whole numbers and words exactly."""
    if isinstance(a, dict) and isinstance(b, dict):
        assert a.keys() == b.keys(), where
        for name in a:
            assert_alike(a[name], b[name], f"{where}.{name}", within)
    elif isinstance(a, list) and isinstance(b, list):
        assert len(a) == len(b), where
        for at, (value, other) in enumerate(zip(a, b, strict=True)):
            assert_alike(value, other, f"{where}.{at}", within)
    elif isinstance(a, float) or isinstance(b, float):
        assert a == pytest.approx(b, rel=within, abs=1e-5, nan_ok=True), where
    else:
        assert a == b, where


def table(made: Picture) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(csv(made, caption(made))), keep_default_na=False).drop(columns="provenance")


def arrays(made: Picture) -> np.lib.npyio.NpzFile:
    return np.load(io.BytesIO(npz(made, caption(made))), allow_pickle=False)
