"""See what a transformer sees: attention, hidden states and predictions of any transformer, and pictures of them.

>>> from headlight import analysis, models, viz
>>> model = models.load("writer")
>>> model.predict("Once upon a time")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from headlight.models.version import VERSION as __version__

if TYPE_CHECKING:
    from headlight import analysis, models, viz

__all__ = ["__version__", "analysis", "models", "viz"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
