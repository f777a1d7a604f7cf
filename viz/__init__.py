"""Arrays and tokens in, a picture out: a `View` that a notebook shows and the app mounts, or a Plotly figure."""

from __future__ import annotations

from viz.board import Card, Part, board
from viz.compare_view import compare_view
from viz.head_view import head_view
from viz.model_view import model_view
from viz.prediction_bars import prediction_bars
from viz.query_key_view import query_key_view
from viz.reading_view import reading_view
from viz.token_chips import token_chips
from viz.view import Assets, View, pack, percent

__all__ = [
    "Assets",
    "Card",
    "Part",
    "View",
    "board",
    "compare_view",
    "head_view",
    "model_view",
    "pack",
    "percent",
    "prediction_bars",
    "query_key_view",
    "reading_view",
    "token_chips",
]
