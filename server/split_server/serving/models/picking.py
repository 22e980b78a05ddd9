"""At the root, the ``model`` in the body of a text API's request says which model answers."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from split_server.compat.openai.errors import InvalidBody, InvalidParameter
from split_server.compat.openai.fields import Fields, clean, parse_body
from split_server.compat.openai.model import ALIAS
from split_server.compat.turns import Turns
from split_server.http.openai.guard import LARGE, MAX_BODY
from split_server.http.text_apis import form_of
from split_server.http.wire.body import Bodies
from split_server.security.principal import principal_of
from split_server.serving.models.door import entered, refused, visit
from split_server.serving.models.names import named_in
from split_server.serving.models.room import Room
from split_server.serving.models.rooms import Rooms
from split_wire.errors import SplitError

_TAG = ":latest"
_MAX_NAME = 512


class Picking:
    """Pure ASGI, inside of the guards. ``app`` is the root's, which has the model ``first``; with
    no other one, and without text APIs, bodies are left to it unread.
    """

    def __init__(self, app: ASGIApp, rooms: Rooms, first: Room, bodies: Bodies) -> None:
        self._app, self._rooms, self._room, self._first = app, rooms, first, first.name
        self._bodies = bodies
        self._picks = len(rooms.states()) > 1 and (first.texts is not None or first.mute)
        self._large = Turns()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._picks and _names_a_model(scope):
            await self._pick(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _pick(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The body counts as its principal's until the model's own endpoint counts it, which comes
        without a pause.
        """
        with ExitStack() as held:
            try:
                body = await self._bodies.take(Request(scope, receive), MAX_BODY, held)
                name = await self._named(body, principal_of(scope), ollama=_is_ollamas(scope))
                if name != self._first:
                    await self._rooms.room(name, principal_of(scope))
            except SplitError as error:
                await refused(error, scope, receive, send)
                return
        again = _replayed(body, receive)
        if name == self._first and self._room.mute:
            await entered(self._room, scope, again, send)
        elif name == self._first:
            await self._app(scope, again, send)
        else:
            await visit(self._rooms, name, scope, again, send)

    async def _named(self, body: bytes, principal: str, *, ollama: bool) -> str:
        """The name that a body asks for; the first one's where it asks for none, or is wrong in any
        way, which whoever answers then says.
        """
        if len(body) < LARGE:
            asked = _asked(body, ollama=ollama)
        else:
            async with self._large.turn(principal):
                asked = await asyncio.to_thread(_asked, body, ollama=ollama)
        return self._first if asked in (None, "", ALIAS) else str(asked)


def _names_a_model(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "POST" or named_in(scope) is not None:
        return False
    return form_of(scope["path"]) is not None


def _is_ollamas(scope: Scope) -> bool:
    path: str = scope["path"]
    return path.startswith("/api/")


def _asked(body: bytes, *, ollama: bool) -> str | None:
    try:
        fields = parse_body(body)
        name = _name(fields, ollama=ollama)
    except (InvalidBody, InvalidParameter):
        return None
    name = None if name is None else clean(name)
    return name.removesuffix(_TAG) if name is not None and ollama else name


def _name(fields: Fields, *, ollama: bool) -> str | None:
    """Raises InvalidParameter."""
    name = fields.text("model", _MAX_NAME)
    return fields.text("name", _MAX_NAME) if ollama and not name else name


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Receives ``body`` whole, then whatever comes."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return first.pop() if first else await receive()

    return again
