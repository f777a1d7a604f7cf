"""More downloads of a picture of points: an image of each layer, a GIF, and files for TensorBoard's projector."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import streamlit as st

from analysis.projector import layer_rows, projector_files
from pages.space import state as page_state
from pages.space.recipes import axis_names
from pages.space.scene import Points
from ui.memory.jobs import Report, result
from ui.picture.caption import caption
from ui.picture.picture import Picture
from ui.picture.provenance import as_json
from viz.views.space_view import layer_names, token_colours


def draw(picture: Picture) -> None:
    if not isinstance(picture, Points):
        return
    about = caption(picture)
    where, drawing = as_json(about.where), drawing_of(picture, as_json(about.where))
    with st.container(gap="xsmall"):
        st.caption("More")
        row = st.container(horizontal=True, gap="small")
    with row:
        save("TensorBoard", lambda: projector(picture, where), f"{about.stem}-projector.zip", "application/zip", PROJECTOR)
        if len(picture.hidden) == 1:
            return
        save("PNG of each layer", lambda: pictures(drawing), f"{about.stem}-layers.zip", "application/zip")
        if st.button("Make a GIF", key=f"gif {picture.key}", help="The points moving through all layers. It takes some seconds."):
            page_state.GIF.set(hash(fingerprint(drawing)))
    offer_gif(drawing, f"{about.stem}.gif")


PROJECTOR = "All dimensions of every point, for TensorBoard’s projector (projector.tensorflow.org)."


def drawing_of(picture: Points, where: str) -> dict[str, Any]:
    """Return the arguments of the functions of `viz.views.space_view.frames`."""
    arrangement, options = picture.arranged.projection, picture.options
    return {
        "tokens": picture.names,
        "points": arrangement.points,
        "colours": token_colours(picture.values, len(picture.names)),
        "axes": None if options["simple"] else axis_names(arrangement),
        "stages": layer_names(len(picture.hidden), picture.layers),
        "provenance": where,
    }


def save(label: str, data: Any, file: str, mime: str, words: str | None = None) -> None:
    st.download_button(label, data, file, mime, key=f"take-{file}", help=words, on_click="ignore")


def fingerprint(drawing: dict[str, Any]) -> tuple:
    return ("gif", *(value.tobytes() if name == "points" else str(value) for name, value in drawing.items()))


def offer_gif(drawing: dict[str, Any], file: str) -> None:
    """Offer the GIF once it was asked for, because drawing it takes seconds."""
    key = fingerprint(drawing)
    if page_state.GIF.get() != hash(key):
        return

    def work(report: Report) -> bytes:
        from viz.views.space_view.frames import gif

        return gif(**drawing, report=report)

    if data := result(key, work, "Drawing the pictures"):
        save("Save the GIF", data, file, "image/gif")


def pictures(drawing: dict[str, Any]) -> bytes:
    from viz.views.space_view.frames import pngs

    return pngs(**drawing)


def projector(picture: Points, where: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in projector_files(*layer_rows(picture.hidden, picture.columns, picture.layers)).items():
            archive.writestr(name, data)
        archive.writestr("provenance.json", where)
    return file.getvalue()
