from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from split_client.adapters.clear import ClearAdapters
from split_client.adapters.errors import AdapterListInvalid
from split_client.adapters.listing import MAX_BYTES, PATH, fetch_adapters, parse_listing
from split_client.errors import ServerRefused, ServerUnreachable
from split_server.adapters.folder import open_adapters
from split_server.adapters.listing import listing
from split_server.checkpoint.folder import EMBEDDED
from tests.split_client.servers import http_server, respond, unused_endpoint

ENTRY: dict[str, Any] = {
    "name": "banking",
    "description": "answers",
    "rank": 16,
    "hidden_size": 192,
    "scale": 1.0,
    "keywords": ["loan"],
    "license": "Apache-2.0",
    "encrypted": True,
}


def document(*entries: Any) -> bytes:
    return json.dumps({"adapters": entries}).encode()


def test_what_a_server_lists_is_read_back() -> None:
    served = open_adapters(EMBEDDED / "adapters", None)
    [read] = parse_listing(json.dumps(listing(served, he=True)).encode())
    [file] = served.values()
    assert (read.name, read.rank, read.hidden_size) == (file.name, file.rank, file.hidden_size)
    assert (read.scale, read.keywords, read.encrypted) == (file.scale, file.keywords, True)


WRONG: dict[str, bytes] = {
    "not JSON": b"<html>",
    "a list": b"[]",
    "no list": b'{"adapters": {}}',
    "an entry that is text": document("banking"),
    "a name with a slash": document(ENTRY | {"name": "../b"}),
    "a name that moves the cursor": document(ENTRY | {"name": "\x1b[2J"}),
    "no rank": document(ENTRY | {"rank": 0}),
    "a rank without bounds": document(ENTRY | {"rank": 1 << 40}),
    "a width that is text": document(ENTRY | {"hidden_size": "192"}),
    "a scale that is text": document(ENTRY | {"scale": "1"}),
    "a scale without bounds": document(ENTRY | {"scale": 1e300}),
    "no scale": document({key: value for key, value in ENTRY.items() if key != "scale"}),
    "keywords that are numbers": document(ENTRY | {"keywords": [1]}),
    "too many keywords": document(ENTRY | {"keywords": ["a"] * 1001}),
    "a long keyword": document(ENTRY | {"keywords": ["a" * 1000]}),
    "the same name twice": document(ENTRY, ENTRY),
    "too many": document(*(ENTRY | {"name": f"a{i}"} for i in range(65))),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_list_that_cannot_be_believed_is_refused_whole(name: str) -> None:
    with pytest.raises(AdapterListInvalid):
        parse_listing(WRONG[name])


def answering(status: int, body: bytes) -> Callable[[Any], None]:
    def get(handler: Any) -> None:
        assert handler.path == PATH
        respond(handler, status, body)

    return get


def test_adapters_that_the_server_applies_count_as_clear_whatever_it_says() -> None:
    with http_server(answering(200, document(ENTRY))) as endpoint:
        [adapter] = ClearAdapters.at(endpoint, None).available
    assert adapter.name == "banking"
    assert not adapter.encrypted


def test_a_server_that_does_not_know_of_adapters_has_none() -> None:
    with http_server() as endpoint:
        assert fetch_adapters(endpoint, None) == ()


def test_a_refusal_is_told_as_the_server_told_it() -> None:
    refusal = {"error": {"code": "unauthorized", "message": "a token", "retryable": False}}
    with (
        http_server(answering(401, json.dumps(refusal).encode())) as endpoint,
        pytest.raises(ServerRefused) as caught,
    ):
        fetch_adapters(endpoint, None)
    assert caught.value.code == "unauthorized"


def test_a_list_without_an_end_is_given_up() -> None:
    with (
        http_server(answering(200, b" " * (MAX_BYTES + 1))) as endpoint,
        pytest.raises(AdapterListInvalid, match="longer"),
    ):
        fetch_adapters(endpoint, None)


def test_nobody_there_is_told() -> None:
    with unused_endpoint() as endpoint, pytest.raises(ServerUnreachable):
        fetch_adapters(endpoint, None)
