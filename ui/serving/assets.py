"""Serves the JavaScript and CSS of each view once, so that messages need not contain them."""

from __future__ import annotations

import hashlib
import json
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request

HERE = Path(__file__).parent

# The door of a kind of view: one file of all modules that it needs. One by one, twenty of them would keep a browser from fetching
# what Streamlit itself is made of, since it asks a server for six things at a time.
_DOOR_MODULE = "fetched.js"
_DOOR = """{modules}
export default modules["{door}"].mountWithStyle({mount}, {{ {mounts} }}, {css});
"""
_VIEW = 'const fetchedView = import(new URL("{path}", document.baseURI).href);'


@cache
def _script() -> str:
    """Return the script of a component that mounts the view `fetchedView`, without indentation: each key press sends it."""
    from viz.modules import without_types

    return re.sub(r"\s*\n\s*", "\n", without_types((HERE / "loader.js").read_text("utf-8"))).strip()


def loader(kind: str, uses: tuple[str, ...]) -> str:
    """Return the JavaScript of a component that fetches a view and mounts it."""
    path = f"assets/{version()}/{'.'.join([kind, *uses])}.js"
    return f"{_VIEW.format(path=path)}\n{_script()}"


@cache
def version() -> str:
    """Return sixteen digits for the addresses of all views, which change whenever one of their modules does."""
    from viz import modules

    return hashlib.sha256(f"{modules.version()}{_DOOR}".encode()).hexdigest()[:16]


@lru_cache(128)  # of the many that somebody could ask for
def door(kind: str, uses: tuple[str, ...]) -> str:
    """Return the entry module of a view; its default export mounts the view, with its style. Errors: ValueError for an unknown
    view.
    """
    from viz import modules
    from viz.view import View, mount_in

    assets = View(kind, b"", "", uses).assets()
    return _DOOR.format(
        modules=modules.joined([_DOOR_MODULE, assets.module, *assets.inside.values()]),
        door=_DOOR_MODULE,
        css=json.dumps(assets.css),
        mount=mount_in(assets.module),
        mounts=", ".join(f"{inside}: {mount_in(path)}" for inside, path in assets.inside.items()),
    )


async def _answer(request: Request) -> Response:
    """Answer with the entry module of a view; its address changes with its contents, so a browser need not ask twice."""
    from viz.view import kinds

    kind, *uses = asked = request.path_params["kinds"].split(".")
    if request.path_params["version"] != version() or not kinds() >= set(asked) or len(asked) > len(set(asked)):
        return Response("No such view.", status_code=404, media_type="text/plain", headers={"Cache-Control": "no-store"})
    keep = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
    return Response(door(kind, tuple(uses)), media_type="text/javascript", headers=keep)


ROUTES = (Route("/assets/{version}/{kinds:path}.js", _answer),)
