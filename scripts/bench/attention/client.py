"""A client that wants attention, as a worker.

``python -m scripts.bench.attention.client URL SERVER_PID``

Requests: ``model`` (its dimensions), ``generate`` (one greedy reply with its times), ``check``
(the replies of all forms are one reply, and its rows are attention).
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Literal, TypeAlias

import httpx
import numpy as np
import psutil

from scripts.bench.token_streams import Received, event_tokens, socket_tokens
from scripts.bench.workers import Operations, serve

Form: TypeAlias = Literal["plain", "binary", "events"]
# Of float32 weights that were summed in another order.
_SUM_TOLERANCE = 1e-5


class AttentionClient(Operations):
    """Answers the requests; ``server`` is whose processor time is read."""

    def __init__(self, url: str, server: int) -> None:
        self._url = url
        self._server = psutil.Process(server)

    def model(self) -> dict[str, Any]:
        """The server's description of its model."""
        answer = httpx.get(f"{self._url}/api/v1/model", trust_env=False)
        document: dict[str, Any] = answer.raise_for_status().json()
        return document

    def generate(self, form: Form, ids: list[int], tokens: int, marks: list[int]) -> dict[str, Any]:
        """Ids, seconds at which each token was whole, the server's seconds of processor at the
        tokens numbered ``marks``, and bytes per token.
        """
        return asyncio.run(self._generate(form, ids, tokens, frozenset(marks)))

    def check(self, ids: list[int], tokens: int, rows: int, exact: bool) -> dict[str, Any]:
        """Ends the worker when a row of the ``rows`` per token is no attention, and with ``exact``
        when the forms have other tokens.
        """
        return asyncio.run(self._check(ids, tokens, rows, exact))

    async def _generate(
        self, form: Form, ids: list[int], tokens: int, marks: frozenset[int]
    ) -> dict[str, Any]:
        found: list[int] = []
        stamps: list[float] = []
        processor: dict[int, float] = {}
        size = 0
        async with aclosing(self._tokens(form, ids, tokens)) as received:
            async for one in received:
                stamps.append(time.perf_counter())
                if len(found) in marks:
                    processor[len(found)] = self._processor_seconds()
                found.append(one.token)
                size += one.size
        _require(len(found) == tokens, f"{form}: {len(found)} tokens instead of {tokens}")
        return {"ids": found, "stamps": stamps, "processor": processor, "bytes": size / tokens}

    async def _check(self, ids: list[int], tokens: int, rows: int, exact: bool) -> dict[str, Any]:
        plain, binary, events = [
            [one async for one in self._tokens(form, ids, tokens)]
            for form in ("plain", "binary", "events")
        ]
        chosen = [one.token for one in plain]
        _require(len(chosen) == tokens, f"{len(chosen)} tokens instead of {tokens}")
        for name, form in (("binary", binary), ("events", events)):
            _require(len(form) == tokens, f"{name}: {len(form)} tokens instead of {tokens}")
            same = [one.token for one in form] == chosen
            _require(same or not exact, f"{name}: other tokens")
        furthest = 0.0
        for number, (left, right) in enumerate(zip(binary, events, strict=True)):
            assert left.rows is not None
            assert right.rows is not None
            weights = left.rows.reshape(rows, len(ids) + number)
            sums = weights.sum(axis=1, dtype=np.float64)
            furthest = max(furthest, float(np.abs(sums - 1).max()))
            _require(weights.min() >= 0, "a negative weight")
            alike = not exact or np.allclose(left.rows, right.rows, rtol=0, atol=_SUM_TOLERANCE)
            _require(alike, "the rows of the two forms differ")
        _require(furthest <= _SUM_TOLERANCE, f"a row sums to 1 only within {furthest:.1e}")
        return {"furthest_sum": furthest, "distinct": len(set(chosen))}

    def _tokens(self, form: Form, ids: list[int], tokens: int) -> AsyncGenerator[Received, None]:
        request = {
            "input_ids": ids,
            "max_length": tokens,
            "temperature": 0,
            "ignore_eos": True,
            "return_attention": form != "plain",
        }
        return (event_tokens if form == "events" else socket_tokens)(self._url, request)

    def _processor_seconds(self) -> float:
        times = self._server.cpu_times()
        return float(times.user + times.system)


def _require(holds: bool | np.bool_, otherwise: str) -> None:
    if not holds:
        raise SystemExit(f"not what was to be timed: {otherwise}")


if __name__ == "__main__":
    serve(AttentionClient(sys.argv[1], int(sys.argv[2])).handle)
