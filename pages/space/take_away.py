"""What can be taken away of a picture of points: the page, pictures, numbers, and files for TensorBoard's projector."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from analysis.projector import layer_rows, npz, projector_files
from pages.space import scene
from ui import state
from ui.memory.jobs import Report, result
from ui.picture.provenance import as_json, as_meta, provenance
from viz.views.space_view import space_view, token_colours


def draw(
    name: str, made: scene.Arranged, names: Sequence[str], hidden: np.ndarray, columns: dict, values: Any, read: Sequence
) -> None:
    """Buttons, out of the way. columns: a value for each token; values: its colour; read: each model with what it read, as
    `ui.picture.provenance` asks for them."""
    place = st.popover("Take it away", icon=":material/download:", key=f"take-space-{name}", on_change="rerun")
    if place.open:
        with place:
            contents(name, made, names, hidden, columns, values, provenance(*read))


def contents(
    name: str, made: scene.Arranged, names: Sequence[str], hidden: np.ndarray, columns: dict, values: Any, where: dict
) -> None:
    found, axes = made.found, scene.axes(made.found)
    view = space_view(names, found.points, axes=axes, near=made.near, near_by=scene.BY[found.measure], values=values)
    save("Page that plays (HTML)", lambda: as_meta(view.to_html(), where).encode(), f"space-{name}.html", "text/html")
    drawn = {"colours": token_colours(values, len(names)), "axes": axes, "provenance": as_json(where)}
    save("A picture a layer (PNG, zip)", lambda: pictures(names, found.points, drawn), f"space-{name}.zip", "application/zip")
    save("Numbers (NPZ)", lambda: numbers(made, names, hidden, where), f"space-{name}.npz", "application/octet-stream")
    save(
        "TensorBoard projector (TSV, zip)", lambda: projector(hidden, columns, where), f"projector-{name}.zip", "application/zip"
    )
    moving(name, names, found.points, drawn)


def save(label: str, data: Any, file: str, mime: str) -> None:
    st.download_button(label, data, file, mime, key=f"save {file} {label}", on_click="ignore", width="stretch")


def moving(name: str, names: Sequence[str], points: np.ndarray, drawn: dict) -> None:
    """A GIF takes seconds to draw, so it is made when somebody asks."""
    key = ("gif", name, tuple(names), points.tobytes(), tuple(drawn["colours"]), drawn["provenance"])
    if st.button("Make a GIF", key=f"gif {name}", width="stretch"):
        state.GIF.set(hash(key))
    if state.GIF.get() != hash(key):
        return

    def work(report: Report) -> bytes:
        from viz.views.space_view.frames import gif

        return gif(names, points, report=report, **drawn)

    if file := result(key, work, "Drawing the pictures"):
        save("Save the GIF", file, f"space-{name}.gif", "image/gif")


def pictures(names: Sequence[str], points: np.ndarray, drawn: dict) -> bytes:
    from viz.views.space_view.frames import pngs

    return pngs(names, points, **drawn)


def numbers(made: scene.Arranged, names: Sequence[str], hidden: np.ndarray, where: dict) -> bytes:
    found = made.found
    return npz(
        points=found.points,
        hidden=hidden,
        tokens=np.array(names, dtype=str),
        method=np.array(found.method),
        measure=np.array(found.measure),
        provenance=np.array(as_json(where)),
    )


def projector(hidden: np.ndarray, columns: dict, where: dict) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in projector_files(*layer_rows(hidden, columns)).items():
            archive.writestr(name, data)
        archive.writestr("provenance.json", as_json(where))
    return file.getvalue()
