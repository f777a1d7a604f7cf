"""The JavaScript and CSS of the views: a browser fetches each module once, where each message would carry all of them."""

from __future__ import annotations

import hashlib
import json
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# The door of a kind of view. It imports all that the view needs, so that a browser asks for everything at once.
_DOOR = """{imports}
import {{ mountOn }} from "./shared/state.js";

const style = new CSSStyleSheet();
style.replaceSync({css});
const mounts = {{ {mounts} }};
export default (args) => {{
  const root = args.parentElement.getRootNode();
  if (!root.adoptedStyleSheets.includes(style)) root.adoptedStyleSheets.push(style);
  mountOn(mount, args, mounts);
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
    """The JavaScript of a component that fetches the modules of a view and mounts it."""
    return _LOADER.format(path=f"assets/{version()}/{'.'.join([kind, *uses])}.js")


@cache
def version() -> str:
    """Sixteen digits that stand in the addresses of all modules, and change whenever one of them does."""
    from viz import modules

    return hashlib.sha256(f"{modules.version()}{_DOOR}".encode()).hexdigest()[:16]


@lru_cache(128)  # of the many that somebody could ask for
def door(kind: str, uses: tuple[str, ...]) -> str:
    """The module that a view is fetched by; its default export mounts the view, with its style. Raises ValueError for no view."""
    from viz import modules
    from viz.view import View

    assets = View(kind, b"", "", uses).assets()
    inside = {kind: f"mount_{kind}" for kind in assets.inside}
    imports = [
        f'import {{ mount }} from "./{assets.module}";',
        *(f'import {{ mount as {inside[kind]} }} from "./{path}";' for kind, path in assets.inside.items()),
        *(f'import "./{path}";' for path in modules.needed([assets.module, *assets.inside.values()])),
    ]
    mounts = ", ".join(f"{kind}: {name}" for kind, name in inside.items())
    return _DOOR.format(imports="\n".join(imports), css=json.dumps(assets.css), mounts=mounts)


def _text(path: str) -> str | None:
    """The module at an address: one of ours as it is, or the door of a view. None for anything else."""
    from viz import modules

    if path in modules.sources():
        return modules.sources()[path]
    from viz.view import kinds

    kind, *uses = path.removesuffix(".js").split(".")
    return door(kind, tuple(uses)) if path.endswith(".js") and {kind, *uses} <= kinds() else None


async def _answer(request: Request) -> Response:
    """A module under an address that changes with its contents: a browser need not ask twice."""
    text = _text(request.path_params["path"]) if request.path_params["version"] == version() else None
    if text is None:
        return Response("No such module.", status_code=404, media_type="text/plain", headers={"Cache-Control": "no-store"})
    keep = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
    return Response(text, media_type="text/javascript", headers=keep)


class Ahead:
    """ASGI middleware by which a page brings the modules that all pictures need: there is time until the first picture comes."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).append("Link", _ahead())
            await send(message)

        page = scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")
        await self.app(scope, receive, send_on if page else send)


@cache
def _ahead() -> str:
    from viz import modules

    paths = modules.needed(["views/board/view.js", *(path for path in modules.sources() if path.startswith("shared/"))])
    return ", ".join(f"<assets/{version()}/{path}>; rel=modulepreload; fetchpriority=low" for path in paths)


ROUTES = (Route("/assets/{version}/{path:path}", _answer),)
