"""The gate before an application that is loaded meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from split_server.http.health import Condition
from split_server.serving.lifecycle import gate as gate_module
from split_server.serving.lifecycle.gate import Gate
from tests.patience import PATIENCE


class _App:
    max_message_bytes = 77

    def __init__(self) -> None:
        self.said: list[str] = []
        self.condition = Condition(ready=lambda: True)

        async def answer(_: object) -> PlainTextResponse:
            return PlainTextResponse("served")

        self.asgi = Starlette(routes=[Route("/thing", answer)])

    def leave(self) -> None:
        self.said.append("leave")

    def exposition(self) -> bytes:
        return b"of the application"

    async def drain(self) -> None:
        self.said.append("drain")


def _client(gate: Gate) -> httpx.AsyncClient:
    transport: Any = httpx.ASGITransport(gate)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")


async def _held(gate: Gate, count: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while gate._held < count:  # noqa: ASYNC110 - nobody is told that a request waits
            await asyncio.sleep(0)


def test_requests_wait_and_health_checks_do_not() -> None:
    async def run() -> None:
        gate, app = Gate(), _App()
        async with _client(gate) as client:
            waiting = asyncio.create_task(client.get("/thing"))
            await _held(gate, 1)
            health, ready = await client.get("/health"), await client.get("/ready")
            assert (health.status_code, health.json()) == (200, {"status": "ok"})
            assert (ready.status_code, ready.json()) == (503, {"status": "unready"})
            assert ready.headers["x-content-type-options"] == "nosniff"
            assert gate.largest is None
            assert not gate.condition.ready()
            gate.hand_over(app, lambda: app.said.append("started"))
            assert gate.largest == 77
            assert gate.condition.ready()
            assert gate.exposition() == b"of the application"
            # It has not started yet.
            assert not waiting.done()
            gate.open()
            assert (await waiting).text == "served"
            gate.started()
            gate.leave()
            await gate.drain()
        assert app.said == ["started", "leave", "drain"]

    asyncio.run(run())


def test_only_so_many_requests_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_module, "_MOST_HELD", 2)

    async def run() -> None:
        gate, app = Gate(), _App()
        async with _client(gate) as client:
            waiting = [asyncio.create_task(client.get("/thing")) for _ in range(2)]
            await _held(gate, 2)
            refused = await client.get("/thing")
            assert refused.status_code == 503
            assert refused.json()["error"]["code"] == "overloaded"
            assert refused.headers["retry-after"] == "5"
            gate.hand_over(app, lambda: None)
            gate.open()
            assert [each.text for each in await asyncio.gather(*waiting)] == ["served"] * 2

    asyncio.run(run())


def test_what_never_came_needs_no_end() -> None:
    gate = Gate()
    gate.leave()
    asyncio.run(gate.drain())
