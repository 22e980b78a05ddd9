"""Whether what is kept gives what computing gives: prompts run both ways and are compared."""

from __future__ import annotations

import asyncio
import math
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from split_client.model.ends import DeviceEnds
from split_server.compat.backend import EngineBackend
from split_server.compat.keeping import Keeping
from split_server.compat.kept.trial import AskingBackend, Continued, continued
from split_server.kv.block_key import BLOCK
from split_server.sessions.in_process import InProcessSessions
from split_server.sessions.keeping.worth import WORTH_LOOKING
from split_server.threads import Threads
from split_wire.errors import HiddenOverflow, NonFinite, SplitError
from split_wire.tensor import WireDtype
from split_wire.tiers import Tier

# Fewer tokens are computed as fast as they are looked for, so that nothing would be reused.
LEAST_TOKENS = WORTH_LOOKING + BLOCK
# Largest norm of a difference over that of the state: what slices of a prefill do is well below.
_BOUNDS: dict[WireDtype, float] = {"f32": 1e-3, "f16": 2e-2, "bf16": 1e-1}
# What whole numbers of 8 bits do besides (docs/kv-reuse.md).
_INT8_BOUND = 1e-1


@dataclass(frozen=True, slots=True)
class Way:
    """One way to a reply with what is kept, against computing: ``warm`` sends all rows, ``parked``
    asks for what an ended session held, ``disk`` sends all rows where memory has nothing of them,
    ``int8`` sends all where they were kept as whole numbers. ``bound``: of the difference;
    ``failure``: why there is nothing to compare, a code.
    """

    way: str
    positions: int
    reused: int
    difference: float
    tokens_equal: bool
    bound: float
    failure: str | None = None


class Verification:
    """Lives on the event loop; what it computes is kept under a salt of its own and dropped."""

    def __init__(self, ends: DeviceEnds, sessions: InProcessSessions) -> None:
        self._ends = ends
        self._sessions = sessions
        self._threads = Threads("verify", 1)

    async def run(
        self, principal: str, prompts: Sequence[Sequence[int]], count: int
    ) -> dict[str, Any]:
        """The findings for ``prompts``, each continued by ``count`` tokens.

        Raises what steps raise.
        """
        dtype, found, problems = self._sessions.info.dtype, list[dict[str, Any]](), list[str]()
        for number, prompt in enumerate(prompts, 1):
            ways = await self._ways(principal, prompt, count)
            found.append({"tokens": len(prompt), "ways": [_document(way) for way in ways]})
            problems += [
                f"prompt {number}, {way.way}: {problem}"
                for way in ways
                for problem in _problems(way, dtype)
            ]
        bound = _BOUNDS[dtype]
        told = {"dtype": dtype, "bound": bound, "problems": problems, "prompts": found}
        return {"ok": not problems, **told}

    def close(self) -> None:
        """End its thread."""
        self._threads.close()

    async def _ways(self, principal: str, prompt: Sequence[int], count: int) -> list[Way]:
        ids, run = list(prompt), _Run(self._ends, self._sessions, principal)
        try:
            cold = await self._threads.run(lambda: run.cold(ids, count + 1))
            longer = [*ids, *cold.tokens[:count]]
            # Computed, and kept for the two that follow.
            await self._threads.run(lambda: run.again(ids, cold.tokens[:count]))
            await self._sessions.parked()
            warm = await self._tried(lambda: run.again(ids, cold.tokens[:count]))
            parked = await self._tried(lambda: run.asking(longer, cold.tokens[count:]))
            ways = [
                self._way("warm", len(ids), cold, 0, warm),
                self._way("parked", len(longer), cold, count, parked),
            ]
            if await run.on_disk_alone():
                read = await self._tried(lambda: run.again(ids, cold.tokens[:count]))
                ways.append(self._way("disk", len(ids), cold, 0, read))
            if "int8" in self._tiers:
                await self._threads.run(lambda: run.again(ids, cold.tokens[:count], "int8"))
                await self._sessions.parked()
                near = await self._tried(lambda: run.again(ids, cold.tokens[:count], "int8"))
                ways.append(self._way("int8", len(ids), cold, 0, near))
            return ways
        finally:
            run.cancelled.set()
            await self._sessions.parked()
            await run.forget()

    @property
    def _tiers(self) -> tuple[Tier, ...]:
        """In which something is kept here."""
        reuse = self._sessions.reuse
        return () if reuse is None else reuse.tiers

    def _way(
        self, name: str, positions: int, cold: Continued, at: int, found: Continued | SplitError
    ) -> Way:
        """``found`` has the states of ``cold`` from number ``at`` on."""
        bound = _BOUNDS[self._sessions.info.dtype] + (_INT8_BOUND if name == "int8" else 0.0)
        if isinstance(found, SplitError):
            return Way(name, positions, 0, math.inf, False, bound, found.code)
        end = at + len(found.tokens)
        difference = _difference(cold.states[at:end], found.states)
        equal = cold.tokens[at:end] == found.tokens
        return Way(name, positions, found.reused, difference, equal, bound)

    async def _tried(self, work: Callable[[], Continued]) -> Continued | SplitError:
        """What ``work`` returns; states that cannot be told are a finding."""
        try:
            return await self._threads.run(work)
        except (NonFinite, HiddenOverflow) as error:
            return error


