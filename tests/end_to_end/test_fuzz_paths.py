"""A thousand damaged requests to each path of the text APIs that tells what never changes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from scripts.bench.hostile import mutations
from tests import patience
from tests.exhaustive import EXHAUSTIVE
from tests.server_process import RunningServer, running_server

pytestmark = pytest.mark.slow
COUNT = 1000 if EXHAUSTIVE else 200
PATHS = ("/tokenizer_info", "/props", "/v1/models/gatelink", "/api/tags", "/api/ps")
_METHODS = ("GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS")
_LETTERS = "a%/.\\\0\ud800ü?#&= \r\n{}~" + "x" * 40
_HEADERS = ("accept", "range", "if-none-match", "content-type", "expect", "te", "x-api-key")


@pytest.fixture(scope="module")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path) as running:
        yield running


@pytest.mark.parametrize("path", PATHS)
def test_damaged_requests_are_answered_in_form_and_change_nothing(
    server: RunningServer, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    rng = random.Random(path)  # noqa: S311 - repeatable, nothing secret
    with server.client() as client:
        before = client.get(path).json()
        seen = {_checked(_sent(client, rng, path)) for _ in range(COUNT)}
        assert {200, 404, 405} <= seen
        # What is told of a moment, such as until when a model stays, is told anew.
        assert client.get(path).json().keys() == before.keys()
    compat = server.parts.compat
    assert compat is not None
    patience.until(lambda: not compat.generator.places.running)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def _sent(client: httpx.Client, rng: random.Random, path: str) -> httpx.Response:
    """With another method, a path that goes on, a query, headers or a body that nobody reads."""
    more = "".join(rng.choice(_LETTERS) for _ in range(rng.randrange(30)))
    quoted = quote(more.encode("utf-8", "surrogatepass"), safe=rng.choice(("", "/%")))
    beyond = rng.choice(("", "", "/", "?", "/../", "%00"))
    url = path + (beyond + quoted if beyond else "")
    headers = {rng.choice(_HEADERS): quoted[: rng.randrange(200)] or "x"}
    body = mutations.mutated_text(rng, {"a": 1}).encode("utf-8", "surrogatepass")
    content = body if rng.random() < 0.3 else None
    return client.request(rng.choice(_METHODS), url, headers=headers, content=content)


def _checked(answer: httpx.Response) -> int:
    assert answer.status_code < 500, (answer.request.url, answer.text)
    if answer.status_code >= 400 and answer.content:
        told = answer.json()
        assert told.get("error") or told.get("message"), told
    return answer.status_code
