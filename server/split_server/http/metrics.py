"""``/metrics``: counts and times in Prometheus' text format."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from split_server.metrics.exposition import MEDIA_TYPE, Metrics

METRICS_PATH = "/metrics"


def metrics_routes(metrics: Metrics) -> list[Route]:
    """GET and HEAD of ``/metrics``."""

    async def exposition(_: Request) -> Response:
        headers = {"Cache-Control": "no-store", "Content-Type": MEDIA_TYPE}
        return Response(metrics.text(), headers=headers)

    return [Route(METRICS_PATH, exposition, methods=["GET", "HEAD"])]
