"""A service inside a process whose memory is limited by the kernel, and random requests to it.

``python -m scripts.bench.memory_plan.server MODEL LIMIT REQUESTS SEED LONGEST LINEARS ENGINE``
prints a line of JSON for each request.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import sys
import threading
from dataclasses import replace
from typing import Any

_PRINCIPALS = ("ada", "babbage", "curie")
_ROWS = 512


def main() -> None:
    """Limit this process before anything large is imported, then serve."""
    model, limit, requests, seed, longest = sys.argv[1], *map(int, sys.argv[2:6])
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    options = {"linears": sys.argv[6], "engine": sys.argv[7]}
    asyncio.run(_serve(model, requests, seed, longest, options))


async def _serve(
    model: str, requests: int, seed: int, longest: int, options: dict[str, Any]
) -> None:
    from split_server.serving.config import ServerConfig
    from split_server.serving.startup import load_parts
    from split_server.sessions.making_way import MakingWay

    config = ServerConfig(model=model, threads=1, session_ttl=1e6, compat=False, **options)
    parts = load_parts(config)
    # Its sessions are idle as soon as they are answered, and may make way for each other.
    store = parts.steps.store
    store._way = MakingWay(replace(store._way.limits, active=0.0))
    parts.steps.start()
    crowd = _Crowd(parts, random.Random(seed), longest)
    for number in range(requests):
        for line in await crowd.request():
            print(json.dumps({"request": number} | line), flush=True)
    assert parts.memory is not None
    if options["engine"] == "llama":
        print(json.dumps({"cells": _cells(parts)}), flush=True)
    print(json.dumps({"memory": parts.memory()}), flush=True)
    await parts.steps.stop()


def _cells(parts: Any) -> int:
    """Of all sessions together."""
    size: int = parts.steps.info.kv_bytes_per_position
    return int(parts.memory()["caches"]["budget"]) // size


class _Crowd:
    """Sessions of several principals that ask for random things."""

    def __init__(self, parts: Any, rng: random.Random, longest: int) -> None:
        from split_server.original.sessions import OriginalSessions
        from split_wire.client import ClientProtocol

        info, digest = parts.steps.info, parts.manifest.digest
        self._new_device = lambda: ClientProtocol(info.hidden_size, digest)
        self._info, self._framed = info, parts.framed
        self._original = OriginalSessions(parts.steps)
        self._rng = rng
        self._longest = longest
        self._sessions: list[tuple[str, Any]] = []
        self._names = 0
        self._watch(parts.steps.store)

    async def request(self) -> list[dict[str, Any]]:
        """One request, or three at a time."""
        kind = self._rng.choices(
            ("prefill", "append", "decode", "truncate", "close", "together"), (9, 4, 4, 3, 3, 2)
        )[0]
        if kind == "together":
            return await asyncio.gather(*(self._prefill() for _ in range(3)))
        return [await getattr(self, f"_{kind}")()]

    async def _prefill(self) -> dict[str, Any]:
        principal = self._rng.choice(_PRINCIPALS)
        device = self._new_device()
        await self._exchange(principal, device, device.open())
        self._sessions.append((principal, device))
        return await self._extend(principal, device, 0, self._length()) | {"kind": "prefill"}

    async def _decode(self) -> dict[str, Any]:
        if not self._sessions:
            return await self._prefill()
        principal, device = self._rng.choice(self._sessions)
        return await self._extend(principal, device, device.cached, 1) | {"kind": "decode"}

    async def _truncate(self) -> dict[str, Any]:
        if not self._sessions:
            return await self._prefill()
        principal, device = self._rng.choice(self._sessions)
        start = self._rng.randint(0, device.cached)
        rows = self._rng.randint(1, 64)
        return await self._extend(principal, device, start, rows) | {"kind": "truncate"}

    async def _close(self) -> dict[str, Any]:
        if not self._sessions:
            return await self._prefill()
        principal, device = self._sessions.pop(self._rng.randrange(len(self._sessions)))
        frame = device.close()
        if frame is not None:
            await self._exchange(principal, device, frame)
        return {"kind": "close"}

    async def _append(self) -> dict[str, Any]:
        """A whole prompt in one request of the original protocol."""
        from split_wire.errors import SplitError
        from split_wire.tensor import Tensor

        self._names = self._names % 4 + 1
        rows = self._length()
        tensor = Tensor.from_f32(self._values(rows), "f32")
        principal = self._rng.choice(_PRINCIPALS)
        try:
            await self._original.append(principal, f"s{self._names}", tensor, False)
        except SplitError as error:
            return {"kind": "append"} | self._refusal(error, 0, rows)
        return {"kind": "append", "cached": rows}

    async def _extend(self, principal: str, device: Any, start: int, rows: int) -> dict[str, Any]:
        """Steps of at most 512 rows, until one is refused."""
        end = start + rows
        while start < end:
            count = min(_ROWS, end - start)
            frame = device.step(start, self._values(count))
            error = await self._exchange(principal, device, frame)
            if error is not None:
                line = self._refusal(error, start, count)
                self._forget_lost(device, error)
                return line
            start += count
        return {"cached": end}

    def _forget_lost(self, device: Any, error: Any) -> None:
        if error.code == "unknown_session":
            self._sessions = [known for known in self._sessions if known[1] is not device]

    def _watch(self, store: Any) -> None:
        """Have refusals carry what could not be displaced, as it was when they were made."""
        reserve = store.reserve

        def watched(session: Any, *wanted: int) -> None:
            try:
                reserve(session, *wanted)
            except Exception as error:
                error.state = self._state(store, session)  # type: ignore[attr-defined]
                raise

        store.reserve = watched

    def _state(self, store: Any, session: Any) -> dict[str, Any]:
        """Positions of the sessions of others, of busy ones, and of the refused one."""
        fixed = [
            self._positions(other.reserved)
            for other in store._all()
            if other is not session and (other.principal != session.principal or other.running)
        ]
        threads = threading.active_count()
        return {"others": fixed, "own": session.cache.capacity, "threads": threads}

    def _refusal(self, error: Any, start: int, rows: int) -> dict[str, Any]:
        line: dict[str, Any] = {"error": error.code, "text": str(error)}
        if error.code == "cache_full":
            line |= {"start": start, "rows": rows} | error.state
        return line

    def _positions(self, size: int) -> int:
        return size // self._info.kv_bytes_per_position

    async def _exchange(self, principal: str, device: Any, frame: bytes) -> Any:
        answer = await self._framed.handle(principal, frame)
        device.receive(answer.frame)
        return answer.error

    def _length(self) -> int:
        """From 1 to the longest, every order of magnitude as likely."""
        return round(self._longest ** self._rng.random())

    def _values(self, rows: int) -> Any:
        import numpy as np

        generator = np.random.default_rng(self._rng.randrange(1 << 30))
        return generator.standard_normal((rows, self._info.hidden_size), dtype=np.float32)


if __name__ == "__main__":
    main()
