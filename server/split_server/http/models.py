"""``/api/v1/models``: the models that are served, and their coming and going by an operator."""

from __future__ import annotations

from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from split_server.http.wire.body import Bodies
from split_server.security.principal import is_operator, principal_of
from split_wire.errors import OperatorNeeded

MODELS_PATH = "/api/v1/models"
_VERSION = 1
_MAX_BODY = 4096
_NO_STORE = {"Cache-Control": "no-store"}


class Desk(Protocol):
    """Whoever knows the models; both verbs give the state that the model is in then."""

    def listed(self) -> list[dict[str, Any]]: ...
    async def load(self, name: str, principal: str) -> str: ...
    async def unload(self, name: str, principal: str, *, operator: bool) -> str: ...


def models_routes(desk: Desk, bodies: Bodies) -> list[Route]:
    """GET and HEAD of the list, and POST of ``NAME/load`` and ``NAME/unload``."""

    async def listing(request: Request) -> Response:
        document = {
            "models": desk.listed(),
            "operator": is_operator(request.scope),
            "version": _VERSION,
        }
        return JSONResponse(document, headers=_NO_STORE)

    async def loaded(request: Request) -> Response:
        await _read(request, bodies)
        if not is_operator(request.scope):
            raise OperatorNeeded("to load a model for everybody")
        name = request.path_params["name"]
        return _state(name, await desk.load(name, principal_of(request.scope)))

    async def unloaded(request: Request) -> Response:
        await _read(request, bodies)
        name, operator = request.path_params["name"], is_operator(request.scope)
        principal = principal_of(request.scope)
        return _state(name, await desk.unload(name, principal, operator=operator))

    return [
        Route(MODELS_PATH, listing, methods=["GET", "HEAD"]),
        Route(f"{MODELS_PATH}/{{name}}/load", loaded, methods=["POST"]),
        Route(f"{MODELS_PATH}/{{name}}/unload", unloaded, methods=["POST"]),
    ]


async def _read(request: Request, bodies: Bodies) -> None:
    """Nothing in a body is asked for. Raises what reading one raises."""
    async with bodies.taken(request, _MAX_BODY):
        pass


def _state(name: str, state: str) -> Response:
    return JSONResponse({"name": name, "state": state}, headers=_NO_STORE)
