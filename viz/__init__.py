"""Arrays and tokens in, a picture out: a `View` that a notebook shows and the app mounts, or a Plotly figure."""

from __future__ import annotations

from viz.architecture import Box, architecture
from viz.board import Card, Part, board
from viz.compare_view import compare_view
from viz.grid_view import grid_view
from viz.head_view import head_view
from viz.model_view import model_view
from viz.overview import overview
from viz.prediction_bars import prediction_bars
from viz.query_key_view import query_key_view
from viz.reading_view import reading_view
from viz.space_view import space_view
from viz.time_slider import time_slider
from viz.token_chips import token_chips
from viz.view import Assets, View, pack, percent

__all__ = [
    "Assets",
    "Box",
    "Card",
    "Part",
    "View",
    "architecture",
    "board",
    "compare_view",
    "grid_view",
    "head_view",
    "model_view",
    "overview",
    "pack",
    "percent",
    "prediction_bars",
    "query_key_view",
    "reading_view",
    "space_view",
    "time_slider",
    "token_chips",
]
