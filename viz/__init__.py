"""Arrays and tokens in, a picture out: a `View` that a notebook shows and the app mounts, or a Plotly figure.

Its names are imported when they are first used: the app needs the addresses of scripts first, numpy later, and Plotly last.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from viz.figures.heatmap import heatmap
    from viz.numbers import percent
    from viz.view import Assets, View, pack
    from viz.views.architecture import Box, architecture
    from viz.views.board import Card, Part, board
    from viz.views.change_list import change_list
    from viz.views.compare_view import compare_view
    from viz.views.grid_view import grid_view
    from viz.views.head_view import head_view
    from viz.views.model_view import model_view
    from viz.views.order_view import order_view
    from viz.views.overview import overview
    from viz.views.patch_view import patch_view
    from viz.views.picture_choice import picture_choice
    from viz.views.pieces_view import pieces_view
    from viz.views.prediction_bars import prediction_bars
    from viz.views.query_key_view import query_key_view
    from viz.views.reading_view import reading_view
    from viz.views.space_view import space_view
    from viz.views.stations_view import stations_view
    from viz.views.sum_view import sum_view
    from viz.views.time_slider import time_slider
    from viz.views.token_chips import token_chips
    from viz.views.way_view import way_view

__all__ = [
    "Assets",
    "Box",
    "Card",
    "Part",
    "View",
    "architecture",
    "board",
    "change_list",
    "compare_view",
    "grid_view",
    "head_view",
    "heatmap",
    "model_view",
    "order_view",
    "overview",
    "pack",
    "patch_view",
    "percent",
    "picture_choice",
    "pieces_view",
    "prediction_bars",
    "query_key_view",
    "reading_view",
    "space_view",
    "stations_view",
    "sum_view",
    "time_slider",
    "token_chips",
    "way_view",
]

_HOMES = {
    **dict.fromkeys(("Assets", "View", "pack"), ".view"),
    **dict.fromkeys(("Card", "Part"), ".views.board"),
    "Box": ".views.architecture",
    "percent": ".numbers",
    "heatmap": ".figures.heatmap",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, f".views.{name}"), __name__), name)
