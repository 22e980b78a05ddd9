from __future__ import annotations

import http.server
import json
from typing import Any

import pytest

from split_client.errors import AnswerInvalid, ServerRefused, ServerUnreachable
from split_client.transport.served.listing import ServedModel, fetch_served, parse_served
from tests.split_client.servers import http_server, respond, unused_endpoint

DIGEST = "a" * 64
ENTRY: dict[str, Any] = {
    "name": "small.1",
    "path": "/m/small.1",
    "first": True,
    "state": "loaded",
    "manifest": DIGEST,
    "family": "llama",
    "layers": 30,
    "context": 8192,
    "dtype": "bf16",
    "bytes": 269_060_552,
    "seconds": 12.5,
}
UNKNOWN: dict[str, Any] = dict.fromkeys(ENTRY) | {"name": "b", "first": False, "state": "unloaded"}


def document(*entries: Any) -> bytes:
    return json.dumps({"models": entries, "operator": False, "version": 1}).encode()


def test_the_list_is_asked_for_at_the_server_itself_with_the_token() -> None:
    seen: list[tuple[str, str | None]] = []

    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        seen.append((handler.path, handler.headers.get("Authorization")))
        respond(handler, 200, document(ENTRY, UNKNOWN))

    with http_server(get=answer) as endpoint:
        found = fetch_served(endpoint.of_model("b"), "secret-token")
    assert seen == [("/api/v1/models", "Bearer secret-token")]
    assert found == (
        ServedModel(
            "small.1", True, "loaded", DIGEST, "llama", 30, 8192, "bf16", 269_060_552, 12.5
        ),
        ServedModel("b", False, "unloaded"),
    )


@pytest.mark.parametrize("status", [404, 405])
def test_a_server_of_one_model_lists_none(status: int) -> None:
    with http_server(get=lambda handler: respond(handler, status, b"{}")) as endpoint:
        assert fetch_served(endpoint, None) is None


def test_refusals_keep_their_code_and_a_server_that_is_gone_is_told() -> None:
    body = json.dumps({"error": {"code": "unauthorized", "message": "no"}}).encode()
    with (
        http_server(get=lambda handler: respond(handler, 401, body)) as endpoint,
        pytest.raises(ServerRefused) as caught,
    ):
        fetch_served(endpoint, None)
    assert caught.value.code == "unauthorized"
    with unused_endpoint() as endpoint, pytest.raises(ServerUnreachable):
        fetch_served(endpoint, None)
    with (
        http_server(get=lambda handler: respond(handler, 500, b"x")) as endpoint,
        pytest.raises(ServerRefused) as caught,
    ):
        fetch_served(endpoint, None)
    assert caught.value.code == "not_a_split_server"


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b'{"models": {}}',
        document(),
        document(ENTRY, ENTRY),
        document(*(ENTRY | {"name": f"m{number}"} for number in range(257))),
        document("small"),
        document(ENTRY | {"name": "../x"}),
        document(ENTRY | {"name": "x" * 65}),
        document(ENTRY | {"name": None}),
        document(ENTRY | {"state": "gone"}),
        document(ENTRY | {"first": 1}),
        document(ENTRY | {"manifest": "X" * 64}),
        document(ENTRY | {"layers": -1}),
        document(ENTRY | {"seconds": "1"}),
    ],
    ids=range(15),
)
def test_a_list_that_cannot_be_believed_is_not_used(data: bytes) -> None:
    with pytest.raises(AnswerInvalid):
        parse_served(data)


def test_a_list_that_has_no_end_is_left() -> None:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        respond(handler, 200, b" " * ((1 << 20) + 1))

    with http_server(get=answer) as endpoint, pytest.raises(AnswerInvalid):
        fetch_served(endpoint, None)


def test_what_a_terminal_would_act_on_becomes_spaces() -> None:
    (model,) = parse_served(document(ENTRY | {"family": "a\x1b]0", "dtype": "b\r"}))
    assert (model.family, model.dtype) == ("a ]0", "b ")
