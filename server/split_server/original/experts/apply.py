"""Applies adapters to hidden states that the engine has returned, on a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from split_he.errors import HeError, InputOutOfRange
from split_he.params import HE_AVAILABLE
from split_server.adapters.adapter_file import AdapterFile
from split_server.original.experts.encryption import HeTimes, LocalEncryption
from split_server.original.experts.input_noise import InputNoise
from split_wire.errors import HiddenOverflow

_T = TypeVar("_T")
# Encryption takes milliseconds a row: a long prompt is not worth seconds of everybody's thread.
MAX_ROWS = 512
MAX_WAITING = 32
# Requests take turns after so many rows, so that a token need not wait for a whole prompt.
_SLICE = 4


@dataclass(frozen=True, slots=True)
class Applied:
    """``hidden`` [n, H] float32 with the adapter applied.

    ``times``: of the encryption, None where the adapter was applied in the clear, for ``reason``.
    """

    hidden: NDArray[np.float32]
    times: HeTimes | None
    reason: str | None


class Experts:
    """``encrypt``: whether adapters may run under encryption; ``noise``: on what goes into them.

    ``new``: makes the keys of one adapter. ``max_rows`` of one reply, ``max_waiting`` requests;
    what is beyond is applied in the clear.
    """

    def __init__(
        self,
        adapters: Mapping[str, AdapterFile] = MappingProxyType({}),
        *,
        encrypt: bool = True,
        noise: InputNoise | None = None,
        new: Callable[[NDArray[np.float32]], LocalEncryption] = LocalEncryption,
        max_rows: int = MAX_ROWS,
        max_waiting: int = MAX_WAITING,
    ) -> None:
        self._adapters = adapters
        self._encrypt = encrypt
        self._new = new
        self._max_rows, self._max_waiting = max_rows, max_waiting
        self._waiting = 0
        self._keys: dict[str, LocalEncryption] = {}
        # The keys are for one thread at a time.
        self._thread = ThreadPoolExecutor(1, "experts")
        self.noise = noise

    @property
    def names(self) -> frozenset[str]:
        """Of the adapters."""
        return frozenset(self._adapters)

    @property
    def keywords(self) -> dict[str, tuple[str, ...]]:
        """Words that ask for each adapter."""
        return {name: adapter.keywords for name, adapter in self._adapters.items()}

    @property
    def encrypts(self) -> bool:
        """Whether a request that names an adapter and wants encryption gets it, as a rule."""
        return bool(self._adapters) and self.refusal(wanted=True) is None

    def refusal(self, *, wanted: bool) -> str | None:
        """The reason why no adapter runs under encryption for any rows; None when one may."""
        if not wanted:
            return "the request does not want it (use_he is false)"
        if not self._encrypt:
            return "the server was started with --no-he"
        if not HE_AVAILABLE:
            return "the server lacks tenseal; pip install 'gatelink[he]'"
        return None

    async def apply(self, name: str, rows: NDArray[np.float32], *, use_he: bool) -> Applied:
        """The adapter ``name`` on every one of ``rows`` [n, H]. Raises HiddenOverflow."""
        adapter = self._adapters[name]
        reason = self.refusal(wanted=use_he) or self._crowded(rows.shape[0])
        self._waiting += 1
        try:
            inputs = rows if self.noise is None else await self._noised(rows, self.noise)
            if reason is None:
                try:
                    low, times = await self._encrypted(name, inputs)
                    return Applied(await self._run(_lifted, rows, low, adapter), times, None)
                except HeError as error:
                    reason = _in_words(error)
            hidden = await self._run(_in_the_clear, rows, inputs, adapter)
            return Applied(hidden, None, reason)
        finally:
            self._waiting -= 1
            self._top_up(name)

    def close(self) -> None:
        """End the thread after the slice at hand."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _crowded(self, rows: int) -> str | None:
        if rows > self._max_rows:
            return f"{rows} rows are more than the {self._max_rows} that are encrypted in one reply"
        if self._waiting >= self._max_waiting:
            return f"{self._waiting} requests wait for the encryption already"
        return None

    async def _noised(self, rows: NDArray[np.float32], noise: InputNoise) -> NDArray[np.float32]:
        slices = [rows[first : first + _SLICE] for first in range(0, rows.shape[0], _SLICE)]
        return np.concatenate([await self._run(noise, part) for part in slices])

    async def _encrypted(
        self, name: str, rows: NDArray[np.float32]
    ) -> tuple[NDArray[np.float64], HeTimes]:
        products, times = [], HeTimes()
        for first in range(0, rows.shape[0], _SLICE):
            part, spent = await self._run(self._multiply, name, rows[first : first + _SLICE])
            products.append(part)
            times += spent
        return np.concatenate(products), times

    def _multiply(
        self, name: str, rows: NDArray[np.float32]
    ) -> tuple[NDArray[np.float64], HeTimes]:
        if name not in self._keys:
            self._keys[name] = self._new(self._adapters[name].a)
        return self._keys[name].multiply(rows)

    def _top_up(self, name: str) -> None:
        """Make blinds for the next request while nobody waits."""

        def work() -> None:
            while not self._waiting and name in self._keys and self._keys[name].refill():
                pass

        # The thread is shut down when the server ends.
        with contextlib.suppress(RuntimeError):
            self._thread.submit(work)

    async def _run(self, work: Callable[..., _T], *arguments: object) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)


def _in_the_clear(
    rows: NDArray[np.float32], inputs: NDArray[np.float32], adapter: AdapterFile
) -> NDArray[np.float32]:
    with np.errstate(over="ignore", invalid="ignore"):
        low = inputs @ adapter.a.T
    return _lifted(rows, low, adapter)


def _lifted(
    rows: NDArray[np.float32],
    low: NDArray[np.float32] | NDArray[np.float64],
    adapter: AdapterFile,
) -> NDArray[np.float32]:
    """h + scale * B (A h) for ``rows`` [n, H] and ``low`` = A h [n, r]."""
    with np.errstate(over="ignore", invalid="ignore"):
        change = low.astype(np.float32) @ adapter.b.T
        hidden: NDArray[np.float32] = rows + np.float32(adapter.scale) * change
    if not np.isfinite(hidden).all():
        raise HiddenOverflow
    return hidden


def _in_words(error: HeError) -> str:
    if isinstance(error, InputOutOfRange):
        return f"a hidden state has norm {error.norm:.3g}, the scales hold up to {error.bound:.3g}"
    return str(error)
