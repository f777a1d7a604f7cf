"""A picture as a file: its present state on the page as SVG or PNG, made in the browser; figures and tables as a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from viz.figures.style import on_page
from viz.palette import DARK, LIGHT
from viz.view import View, pack

if TYPE_CHECKING:
    import pandas as pd


def export_view(key: str, name: str, title: str, caption: str, provenance: str = "", part: str = "") -> View:
    """Draw two buttons, PNG and SVG, for the picture with that Streamlit key, and a choice of its background (the page's, white
    or none) and its colours (as on screen, light or dark).

    name: of the files, without an ending; title and caption: written into the files, SVG as <title> and <desc>, PNG as text
    chunks; provenance: of the picture, as JSON, in <metadata> or a text chunk; part: the part of a board to save.
    """
    header = {
        "key": key,
        "name": name,
        "title": title,
        "caption": caption,
        "provenance": provenance,
        "part": part,
        "themes": {"light": LIGHT, "dark": DARK},
    }
    return View("export", pack(header), f"{title}, as a file")


def figure_page(figure: go.Figure, title: str, caption: str, dark: bool = False) -> str:
    """Return a Plotly figure with its caption as one self-contained page that contains Plotly's script and makes no requests.

    dark: whether it has the colours of a dark page.
    """
    config = {"displaylogo": False, "responsive": True, "topojsonURL": ""}
    template = "plotly_dark" if dark else "plotly_white"  # Streamlit's own template has colours for Streamlit only
    figure = on_page(go.Figure(figure), dark).update_layout(template=template)
    body = figure.to_html(full_html=False, include_plotlyjs=True, include_mathjax=False, config=config)
    return _PAGE.format(title=escape(title), body=body, caption=escape(caption), **(DARK if dark else LIGHT))


def table_page(table: pd.DataFrame, title: str, caption: str, dark: bool = False) -> str:
    """Return a table with its caption as one self-contained page."""
    body = table.to_html(index=False, border=0)
    return _PAGE.format(title=escape(title), body=body, caption=escape(caption), **(DARK if dark else LIGHT))


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 0; padding: 12px; background: {paper}; color: {ink}; font: 14px/1.5 system-ui, sans-serif; }}
table {{ border-collapse: collapse; }}
th, td {{ padding: 2px 14px 2px 0; text-align: left; border-bottom: 1px solid {line}; white-space: pre; }}
p {{ margin: 16px 0 0; max-width: 80ch; color: {soft}; overflow-wrap: anywhere; }}
</style>
</head>
<body>
<main>{body}</main>
<p class="caption">{caption}</p>
</body>
</html>
"""
