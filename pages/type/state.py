"""The choices of page "Type"."""

from __future__ import annotations

from ui.state import link

TEMPERATURE, BAR_COUNT = link("temperature", default=1.0), link("bars", default=10)
