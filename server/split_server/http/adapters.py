"""``GET /api/v1/adapters``: the adapters that steps may name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from split_server.adapters.adapter_file import AdapterFile
from split_server.adapters.errors import AdapterUnusable
from split_server.adapters.listing import PATH, listing


def adapter_routes(
    adapters: Mapping[str, AdapterFile],
    left_out: Sequence[AdapterUnusable] = (),
    hosts: Sequence[str] = (),
) -> list[Route]:
    """GET and HEAD of the listing; ``adapters`` are applied in the clear.

    ``hosts``: origins of hosts that compute adapters on ciphertexts, which the page may ask.
    """
    document = listing(adapters, he=False, left_out=left_out)
    if hosts:
        document["adapter_hosts"] = list(dict.fromkeys(hosts))

    async def list_adapters(_: Request) -> Response:
        return JSONResponse(document, headers={"Cache-Control": "no-store"})

    return [Route(PATH, list_adapters, methods=["GET", "HEAD"])]
