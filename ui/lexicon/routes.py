"""The routes from which browsers fetch the lexicon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request


async def _answer(request: Request) -> Response:
    from ui.lexicon import files, payload  # here: a server answers before it has what reads them

    language = request.path_params["language"]
    version, text = payload.build(files.stamps(language)) if language in files.languages() else ("", "")
    if not text or request.path_params["version"] != version:
        return Response("No such words.", status_code=404, media_type="text/plain", headers={"Cache-Control": "no-store"})
    keep = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
    return Response(text, media_type="application/json", headers=keep)


ROUTES = (Route("/lexicon/{version}/{language}.json", _answer),)
