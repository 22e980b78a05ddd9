"""``/metrics``: counts and times in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from split_server.metrics.readiness import MEDIA_TYPE

METRICS_PATH = "/metrics"


def metrics_routes(text: Callable[[], bytes]) -> list[Route]:
    """GET and HEAD of ``/metrics``, whose ``text`` is asked for on the event loop."""

    async def exposition(_: Request) -> Response:
        headers = {"Cache-Control": "no-store", "Content-Type": MEDIA_TYPE}
        return Response(text(), headers=headers)

    return [Route(METRICS_PATH, exposition, methods=["GET", "HEAD"])]
