"""The JavaScript and CSS of the views: a browser fetches a module once, where each message would carry all of it."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request

_MODULE = """{js}
const styleOfView = new CSSStyleSheet();
styleOfView.replaceSync({css});
export default (args) => {{
  const root = args.parentElement.getRootNode();
  if (!root.adoptedStyleSheets.includes(styleOfView)) root.adoptedStyleSheets.push(styleOfView);
  mount(args);
}};
"""

# What a component sends along with its data. A module that cannot be had (a server that has been updated since) says so.
_LOADER = """const view = import(new URL("{path}", document.baseURI).href);
export default (args) => {{
  const say = () => (args.parentElement.querySelector(".hl").textContent = "This picture could not be loaded. Reload the page.");
  view.then((module) => module.default(args), say);
}};
"""


def loader(kind: str, uses: tuple[str, ...]) -> str:
    """The JavaScript of a component that fetches the module of a view and mounts it."""
    name = ".".join([kind, *uses])
    return _LOADER.format(path=f"assets/{_hash(module(kind, uses))}/{name}.js")


@cache
def module(kind: str, uses: tuple[str, ...]) -> str:
    """The ES module of a view with its style; its default export mounts the view. Errors: FileNotFoundError for no view."""
    from viz.view import View

    assets = View(kind, b"", "", uses).assets()
    return _MODULE.format(js=assets.js, css=json.dumps(assets.css))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


async def _answer(request: Request) -> Response:
    """A module under the address that its contents give, which never change: a browser need not ask twice."""
    from viz.view import kinds

    kind, *uses = request.path_params["name"].split(".")
    if {kind, *uses} <= set(kinds()):
        text = module(kind, tuple(uses))
        if _hash(text) == request.path_params["hash"]:
            keep = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
            return Response(text, media_type="text/javascript", headers=keep)
    return Response("No such module.", status_code=404, media_type="text/plain", headers={"Cache-Control": "no-store"})


ROUTES = (Route("/assets/{hash}/{name}.js", _answer),)
