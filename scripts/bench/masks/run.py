"""One-time masks: what each side computes ahead of a token, and with it.

    python -m scripts.bench.masks.run [--shapes 896x16 1536x32 ...] [--rounds 201]

Medians of processor time, one thread. "host, with the token" is all that the host's own code does
for a masked state, from the bytes of the body to those of the answer, and once more after 32 MiB
of other memory were gone through; what a web server adds is in ``scripts.bench.masks.live``.
Products are compared with float64.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np

from scripts.bench.he.inputs import Measured, Problem
from scripts.bench.he.run import shape
from scripts.bench.report import finish, heading, table
from split_he import device
from split_he.blinds import HostKey
from split_he.host import HostAdapter
from split_he.keys import DeviceKeys
from split_he.modular import Residues
from split_masks import host
from split_masks.device import Hiding, Mask
from split_masks.host import HostMatrix
from split_masks.ranges import MaskRange
from split_server.adapter_host.budget import QueryBudget
from split_server.adapter_host.limits import HostLimits
from split_server.adapter_host.masks.desk import MaskDesk
from split_server.adapter_host.masks.held import SessionMasks
from split_server.adapter_host.masks.terms import MaskTerms
from split_server.adapter_host.shapes import QUERY_HEAD

_SHAPES = ["192x16", "896x16", "1536x32", "4096x32", "8192x64"]
_ERROR_BOUND = 1e-4
_BAR_MS = 0.05
_OTHER = np.zeros(4 << 20)


@dataclass(frozen=True)
class _Sides:
    """What both sides hold of one shape."""

    problem: Problem
    adapter: HostAdapter
    matrix: HostMatrix
    keys: DeviceKeys
    key: HostKey

    @classmethod
    def of(cls, problem: Problem) -> _Sides:
        nonces = os.urandom(32), os.urandom(32)
        adapter = HostAdapter.prepare(problem.a)
        keys = DeviceKeys.generate(*nonces)
        key = adapter.evaluator(keys.public, *nonces)
        return cls(problem, adapter, HostMatrix(problem.a, adapter.packing), keys, key)


class _Desk:
    """The host's desk with one session, whose masks are put there."""

    def __init__(self, matrix: HostMatrix) -> None:
        self._session: Any = SimpleNamespace(id=bytes(16), principal="one", adapter="made")
        self._masks, self._number = SessionMasks("one"), 0
        make: Callable[..., Awaitable[Any]] = asyncio.sleep
        terms = MaskTerms({"made": matrix}, None)
        self._desk = MaskDesk(terms, HostLimits(), QueryBudget(0), make)
        self._desk._held[bytes(16)] = self._masks
        self._masks.begin(MaskRange(bytes(16), 0, 1000))

    def keep(self, kept: Residues) -> int:
        """The number of a mask that is ready."""
        self._number += 1
        self._masks.kept[self._number] = kept
        return self._number

    def answer(self, number: int, state: bytes) -> bytes:
        return self._desk.apply(self._session, number, state)


def measure(problem: Problem, rounds: int) -> Measured:
    """``rounds`` masks, then as many tokens, as between replies and in one; each after a first one
    that does not count.
    """
    sides, measured = _Sides.of(problem), Measured()
    desk = _Desk(sides.matrix)
    masks = [_ahead(sides, desk, measured) for _ in range(rounds + 1)]
    for mask in masks:
        _token(sides, desk, mask, measured)
    for _ in range(rounds + 1):
        _encrypted(sides, measured)
    for laps in measured.cpu_ms.values():
        del laps[0]
    return measured


def _ahead(sides: _Sides, desk: _Desk, measured: Measured) -> Mask:
    plan, keys = sides.adapter.packing, sides.keys
    measured.lap("blind", lambda: sides.key.refill(1))
    hiding = measured.lap("draw", lambda: Hiding.draw(keys, plan))
    reply, kept = measured.lap(
        "reply", lambda: host.evaluate(sides.adapter, hiding.query, sides.key)
    )
    measured.sizes = {"ahead up": QUERY_HEAD + len(hiding.query), "ahead down": len(reply)}
    number = desk.keep(kept)
    made: Mask = measured.lap("open", lambda: hiding.mask(number, reply, keys, plan))
    return made


def _token(sides: _Sides, desk: _Desk, mask: Mask, measured: Measured) -> None:
    plan, h = sides.adapter.packing, sides.problem.h
    state = measured.lap("mask", lambda: mask.masked(device.rounded(h, plan)))
    answer = measured.lap("answer", lambda: desk.answer(mask.number, state))
    found = measured.lap("product", lambda: mask.product(answer))
    measured.require(sides.problem.error(found), _ERROR_BOUND, "a mask")
    _sweep()
    number = desk.keep(np.zeros(plan.rank, np.uint64))
    measured.lap("answer, cold", lambda: desk.answer(number, state))
    measured.sizes |= {"up": QUERY_HEAD + len(state), "down": len(answer)}


def _sweep() -> None:
    """Have the processor's caches hold something else."""
    _OTHER[:] += 1


def _encrypted(sides: _Sides, measured: Measured) -> None:
    """The host's work for a token without a mask, its blind made before."""
    sides.key.refill(1)
    query = device.encrypt(sides.problem.h, sides.keys, sides.adapter.packing)
    measured.lap("encrypted", lambda: sides.adapter.evaluate(query, sides.key))


def _row(name: str, measured: Measured) -> list[str]:
    ahead = (
        f"{measured.median('draw', 'open'):.2f} ms",
        f"{measured.median('reply', 'blind'):.2f} ms",
    )
    online = [measured.median(*of) for of in (("mask", "product"), ("answer",), ("answer, cold",))]
    sizes = [f"{size:,} B" for size in measured.sizes.values()]
    encrypted = f"{measured.median('encrypted'):.2f} ms"
    return [name, *ahead, *(f"{ms:.3f} ms" for ms in online), encrypted, *sizes,
            f"{measured.error:.1e}"]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shapes", nargs="+", type=shape, default=[shape(s) for s in _SHAPES])
    parser.add_argument("--rounds", type=int, default=201)
    options = parser.parse_args()
    rows, problems = [], []
    for hidden, rank in options.shapes:
        measured = measure(Problem.random(hidden, rank), options.rounds)
        rows.append(_row(f"{hidden}x{rank}", measured))
        if measured.sizes["up"] > 8 * hidden:
            problems.append(f"{hidden}x{rank}: more than 8 d bytes up")
        if (hidden, rank) == (896, 16) and measured.median("answer") > _BAR_MS:
            problems.append(f"the host takes {measured.median('answer'):.3f} ms for a token")
    print(heading("One-time masks", "float32 adapters"))
    print(f"Medians of {options.rounds} rounds, processor time of one thread.\n")
    head = ["d x r", "device, ahead", "host, ahead", "device, with the token",
            "host, with the token", "caches cold", "host, encrypted", "ahead, up", "ahead, down",
            "up", "down", "error"]  # fmt: skip
    print(table(head, rows))
    finish(problems)


if __name__ == "__main__":
    main()
