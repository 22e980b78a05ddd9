"""OpenAI's Responses API.

In this mode the text reaches the server: docs/responses-api.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from split_server.compat.openai.errors import (
    InvalidParameter,
    OpenAIError,
    UnsupportedParameter,
    api_error,
)
from split_server.compat.openai.fields import clean
from split_server.compat.openai.service import OpenAIService
from split_server.compat.responses.kept import KeptResponse, KeptResponses, ResponseNotFound
from split_server.compat.responses.request import parse_responses_request
from split_server.http.openai.form import encoded
from split_server.http.openai.guard import posted
from split_server.http.openai.sink import error_answer
from split_server.http.responses.form import ResponsesForm
from split_server.http.responses.respond import Responses
from split_server.http.wire.body import Bodies
from split_server.security.principal import principal_of

_NO_STORE = {"Cache-Control": "no-store"}
_JSON = "application/json"
_ONE = "/v1/responses/{id}"
_MOST_LISTED, _LISTED = 100, 20


def responses_routes(
    service: OpenAIService, kept: KeptResponses, bodies: Bodies
) -> list[BaseRoute]:
    """The routes below ``/v1/responses``."""
    responses, held = Responses(service, kept), Held(kept)
    served, large = service.served, service.texts.large
    parse = parse_responses_request
    answer = posted(bodies, served, large, parse, responses.answer, ResponsesForm)
    count = posted(bodies, served, large, parse, responses.count, ResponsesForm)
    return [
        Route("/v1/responses", answer, methods=["POST"]),
        Route("/v1/responses/input_tokens", count, methods=["POST"]),
        Route(_ONE, _told(held.response), methods=["GET"]),
        Route(_ONE, _told(held.delete), methods=["DELETE"]),
        Route(f"{_ONE}/input_items", _told(held.items), methods=["GET"]),
    ]


class Held:
    """What is kept of the caller's. Every method raises OpenAIError."""

    def __init__(self, kept: KeptResponses) -> None:
        self._kept = kept

    def response(self, request: Request) -> bytes:
        """The response as it was answered."""
        if request.query_params.get("stream", "false") != "false":
            raise UnsupportedParameter("stream", "what is kept comes whole")
        return self._found(request).response

    def delete(self, request: Request) -> bytes:
        """Nothing of it is kept from now on."""
        id_ = _id(request)
        if not self._kept.delete(principal_of(request.scope), id_):
            raise ResponseNotFound
        return encoded({"id": id_, "object": "response", "deleted": True})

    def items(self, request: Request) -> bytes:
        """The items of its input, the last ones first unless ``order`` is ``asc``."""
        asked = request.query_params
        order, limit = asked.get("order", "desc"), _limit(asked.get("limit"))
        if order not in ("asc", "desc"):
            raise InvalidParameter("order", "asc or desc")
        items: list[dict[str, Any]] = json.loads(self._found(request).items)
        items = items if order == "asc" else items[::-1]
        ids, after = [item["id"] for item in items], asked.get("after")
        if after is not None and after not in ids:
            raise InvalidParameter("after", "the id of one of the items")
        begin = 0 if after is None else ids.index(after) + 1
        listed = items[begin : begin + limit]
        return encoded(
            {
                "object": "list",
                "data": listed,
                "first_id": listed[0]["id"] if listed else None,
                "last_id": listed[-1]["id"] if listed else None,
                "has_more": begin + limit < len(items),
            }
        )

    def _found(self, request: Request) -> KeptResponse:
        found = self._kept.find(principal_of(request.scope), _id(request))
        if found is None:
            raise ResponseNotFound
        return found


def _id(request: Request) -> str:
    return clean(request.path_params["id"])


def _limit(text: str | None) -> int:
    if text is None:
        return _LISTED
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= _MOST_LISTED):
        raise InvalidParameter("limit", f"a whole number in 1..{_MOST_LISTED}")
    return int(text)


def _told(work: Callable[[Request], bytes]) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        try:
            body = work(request)
        except OpenAIError as refusal:
            return error_answer(api_error(refusal, 0))
        return Response(body, headers=_NO_STORE, media_type=_JSON)

    return endpoint