class _Run:
    """The sessions of one prompt. Made on the event loop; methods that are not async block."""

    def __init__(self, ends: DeviceEnds, sessions: InProcessSessions, principal: str) -> None:
        self._ends, self._sessions, self._principal = ends, sessions, principal
        own = f"verify {secrets.token_hex(16)}"
        self._salts = {"exact": own, "int8": f"{own} int8"}
        self._loop = asyncio.get_running_loop()
        self.cancelled = threading.Event()

    def cold(self, ids: list[int], count: int) -> Continued:
        """On a session that keeps and finds nothing."""
        return self._continued(self._backend(EngineBackend, "off"), ids, count)

    def again(
        self, ids: list[int], tokens: Sequence[int], tier: Literal["exact", "int8"] = "exact"
    ) -> Continued:
        """All rows sent; what is known of them in ``tier`` is taken in."""
        backend = self._backend(EngineBackend, tier=tier)
        return self._continued(backend, ids, len(tokens), tokens)

    def asking(self, ids: list[int], tokens: Sequence[int]) -> Continued:
        """What is held is asked for first."""
        return self._continued(self._backend(AskingBackend), ids, len(tokens), tokens)

    async def on_disk_alone(self) -> bool:
        """Have what is kept on disk and no more in memory; False where there is no disk."""
        reuse = self._sessions.reuse
        names = None if reuse is None else reuse.names_of(self._principal, self._salts["exact"])
        if reuse is None or reuse.disk is None or names is None:
            return False
        await self._sessions.parked()
        await reuse.disk.flush()
        reuse.pool.purge(self._principal, names.space)
        return True

    async def forget(self) -> None:
        """Delete what was kept, in memory and on disk. On the event loop."""
        if self._sessions.reuse is not None:
            for salt in self._salts.values():
                await self._sessions.reuse.purge(self._principal, salt)

    def _backend(
        self,
        kind: type[EngineBackend],
        reuse: Literal["unaudited", "off"] = "unaudited",
        tier: Literal["exact", "int8"] = "exact",
    ) -> EngineBackend:
        sessions, loop, principal = self._sessions, self._loop, self._principal
        # What is exact is no way to what is not: each tier is under a salt of its own.
        kept = Keeping(self._salts[tier], cache=tier)
        return kind(sessions, loop, principal, self.cancelled, reuse, kept)

    def _continued(
        self, backend: EngineBackend, ids: list[int], count: int, given: Sequence[int] = ()
    ) -> Continued:
        try:
            return continued(self._ends, backend, ids, count, given)
        finally:
            backend.close()


def _difference(right: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """The largest norm of a row's difference over that of the row."""
    sizes = np.linalg.norm(right, axis=1)
    ratios = np.linalg.norm(right - other, axis=1) / np.maximum(sizes, np.finfo(np.float32).tiny)
    worst = float(ratios.max())
    return worst if math.isfinite(worst) else math.inf


def _problems(way: Way, dtype: WireDtype) -> Iterator[str]:
    if way.failure is not None:
        yield f"it failed with {way.failure}"
        return
    if not way.reused:
        yield "nothing was reused"
    if way.difference > way.bound:
        yield f"a state differs by {way.difference:.2g}, beyond the bound of {way.bound:g}"
    # Elsewhere another slicing may decide between two tokens that are as likely.
    if dtype == "f32" and way.way != "int8" and not way.tokens_equal:
        yield "other tokens"


def _document(way: Way) -> dict[str, Any]:
    # JSON has no infinity.
    told = asdict(way)
    return told | {"difference": way.difference if math.isfinite(way.difference) else None}
