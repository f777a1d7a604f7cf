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
        from models.generation import strategy

        return strategy.Strategy
    if name == "Step":
        from models.generation import generate

        return generate.Step
    if name == "load_trace":
        from models.files.open_trace import load_trace

        return load_trace
    if name == "LanguageModel":
        from models import language_model

        return language_model.LanguageModel
    if name == "ModelInfo":
        from models import info

        return info.ModelInfo
    raise AttributeError(f"module 'models' has no attribute {name!r}")
