"""What a request's body takes of its principal's share, and for how long."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.requests import Request

from split_server.compat.openai.fields import Fields
from split_server.compat.openai.model import ServedModel
from split_server.compat.turns import Turns
from split_server.http.openai.guard import Asked, posted
from split_server.http.openai.sink import Sink
from split_server.http.wire.body import Bodies
from split_server.http.wire.quota import Quota
from split_server.security.principal import principal_of, set_principal
from split_wire.errors import Overloaded
from tests.engines import run
from tests.patience import PATIENCE

SERVED = cast("ServedModel", SimpleNamespace())
LARGE = 300_000


def request(size: int) -> Request:
    body = json.dumps({"a": "b" * size}).encode()
    messages: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await asyncio.Event().wait()
        raise AssertionError

    headers = [(b"content-length", str(len(body)).encode())]
    scope: dict[str, Any] = {"type": "http", "method": "POST", "path": "/", "headers": headers}
    set_principal(scope, "somebody")
    return Request(scope, receive)


async def ignored(message: Any) -> None:
    del message


def free(quota: Quota, who: str) -> bool:
    """Whether the whole share is there."""
    with ExitStack() as held:
        try:
            held.enter_context(quota.hold(who, 2 * LARGE))
        except Overloaded:
            return False
    return True


@pytest.mark.parametrize("size", [10, LARGE])
@pytest.mark.parametrize("fails", [False, True])
def test_a_body_counts_until_its_tokens_are_known(size: int, fails: bool) -> None:
    quota, large = Quota(2 * LARGE, "bytes"), Turns()
    seen: list[bool] = []

    async def answer(parsed: Fields, who: Asked, sink: Sink) -> None:
        del parsed, sink
        seen.append(free(quota, who.principal))
        if fails:
            raise Overloaded("too many")
        who.knows(5)
        seen.append(free(quota, who.principal))

    async def main() -> None:
        endpoint = posted(Bodies(quota), SERVED, large, lambda fields, _: fields, answer)
        asked = request(size)
        response = await endpoint(asked)
        assert not free(quota, principal_of(asked.scope))
        await response(asked.scope, asked.receive, ignored)
        assert free(quota, principal_of(asked.scope))
        async with asyncio.timeout(PATIENCE), large.turn("another"):
            pass

    run(main())
    assert seen == ([False] if fails else [False, True])


def test_of_large_bodies_one_at_a_time_is_parsed_and_tokenized() -> None:
    large, inside = Turns(), list[int]()

    async def answer(parsed: Fields, who: Asked, sink: Sink) -> None:
        del parsed, sink
        inside.append(1)
        for _ in range(5):
            await asyncio.sleep(0)
        assert sum(inside) == 1
        inside.pop()
        who.knows(1)

    async def main() -> None:
        bodies = Bodies(Quota(10 * LARGE, "bytes"))
        endpoint = posted(bodies, SERVED, large, lambda fields, _: fields, answer)

        async def one() -> None:
            asked = request(LARGE)
            await (await endpoint(asked))(asked.scope, asked.receive, ignored)

        await asyncio.gather(*(one() for _ in range(4)))

    run(main())
