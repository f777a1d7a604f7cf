"""Serves the JavaScript and CSS of each view once, so that messages need not contain them."""

from __future__ import annotations

import hashlib
import json
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request

# The door of a kind of view: one file of all modules that it needs. One by one, twenty of them would keep a browser from fetching
# what Streamlit itself is made of, since it asks a server for six things at a time.
_DOOR = """{modules}
const style = new CSSStyleSheet();
style.replaceSync({css});
const mounts = {{ {mounts} }};
export default (args) => {{
  const root = args.parentElement.getRootNode();
  if (!root.adoptedStyleSheets.includes(style)) root.adoptedStyleSheets.push(style);
  modules["shared/state.js"].mountOn({mount}, args, mounts);
}};
"""

# What a component sends along with its data. A view that is long in coming (from a busy server) says so, and so does one that
# cannot be had (from a server that has been updated since).
#
# On a page that has just opened, Streamlit may call it for new data before it calls it for the old, since each call waits for
# this script by itself. It then ends the call for the old data at once, so what that has drawn is drawn over with the new.
#
# The line (`ui/live/line.js`) draws what is typed meanwhile: it is told of each mount, and decides when that is drawn.
_LOADER = """const view = import(new URL("{path}", document.baseURI).href);
const newest = new WeakMap();
export default (args) => {{
  const {{ parentElement }} = args;
  const root = parentElement.querySelector(".hl");
  const say = (words) => root.firstElementChild || (root.textContent = words);
  const late = setTimeout(say, 1000, "This picture is on its way …");
  let before = null;
  let over = false;
  const draw = (module, what) => {{
    const line = globalThis.headlightLine;
    if (line) return line.mount(what, module.default);
    (globalThis.headlightEarly ??= []).push([what, module.default]);
    module.default(what);
  }};
  const mount = (module) => {{
    if (over) return;
    say("");
    before = newest.get(parentElement);
    newest.set(parentElement, args);
    draw(module, args);
  }};
  view.then(mount, () => say("This picture could not be loaded. Reload the page.")).finally(() => clearTimeout(late));
  return () => {{
    over = true;
    if (!before || newest.get(parentElement) !== args || !parentElement.isConnected) return;
    newest.set(parentElement, before);
    view.then((module) => draw(module, before));
  }};
}};
"""


def loader(kind: str, uses: tuple[str, ...]) -> str:
    """The JavaScript of a component that fetches a view and mounts it."""
    return _LOADER.format(path=f"assets/{version()}/{'.'.join([kind, *uses])}.js")


@cache
def version() -> str:
    """Sixteen digits that stand in the addresses of all views, and change whenever one of their modules does."""
    from viz import modules

    return hashlib.sha256(f"{modules.version()}{_DOOR}".encode()).hexdigest()[:16]


@lru_cache(128)  # of the many that somebody could ask for
def door(kind: str, uses: tuple[str, ...]) -> str:
    """The module that a view is; its default export mounts the view, with its style. Raises ValueError for no view."""
    from viz import modules
    from viz.view import View, mount_in

    assets = View(kind, b"", "", uses).assets()
    return _DOOR.format(
        modules=modules.joined(["shared/state.js", assets.module, *assets.inside.values()]),
        css=json.dumps(assets.css),
        mount=mount_in(assets.module),
        mounts=", ".join(f"{inside}: {mount_in(path)}" for inside, path in assets.inside.items()),
    )


async def _answer(request: Request) -> Response:
    """The door of a view, under an address that changes with its contents: a browser need not ask twice."""
    from viz.view import kinds

    kind, *uses = asked = request.path_params["kinds"].split(".")
    if request.path_params["version"] != version() or not kinds() >= set(asked) or len(asked) > len(set(asked)):
        return Response("No such view.", status_code=404, media_type="text/plain", headers={"Cache-Control": "no-store"})
    keep = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
    return Response(door(kind, tuple(uses)), media_type="text/javascript", headers=keep)


ROUTES = (Route("/assets/{version}/{kinds:path}.js", _answer),)
