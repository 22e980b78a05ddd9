"""The door to the rooms: requests below ``/m/NAME`` reach the model of that name."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from split_server.compat.openai.errors import api_error
from split_server.http.metrics import METRICS_PATH
from split_server.http.models import MODELS_PATH
from split_server.http.openai.sink import error_answer
from split_server.http.openapi.document import is_documented
from split_server.http.split.stream import STREAM_PATH
from split_server.http.text_apis import form_of
from split_server.security.error_forms import OLLAMA_CLIENT
from split_server.security.principal import principal_of
from split_server.security.public import ALWAYS
from split_server.serving.models.directory import Directory
from split_server.serving.models.doorstep import Doorstep
from split_server.serving.models.listing import ollama_listing, openai_listing
from split_server.serving.models.names import named_in
from split_server.serving.models.room import Room, bare_app
from split_server.serving.models.rooms import Rooms
from split_server.serving.models.shared import Shared
from split_wire.errors import NotFound, SplitError, UnknownModel
from split_wire.messages import SUBPROTOCOL

# Asked for again and again by programs that want no model for it.
_QUIET = (METRICS_PATH, "/api/v1/memory", "/v1/stats")


class Door:
    """Pure ASGI, inside of the guards: ``app`` is the root's. ``first``: the room at the root."""

    def __init__(
        self, app: ASGIApp, rooms: Rooms, first: Room, directory: Directory, shared: Shared
    ) -> None:
        self._app, self._rooms, self._first = app, rooms, first
        names = directory.names()
        self._names = names
        others = [name for name in names if name != first.name]
        self._listings = {name: _listing(directory, shared, name) for name in others}
        steps = {name: Doorstep(name, rooms, shared).routes() for name in others}
        self._doorsteps = {name: (routes, bare_app(routes)) for name, routes in steps.items()}
        self._listed = {name: bare_app(routes) for name, routes in self._listings.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = named_in(scope)
        # What needs no token is the server's, whatever the name, which nobody is told then.
        if name is None or _of_server(scope["path"]):
            await self._app(scope, receive, send)
        elif name not in self._names:
            await refused(UnknownModel(name, self._names), scope, receive, send)
        else:
            await self._at(name)(scope, receive, send)

    def _at(self, name: str) -> ASGIApp:
        """The application of a model."""
        if name == self._first.name:
            return self._at_first

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            doorstep, frames = self._doorsteps[name]
            if _fits(self._listings[name], scope):
                await self._listed[name](scope, receive, send)
            elif _has_frames(scope) and _fits(doorstep, scope):
                await frames(scope, receive, send)
            elif not self._reaches(scope):
                # It is refused as it would be there, and nothing is loaded for that.
                await self._first.asgi(scope, receive, send)
            elif self._rooms.loaded(name) is None and scope["path"] in _QUIET:
                raise NotFound("what a model tells of itself while it is not loaded")
            else:
                await visit(self._rooms, name, scope, receive, send)

        return app

    async def _at_first(self, scope: Scope, receive: Receive, send: Send) -> None:
        await entered(self._first, scope, receive, send)

    def _reaches(self, scope: Scope) -> bool:
        """Whether a model may have what a request asks for: every one has the routes of the first,
        and text APIs where that has none.
        """
        routes = self._first.ollama if OLLAMA_CLIENT in scope else self._first.routes
        return _fits(routes, scope) or (self._first.mute and is_documented(scope["path"]))


async def visit(rooms: Rooms, name: str, scope: Scope, receive: Receive, send: Send) -> None:
    """Have the room of a model answer, loaded where it is not. Raises what loading raises, where
    the request is none of a text API.
    """
    try:
        room = await rooms.room(name, principal_of(scope))
    except SplitError as error:
        await refused(error, scope, receive, send)
        return
    if scope["type"] == "websocket":
        await room.asgi(scope, receive, send)
        return
    with room.visited():
        await entered(room, scope, receive, send)


async def entered(room: Room, scope: Scope, receive: Receive, send: Send) -> None:
    """Have ``room`` answer; a text is refused where it has none."""
    if room.mute and scope["type"] == "http" and form_of(scope["path"]) is not None:
        what = f"text of model {room.name!r}, of which the server's log says why,"
        await refused(NotFound(what), scope, receive, send)
    else:
        await room.asgi(scope, receive, send)


async def refused(error: SplitError, scope: Scope, receive: Receive, send: Send) -> None:
    """Tell ``error`` as the API of the path writes it. Raises it where that is no text API's."""
    form = form_of(scope["path"]) if scope["type"] == "http" else None
    if form is None:
        raise error
    await error_answer(api_error(error, 0), form)(scope, receive, send)


def _listing(directory: Directory, shared: Shared, name: str) -> list[BaseRoute]:
    if not shared.config.compat:
        return []
    return [*openai_listing(directory, [name]), *ollama_listing(directory, [name])]


def _of_server(path: str) -> bool:
    return path in ALWAYS or path == MODELS_PATH or path.startswith(f"{MODELS_PATH}/")


def _has_frames(scope: Scope) -> bool:
    """Whether a request is no WebSocket of the original protocol, which wants its model at once."""
    if scope["type"] != "websocket" or scope["path"] != STREAM_PATH:
        return bool(scope["type"] == "http")
    offered: list[str] = scope["subprotocols"]
    return SUBPROTOCOL in offered


def _fits(routes: Iterable[BaseRoute], scope: Scope) -> bool:
    return any(route.matches(scope)[0] is Match.FULL for route in routes)
