"""The route of the handouts that a teacher prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request


async def _handout(request: Request) -> Response:
    from models.errors import FileError  # here: a server answers before it has what reads lessons
    from ui.lessons import files, handout

    language = request.path_params.get("language", "")
    try:
        course = next((course for course in files.courses() if course.name == request.path_params["course"]), None)
        if course:
            return HTMLResponse(handout.page(course, language if language in files.languages() else ""))
    except FileError as error:
        return Response(str(error), status_code=404, media_type="text/plain")
    return Response("There is no course of this name.", status_code=404, media_type="text/plain")


ROUTES = (Route("/handouts/{course}", _handout), Route("/handouts/{language}/{course}", _handout))
