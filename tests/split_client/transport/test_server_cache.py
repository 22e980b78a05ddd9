from __future__ import annotations

import http.server
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from split_client.errors import AnswerInvalid, ServerRefused, ServerUnreachable
from split_client.transport.endpoint import Endpoint
from split_client.transport.server_cache import (
    DiskCache,
    Purged,
    ServerCache,
    fetch_server_cache,
    purge_server_cache,
)
from tests.split_client.servers import http_server, respond, unused_endpoint

KEPT: dict[str, Any] = {
    "reuse": "exact",
    "runs": 3,
    "bytes": 4096,
    "limit_bytes": 1 << 30,
    "ttl_seconds": 3600.0,
    "pinned_bytes": 0,
    "disk": {"files": 1, "bytes": 99, "limit_bytes": 1 << 40, "ttl_seconds": 86400},
}


@contextmanager
def telling(status: int, document: object) -> Iterator[tuple[Endpoint, list[Any]]]:
    seen: list[Any] = []

    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length") or 0)
        seen.append((handler.command, handler.path, handler.rfile.read(length)))
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        respond(handler, status, body)

    with http_server(get=answer) as endpoint:
        yield endpoint, seen


def test_what_a_server_keeps_is_told() -> None:
    with telling(200, KEPT) as (endpoint, seen):
        kept = fetch_server_cache(endpoint, None)
    disk = DiskCache(1, 99, 1 << 40, 86_400)
    assert kept == ServerCache(True, 3, 4096, 1 << 30, 3600, 0, disk)
    assert seen == [("GET", "/api/v1/cache", b"")]


def test_a_server_that_keeps_nothing_says_so() -> None:
    with telling(200, KEPT | {"reuse": "off", "disk": None}) as (endpoint, _):
        kept = fetch_server_cache(endpoint, None)
    assert kept is not None
    assert (kept.reuse, kept.disk) == (False, None)


def test_a_server_that_does_not_know_the_question_does_not_say() -> None:
    with telling(404, {}) as (endpoint, _):
        assert fetch_server_cache(endpoint, None) is None


@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        b"[]",
        b"x" * 70_000,
        KEPT | {"runs": -1},
        KEPT | {"bytes": "1"},
        KEPT | {"reuse": True},
        KEPT | {"ttl_seconds": None},
        KEPT | {"ttl_seconds": 1e300},
        KEPT | {"disk": []},
        KEPT | {"disk": {"files": 1}},
    ],
)
def test_an_untrue_answer_is_refused(wrong: object) -> None:
    with telling(200, wrong) as (endpoint, _), pytest.raises(AnswerInvalid):
        fetch_server_cache(endpoint, None)


def test_a_refusal_is_one() -> None:
    error = {"error": {"code": "unauthorized", "message": "no", "retryable": False}}
    with telling(401, error) as (endpoint, _), pytest.raises(ServerRefused) as refused:
        fetch_server_cache(endpoint, None)
    assert refused.value.code == "unauthorized"
    with telling(500, b"oops") as (endpoint, _), pytest.raises(ServerRefused) as broken:
        fetch_server_cache(endpoint, None)
    assert broken.value.code == "not_a_split_server"


def test_a_server_that_is_not_there_is_unreachable() -> None:
    with unused_endpoint() as endpoint, pytest.raises(ServerUnreachable):
        fetch_server_cache(endpoint, None)


@pytest.mark.parametrize(("salt", "sent"), [(None, b""), ("word", b'{"cache_salt": "word"}')])
def test_all_that_is_kept_of_a_user_is_deleted(salt: str | None, sent: bytes) -> None:
    with telling(200, {"runs": 2, "bytes": 10}) as (endpoint, seen):
        assert purge_server_cache(endpoint, None, salt) == Purged(2, 10)
    assert seen == [("DELETE", "/api/v1/cache", sent)]


def test_a_server_that_cannot_delete_is_told_apart() -> None:
    with telling(405, {}) as (endpoint, _):
        assert purge_server_cache(endpoint, None, None) is None


def test_the_tiers_that_a_server_keeps_are_told_exact_where_it_does_not_say() -> None:
    for told, tiers in ((["exact", "int8"], ("exact", "int8")), (None, ("exact",))):
        with telling(200, KEPT | {"tiers": told}) as (endpoint, _):
            kept = fetch_server_cache(endpoint, None)
        assert kept is not None
        assert kept.tiers == tiers
