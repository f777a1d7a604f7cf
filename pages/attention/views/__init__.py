"""The pictures of page "Attention": functions of a Look, each of which places its controls and returns a Picture."""

from __future__ import annotations

from pages.attention.views import bertviz, head, heat, model, query_key, reading
from ui import state

DRAWN = (head.lines, reading.reading, model.all_heads, query_key.numbers, heat.heat, bertviz.bertviz)
PICTURES = dict(zip(state.VIEW.values, DRAWN, strict=True))
BEGINNER = ("Head", "Reading", "Heatmap")
