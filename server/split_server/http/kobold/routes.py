"""The Kobold attention API and what of Kobold's own API tools ask for: docs/kobold-api.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from split_server.compat.kobold.fields import Fields
from split_server.compat.kobold.forms import BINARY_FORM, JSON_FORM, Form
from split_server.compat.kobold.model import (
    KOBOLD_VERSION,
    UNITED_VERSION,
    attention_version,
    model_document,
)
from split_server.compat.kobold.prompts import Prompts
from split_server.compat.kobold.request import DEFAULT_MAX_TOKENS, MAX_NAME
from split_server.compat.parts import Compat
from split_server.http.kobold.aborts import Aborts
from split_server.http.kobold.answers import Posted, document, dumped, refusal
from split_server.http.kobold.generate import Generate
from split_server.http.kobold.socket import KoboldSocket
from split_server.http.kobold.sse import EventStream
from split_server.http.kobold.texts import KoboldTexts
from split_server.http.wire.body import Bodies
from split_server.http.wire.sockets import SocketPart
from split_server.security.principal import ANONYMOUS, principal_of

GENERATE_PATH = "/api/v1/generate"
SOCKET_PATH = "/api/v1/generate/stream"
EVENTS_PATH = "/api/extra/generate/stream"
BINARY_PATH = "/api/extra/generate/stream/ws"
ABORT_PATH = "/api/extra/abort"
CHECK_PATH = "/api/extra/generate/check"


def kobold_routes(compat: Compat, bodies: Bodies, sockets: SocketPart) -> list[BaseRoute]:
    """All paths. Raises MalformedCheckpoint where the model cannot be described."""
    info, aborts = compat.generator.info, Aborts()
    posted, prompts = Posted(bodies, info.max_context, compat.texts.large), Prompts(compat)

    def socket(form: Form) -> KoboldSocket:
        own = Prompts(compat, attention=form.attention, logprobs=form.logprobs)
        return KoboldSocket(own, form, sockets, aborts, info.max_context, compat.texts.large)

    generate = Generate(prompts, posted, info, aborts)
    events = EventStream(prompts, posted, aborts)
    return [
        *_documents(compat),
        *KoboldTexts(compat, posted).routes(),
        Route(GENERATE_PATH, generate.answer, methods=["POST"]),
        Route(EVENTS_PATH, events, methods=["POST"]),
        Route(ABORT_PATH, _keyed(posted, _abort(aborts)), methods=["POST"]),
        Route(CHECK_PATH, _keyed(posted, _check(aborts)), methods=["GET", "POST"]),
        WebSocketRoute(SOCKET_PATH, socket(JSON_FORM)),
        WebSocketRoute(BINARY_PATH, socket(BINARY_FORM)),
    ]


def _documents(compat: Compat) -> list[Route]:
    """Documents that are asked for at the start and never change."""
    info = compat.generator.info
    name = compat.name or info.name
    model = model_document(info, compat.generator.ends, compat.checkpoint, name)
    longest, version = {"value": info.max_context}, {"result": UNITED_VERSION}
    known = {
        "/api/v1/model": model,
        "/api/v1/model/info": model,
        "/api/extra/attention_version": attention_version(),
        "/api/v1/info/version": version,
        "/api/extra/version": {"result": "KoboldCpp", "version": KOBOLD_VERSION},
        "/api/v1/config/max_context_length": longest,
        "/api/extra/true_max_context_length": longest,
        "/api/v1/config/max_length": {"value": DEFAULT_MAX_TOKENS},
        # What KoboldCpp answers where it was started without a story.
        "/api/extra/preloadstory": {},
    }
    return [_fixed(path, values) for path, values in known.items()]


def _fixed(path: str, values: dict[str, Any]) -> Route:
    content = dumped(values)

    async def answer(_: Request) -> Response:
        return document(content)

    return Route(path, answer, methods=["GET"])


def _has_body(request: Request) -> bool:
    """Kobold's own clients send none where they have nothing to say."""
    headers = request.headers
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


async def _key(posted: Posted, request: Request) -> str | None:
    async with posted.values(request) as values:
        return Fields(values).text(MAX_NAME, "genkey")


def _keyed(posted: Posted, told: Callable[[str, str | None], dict[str, Any]]) -> Any:
    """The endpoint that answers what ``told`` says of the caller's generations, those with its
    ``genkey`` where it names one.
    """

    async def answer(request: Request) -> Response:
        try:
            key = await _key(posted, request) if _has_body(request) else None
        except ClientDisconnect:
            raise
        # The boundary of a request: its client is told in the form that it knows.
        except Exception as error:  # noqa: BLE001
            return refusal(error)
        return document(dumped(told(principal_of(request.scope), key)))

    return answer


def _abort(aborts: Aborts) -> Callable[[str, str | None], dict[str, Any]]:
    """Stops generations."""
    return lambda principal, key: {"success": aborts.abort(principal, key)}


def _check(aborts: Aborts) -> Callable[[str, str | None], dict[str, Any]]:
    """Tells the text of a reply that is being made, for clients that ask again and again."""

    def text(principal: str, key: str | None) -> str:
        # Whom many people may be must not read what another one's model writes.
        return "" if principal == ANONYMOUS else aborts.text(principal, key)

    return lambda principal, key: {"results": [{"text": text(principal, key)}]}
