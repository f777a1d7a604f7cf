"""The JavaScript modules of the views, joined into one script for a browser or a saved page."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_IMPORT = re.compile(r'^import \{([^{}]*)\} from "([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function (\w+)\(|class (\w+)|const (\w+) =)", re.MULTILINE)
_TYPES = re.compile(r"^ */\*\*(?:[^*]|\*(?!/))*\*/\n", re.MULTILINE)  # JSDoc comments, which have lines of their own
_CASTS = re.compile(r"/\*\* @type \{[^\n]*?\} \*/ ?")  # of a value, inside a line
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


@cache
def sources() -> dict[str, str]:
    """Return every module by its path inside `viz`, such as "shared/number.js"; files are read once."""
    files = sorted([_HERE / "page.js", _HERE / "fetched.js", *_HERE.glob("shared/*.js"), *_HERE.glob("views/*/*.js")])
    return {file.relative_to(_HERE).as_posix(): file.read_text("utf-8") for file in files}


@cache
def version() -> str:
    """Return sixteen digits that change whenever a module or a style sheet does."""
    styles = (file.read_text("utf-8") for file in sorted(_HERE.glob("**/*.css")))
    return hashlib.sha256("\0".join([*sources(), *sources().values(), *styles]).encode()).hexdigest()[:16]


def without_types(script: str) -> str:
    """Return a script without the comments that only the type checker reads, so that they are not sent to browsers."""
    return _CASTS.sub("", _TYPES.sub("", script))


def imported(path: str) -> tuple[str, ...]:
    """Return the modules that this one imports, by their paths. Raises KeyError for a module that does not exist."""
    return tuple(
        posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) for _, file in _IMPORT.findall(sources()[path])
    )


def needed(paths: Sequence[str]) -> tuple[str, ...]:
    """Return these modules and all modules that they import, each once and after its own imports.

    Raises ValueError where modules import each other in a circle, or import a module that does not exist.
    """
    order: dict[str, None] = {}

    def visit(path: str, above: tuple[str, ...]) -> None:
        if path in above:
            raise ValueError(f"Modules import each other in a circle: {' → '.join([*above, path])}.")
        if path not in sources():
            raise ValueError(f"{above[-1] if above else 'A view'} needs the module {path}, which is not there.")
        if path not in order:
            for module in imported(path):
                visit(module, (*above, path))
            order[path] = None

    for path in paths:
        visit(path, ())
    return tuple(order)


def joined(paths: Sequence[str]) -> str:
    """Return one script of these modules and all their imports; `modules["shared/number.js"].percent` is an export of one.

    Each module becomes a function, so names that it does not export stay private. Only the two forms of import and export that we
    use are allowed: `import { a, b as c } from "./file.js";` and `export` before a function, a class or a const, each at the
    start of a line. Raises ValueError for any other way, for a circle, and for what would end a script element.
    """
    return "\n".join(["const modules = {};", *map(_as_function, needed(paths))])


def _as_function(path: str) -> str:
    text = without_types(sources()[path])
    modules = iter(imported(path))

    def as_constants(match: re.Match[str]) -> str:
        names = ", ".join(name.strip().replace(" as ", ": ") for name in match[1].split(",") if name.strip())
        return f'const {{ {names} }} = modules["{next(modules)}"];'

    names = [next(filter(None, groups)) for groups in _EXPORT.findall(text)]
    text = _EXPORT.sub("", _IMPORT.sub(as_constants, text))
    if left := _OTHER.search(text):
        raise ValueError(f"{path} cannot be joined with the others; write this in another way: {left[0]}")
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError(f"{path} holds what would end a script inside of a page.")
    return f'modules["{path}"] = (() => {{\n{text}\nreturn {{ {", ".join(names)} }};\n}})();'
