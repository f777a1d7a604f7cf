"""The pictures of page "Attention": functions of a draft, a look and settings, each of which returns a picture, or a sentence
where there is none."""

from __future__ import annotations

from collections.abc import Callable

from pages.attention.settings import Settings
from pages.attention.views import bertviz, head, heat, model, query_key, reading
from pages.attention.window import WHOLE
from ui.look import Look
from ui.picture.board import Draft, Note
from ui.picture.picture import Picture

PICTURES: dict[str, Callable[[Draft, Look, Settings], Picture | Note]] = {
    "Head": head.lines,
    "Reading": reading.reading,
    "Model": model.all_heads,
    "Query-key": query_key.numbers,
    "Heatmap": heat.heat,
    "BertViz": bertviz.bertviz,
}
BEGINNER = ("Head", "Reading", "Heatmap")
WIDE = WHOLE  # with their words below them
