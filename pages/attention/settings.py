"""Settings of page "Attention": the choices that no other page has."""

from __future__ import annotations

from dataclasses import dataclass

from pages.attention.window import Window


@dataclass(frozen=True)
class Settings:
    """The choices that only this page has, as plain values: from the session, or from a message.

    shade, order, only, heat: values of the views' pickers, as these name them. query: the query of the view "Query-key"; None:
    the selected token, or the newest. heads: those whose lines are on in the view "Head"; of_head: the chosen head to which they
    were added. single: the head of the layer that a beginner chose; None: the favourite. key: the selected token on the side of
    the keys. window: of a long text. theme: of BertViz's page.
    """

    view: str = "Head"
    shade: str = "head"
    order: str = "layer"
    only: str = "all"
    heat: str = "one head"
    query: int | None = None
    heads: tuple[int, ...] = ()
    of_head: int | None = None
    single: int | None = None
    key: int | None = None
    window: Window | None = None
    theme: str = "auto"
