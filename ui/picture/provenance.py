"""The provenance of a picture: everything needed to make it again. Every saved file contains it."""

from __future__ import annotations

import json
import re
from html import escape
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from models.version import VERSION
from ui import state
from ui.escaping import display_name

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.trace import Trace

LIBRARIES = ("torch", "transformers")
MOST_IN_CELL = 32_767  # characters, as spreadsheets have it
TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')  # a string in JSON


def provenance(*read: tuple[LanguageModel, Trace | None]) -> dict[str, Any]:
    """Return the provenance of the content of a page, in values that JSON has.

    read: each model with the trace that it read; None if nothing was read, as for a vocabulary.
    headlight, torch, transformers: versions. models: for each its name, its weights as `LanguageModel.weights` identifies them,
    and its dtype. texts: for each the text, its token ids, how many characters at its left did not fit, and the target's token
    ids, if any. address: of the view, as far as an address can hold it; "" outside of the app.
    """
    models = {model.info.name: model for model, _ in read}
    return {
        "headlight": VERSION,
        **{name: version(name) for name in LIBRARIES},
        "models": [
            {"name": display_name(model.info.name), "weights": model.weights, "dtype": model.info.dtype}
            for model in models.values()
        ],
        "texts": [of_text(trace) for _, trace in read if trace],
        "address": state.address(),
    }


def of_text(trace: Trace) -> dict[str, Any]:
    target = {"target_ids": [token.id for token in trace.target]} if trace.target else {}
    return {"text": trace.text, "token_ids": [token.id for token in trace.tokens], "left_out": trace.cut, **target}


def as_json(where: dict[str, Any]) -> str:
    """Return JSON in ASCII, which every kind of file accepts."""
    return json.dumps(where)


def as_meta(page: str, where: dict[str, Any]) -> str:
    """Return an HTML page with the provenance in its head."""
    first = '<meta charset="utf-8">'
    return page.replace(first, f'{first}<meta name="provenance" content="{escape(as_json(where))}">', 1)


def as_cell(where: dict[str, Any]) -> str:
    """Return the provenance as JSON for one cell of a CSV.

    A comma or semicolon in a text is written as its code: a spreadsheet that splits cells there would begin a new cell, which
    might be a formula. If a cell has no room for the texts and the address, it gives the lengths of the texts instead.
    """
    written = TEXT.sub(without_commas, as_json(where))
    if len(written) <= MOST_IN_CELL:
        return written
    texts = [{"characters": len(text["text"]), "tokens": len(text["token_ids"])} for text in where["texts"]]
    return TEXT.sub(without_commas, as_json(where | {"texts": texts, "address": ""}))


def without_commas(text: re.Match) -> str:
    return text[0].replace(",", "\\u002c").replace(";", "\\u003b")
