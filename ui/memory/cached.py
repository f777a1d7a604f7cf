"""The Hub models that are already on this machine, as last listed, so that no page waits for the list."""

from __future__ import annotations

import logging
import time

FRESH = 60.0  # seconds

_names: tuple[str, ...] = ()
_listed = float("-inf")  # when, by time.monotonic


def known() -> tuple[str, ...]:
    """Return the names from the last list, without waiting; none before the first call of `names`."""
    return _names


def names(fresh: float = 0.0) -> tuple[str, ...]:
    """Return the names on the Hub; the cache is listed again unless that was less than `fresh` seconds ago."""
    global _names, _listed
    if time.monotonic() - _listed > fresh:
        from models.huggingface.hub import cached_models

        try:
            _names = cached_models()
        except Exception:
            logging.getLogger(__name__).exception("The cache of the Hub could not be listed")
        _listed = time.monotonic()
    return _names
