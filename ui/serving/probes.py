"""Answers to monitoring: whether the server is alive, whether it is ready for visitors, and its metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from models.version import VERSION
from ui.serving import flood

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import GaugeMetricFamily
    from starlette.requests import Request

NOW = {"Cache-Control": "no-store"}


async def _health(request: Request) -> Response:
    return JSONResponse({"status": "alive", "version": VERSION}, headers=NOW)


async def _ready(request: Request) -> Response:
    """Answer whether the first model is in memory; a request also starts loading it."""
    import models
    from ui.memory import loaded  # here and below: a server answers its first page before it has these

    first = models.names()[0]
    if first in loaded.shelf:
        return JSONResponse({"status": "ready", "model": first}, headers=NOW)
    loaded.shelf.ask(first, "probe")
    return JSONResponse({"status": "The first model is being read."}, 503, headers=NOW)


async def _metrics(request: Request) -> Response:
    from ui.memory import measured

    if not measured.is_enabled():
        return PlainTextResponse("Metrics are given where HEADLIGHT_METRICS=1 is set.\n", 404)
    text, kind = await asyncio.get_running_loop().run_in_executor(None, written)
    return Response(text, headers={"Content-Type": kind} | NOW)


def written() -> tuple[bytes, str]:
    """Return the metrics as text for Prometheus, and the content type."""
    from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

    return generate_latest(_registry()), CONTENT_TYPE_LATEST


@cache
def _registry() -> CollectorRegistry:
    from ui.memory import measured

    measured.registry().register(_Now())
    return measured.registry()


class _Now:
    """A collector of the current numbers of models, jobs, trainings and visitors for Prometheus."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        from prometheus_client.core import GaugeMetricFamily

        from ui.memory import jobs, loaded, trainings

        waiting, running = jobs.under_way()
        for name, what, value in (
            ("models", "Models in memory", len(loaded.shelf.models)),
            ("model_bytes", "Bytes of their weights, without the model that always stays", loaded.shelf.bytes),
            ("jobs_running", "Long calculations that are under way", running),
            ("jobs_waiting", "Long calculations that wait for their turn", waiting),
            ("trainings_running", "Trainings that run", trainings.running()),
            ("visitors", "Pages that are open", flood.pages.total()),
        ):
            yield GaugeMetricFamily(f"headlight_{name}", what, value)


ROUTES = (Route("/health", _health), Route("/ready", _ready), Route("/metrics", _metrics))
