"""The pictures of attention that page "Attention" can place: each takes a Look, places its controls, and gives a Picture."""

from __future__ import annotations

from pages.attention.views import bertviz, head, heat, model, query_key, reading

PICTURES = {
    "Head": head.lines,
    "Reading": reading.reading,
    "Model": model.all_heads,
    "Query-key": query_key.numbers,
    "Heatmap": heat.heat,
    "BertViz": bertviz.bertviz,
}
BEGINNER = ("Head", "Reading", "Heatmap")
