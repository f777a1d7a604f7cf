"""A notebook that draws a picture again, with the recipe's own source and the public API."""

from __future__ import annotations

import ast
import base64
import inspect
import io
import json
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ui.escaping import display_name, loadable_name, plain
from ui.picture.picture import Caption, Picture

# The build of the wheel puts the installed names into these lines, as into those of recipes (`bin/wheel/hook.py`).
LOADS = """
import models
"""
SEES = """
from analysis import scope
"""
HERE = "Run it in Headlight’s own folder (the one that holds `app.py`), with the Python that runs Headlight."
INSTALLED = "Run it with a Python in which Headlight is installed."
WORDS = INSTALLED if __name__.startswith("headlight.") else HERE
CARRIED = "Its numbers are inside of this notebook, because nobody can calculate them again."
TRAINED = "Take the folder of “{}” away on page Train (“Folder (zip)”), and unzip it there first."

PLAINLY = """
from dataclasses import replace

from viz.tokens import plain_signs

queries, keys = (replace(side, tokens=plain_signs(side.tokens, side.start == 0)) for side in (seen.queries, seen.keys))
seen = replace(seen, queries=queries, keys=keys)  # with the signs for start and end as beginners read them"""


def notebook(picture: Picture, about: Caption) -> str:
    """Return the notebook as JSON (nbformat 4.5); the variable `picture` in it is the picture. Errors: ValueError for an option
    that has no literal."""
    trained = dict.fromkeys(
        look.model.info.name for look in picture.looks if loadable_name(look.model.info.name) != look.model.info.name
    )
    words = " ".join([WORDS, *(TRAINED.format(display_name(name)) for name in trained)])
    words += f" {CARRIED}" if picture.data else ""
    cells = [
        ("markdown", f"# {plain(about.title)}\n\n{plain(str(about))}\n\n{words}"),
        ("folded", recipe_source(picture.recipe)),
        *([("folded", looks_source(picture))] if picture.looks else []),
        *([("folded", data_source(picture.data))] if picture.data else []),
        ("code", call_source(picture)),
        ("markdown", f"Where it comes from:\n\n```json\n{json.dumps(about.where, indent=1)}\n```"),
    ]
    return json.dumps(
        {
            "cells": [cell(kind, source, f"cell-{i}") for i, (kind, source) in enumerate(cells)],
            "metadata": {
                "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                "language_info": {"name": "python"},
                "headlight": about.where,
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        },
        indent=1,
    )


def cell(kind: str, source: str, id: str) -> dict[str, Any]:
    """A cell of kind "markdown", "code", or "folded": code whose source is out of sight until a reader unfolds it, so that what a
    reader sees first is the picture."""
    if kind == "markdown":
        return {"cell_type": kind, "id": id, "metadata": {}, "source": source}
    metadata = {"jupyter": {"source_hidden": True}, "tags": ["hide-input"]} if kind == "folded" else {}
    return {"cell_type": "code", "id": id, "metadata": metadata, "source": source, "execution_count": None, "outputs": []}


def recipe_source(recipe: Callable) -> str:
    """Return a recipe's source, with the parts of its module that it uses: imports, constants, other functions."""
    source = Path(inspect.getfile(recipe)).read_text(encoding="utf-8")
    lines, tree = source.splitlines(), ast.parse(source)
    defined: dict[str, ast.stmt] = {}
    imported: dict[str, tuple[ast.Import | ast.ImportFrom, ast.alias]] = {}
    for node in statements(tree.body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= {alias.asname or alias.name.partition(".")[0]: (node, alias) for alias in node.names}
        else:
            defined |= dict.fromkeys(names(node), node)
    names_to_visit = [recipe.__name__]
    used: dict[str, ast.stmt | None] = {}
    while names_to_visit:
        name = names_to_visit.pop()
        if name in used or name not in defined:
            used.setdefault(name)
            continue
        used[name] = defined[name]
        names_to_visit += [part.id for part in ast.walk(defined[name]) if isinstance(part, ast.Name)]
    imports = [
        import_line(node, [alias for name, (of, alias) in imported.items() if of is node and name in used])
        for node in dict.fromkeys(node for node, _ in imported.values())
    ]
    nodes = sorted({id(node): node for node in used.values() if node}.values(), key=lambda node: node.lineno)
    blocks = ["\n".join(lines[first_line(node) - 1 : node.end_lineno]) for node in nodes]
    return "\n\n\n".join(["\n".join(filter(None, imports)), *blocks])


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Return the statements of a module, including those that only a type checker reads."""
    for node in body:
        if isinstance(node, ast.If):
            yield from statements(node.body)
        elif not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            yield node


def names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    return [part.id for target in targets if target for part in ast.walk(target) if isinstance(part, ast.Name)]


def first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])


def import_line(node: ast.Import | ast.ImportFrom, aliases: list[ast.alias]) -> str:
    """Return an import statement reduced to the names that are used; "" if none is."""
    if not aliases:
        return ""
    only = ast.Import(aliases) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, aliases, node.level)
    return ast.unparse(ast.fix_missing_locations(only))


def looks_source(picture: Picture) -> str:
    """Return the code that makes the recipe's input for each look: model, trace, and the shown part of it."""
    reads, looks = "trace" in picture.takes or "seen" in picture.takes, "seen" in picture.takes
    lines, loaded = [LOADS.strip(), *([SEES.strip()] if looks else []), ""], {}
    for i, look in enumerate(picture.looks):
        name = look.model.info.name
        if name not in loaded:
            loaded[name] = f"model{i or ''}"
            lines.append(f"{loaded[name]} = models.load({literal(loadable_name(name))})")
            if reads and look.trace.cut and look.model.at_most:
                lines.append(f"{loaded[name]}.at_most = {look.model.at_most}  # tokens that Headlight reads at a time")
        second = look.second
        texts = literal(look.trace.text) + (f", {literal(second)}" if second else "")
        chosen = "".join(f", {name}={literal(value)}" for name, value in look.scope.options.items()) if looks else ""
        lines += [f"trace{i or ''} = {loaded[name]}.trace({texts})"] if reads else []
        lines += [f"seen{i or ''} = scope(trace{i or ''}.attention[{literal(look.kind)}]{chosen})"] if looks else []
        lines += [PLAINLY.replace("seen", f"seen{i or ''}")] if looks and look.beginner else []
    return "\n".join(lines)


def data_source(data: dict[str, np.ndarray]) -> str:
    """Return the code that reads the arrays from an NPZ in base64."""
    file = io.BytesIO()
    np.savez_compressed(file, **data)  # type: ignore[arg-type]  # its stub takes an array's name for an option
    text = "\n".join(textwrap.wrap(base64.b64encode(file.getvalue()).decode(), 120))
    return f'''import base64
import io

import numpy as np

data = dict(np.load(io.BytesIO(base64.b64decode("""\n{text}\n"""))))'''


def call_source(picture: Picture) -> str:
    models = [look.model.info.name for look in picture.looks]  # each is loaded once
    numbers = [{"model": models.index(model)} for model in models]
    arguments = [f"{name}{numbers[i].get(name, i) or ''}" for i in range(len(models)) for name in picture.takes]
    arguments += [f"{name}={literal(value)}" for name, value in picture.options.items()]
    arguments += ["**data"] if picture.data else []
    return f"picture = {picture.recipe.__name__}({', '.join(arguments)})\npicture"


def literal(value: Any) -> str:
    """Return a value as a Python literal. Errors: ValueError for a value that has none."""
    if isinstance(value, np.generic):
        value = value.item()
    text = repr(value)
    try:
        same = ast.literal_eval(text) == value
    except (ValueError, SyntaxError):
        same = False
    if not same:
        raise ValueError(f"{text[:80]} cannot be written into a notebook: give numbers, text, lists or None.")
    return text
