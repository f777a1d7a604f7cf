"""Settings of page "Attention": the choices that no other page has."""

from __future__ import annotations

from dataclasses import dataclass

from pages.attention.window import Window


@dataclass(frozen=True)
class Settings:
    """The choices that only this page has, as plain values: from the session, or from a message.

    shade, order, only, heat: of the pickers of the views, as these name them. query: whose numbers the view "Query-key" has;
    None: the chosen token, or the newest. heads: whose lines are switched on in the view "Head"; of_head: beside
    which chosen head. key: the token whose lines are held by who looks at it. window: of a long text. theme: of BertViz's page.
    """

    view: str = "Head"
    shade: str = "head"
    order: str = "layer"
    only: str = "all"
    heat: str = "one head"
    query: int | None = None
    heads: tuple[int, ...] = ()
    of_head: int | None = None
    key: int | None = None
    window: Window | None = None
    theme: str = "auto"
