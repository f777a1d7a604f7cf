"""Models whose insides are recorded: `names()`, `load(name)`, and the types of their results.

Nothing heavy is imported until a model is loaded.
"""

from typing import Any

from models.catalog import load, load_tokenizer, names
from models.tokens import Prediction, Token

__all__ = [
    "Attention",
    "LanguageModel",
    "ModelInfo",
    "Prediction",
    "Step",
    "Strategy",
    "Token",
    "Trace",
    "load",
    "load_tokenizer",
    "load_trace",
    "names",
]


def __getattr__(name: str) -> Any:
    if name in ("Attention", "Trace"):
        from models import trace

        return getattr(trace, name)
    if name == "Strategy":
        from models import strategy

        return strategy.Strategy
    if name == "Step":
        from models import generation

        return generation.Step
    if name == "load_trace":
        from models import opening

        return opening.load_trace
    if name in ("LanguageModel", "ModelInfo"):
        from models import language_model

        return getattr(language_model, name)
    raise AttributeError(f"module 'models' has no attribute {name!r}")
