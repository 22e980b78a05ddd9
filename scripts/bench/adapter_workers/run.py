"""Two worker processes against one: queries encrypted beforehand, replayed by one light sender.

The sender is the host itself without HTTP: sessions, numbers, budget and the sockets to its workers
are those of ``split-server adapters``. Rounds of one and two workers alternate.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from dataclasses import dataclass

import numpy as np

from scripts.bench.report import heading, median, spread, table
from split_he.device import decrypt, encrypt
from split_he.keys import DeviceKeys
from split_he.layout import Packing
from split_server.adapter_host.budget import QueryBudget
from split_server.adapter_host.host import AdapterHost
from split_server.adapter_host.limits import HostLimits
from split_server.adapter_host.shapes import ckks_terms
from split_server.adapters.adapter_file import AdapterFile

_NAME, _PRINCIPAL = "made", "bench"
_RMS = 64.0


@dataclass
class Device:
    """A session and what it asks in every round; ``number`` of its last query."""

    session: bytes
    keys: DeviceKeys
    plan: Packing
    queries: list[bytes]
    number: int = 0


def main() -> None:
    options = _options()
    asyncio.run(_run(options))


async def _run(options: argparse.Namespace) -> None:
    file = _adapter(options.hidden, options.rank)
    hosts = {count: _host(file, count) for count in (1, 2)}
    hidden = np.random.default_rng(1).normal(size=options.hidden).astype(np.float32)
    devices: dict[int, list[Device]] = {}
    try:
        for count, host in hosts.items():
            await host.start()
            devices[count] = [await _device(host, hidden, options) for _ in range(options.sessions)]
        rates: dict[int, list[float]] = {1: [], 2: []}
        sender: dict[int, list[float]] = {1: [], 2: []}
        for number in range(options.rounds + 1):
            for count in (1, 2) if number % 2 else (2, 1):
                rate, cost = await _round(hosts[count], devices[count], file, hidden)
                if number:
                    rates[count].append(rate)
                    sender[count].append(cost)
            print(f"\rround {number} of {options.rounds}", end="", file=sys.stderr, flush=True)
    finally:
        for host in hosts.values():
            host.close()
    print(file=sys.stderr)
    _report(options, rates, sender)


async def _round(
    host: AdapterHost, devices: list[Device], file: AdapterFile, hidden: np.ndarray
) -> tuple[float, float]:
    """Queries per second, and the sender's processor milliseconds per query."""
    begun, cpu = time.perf_counter(), time.process_time()
    replies = await asyncio.gather(*(_replayed(host, device) for device in devices))
    seconds, used = time.perf_counter() - begun, time.process_time() - cpu
    count = sum(len(device.queries) for device in devices)
    expected = file.a.astype(np.float64) @ hidden.astype(np.float64)
    for device, reply in zip(devices, replies, strict=True):
        product = decrypt(reply, device.keys, device.plan)
        if np.linalg.norm(product - expected) > 1e-3 * np.linalg.norm(expected):
            raise SystemExit("a reply is wrong")
    return count / seconds, 1e3 * used / count


async def _replayed(host: AdapterHost, device: Device) -> bytes:
    """Every query of a device, one after the other; the last reply."""
    reply = b""
    for query in device.queries:
        device.number += 1
        reply = await host.evaluate(_PRINCIPAL, _NAME, device.session, device.number, query)
    return reply


async def _device(host: AdapterHost, hidden: np.ndarray, options: argparse.Namespace) -> Device:
    opened = host.open(_PRINCIPAL, _NAME)
    nonce = bytes(32)
    keys = DeviceKeys.generate(opened["host_nonce"], nonce)
    await host.set_key(_PRINCIPAL, _NAME, opened["session"], nonce, keys.public)
    plan = Packing.parse(opened["packing"])
    queries = [encrypt(hidden, keys, plan) for _ in range(options.queries)]
    return Device(opened["session"], keys, plan, queries)


def _adapter(hidden: int, rank: int) -> AdapterFile:
    draw = np.random.default_rng(0)
    a = (draw.normal(size=(rank, hidden)) / hidden**0.5).astype(np.float32)
    b = draw.normal(size=(hidden, rank)).astype(np.float32)
    return AdapterFile(_NAME, "Random numbers.", rank, hidden, 1.0, a, b, (), None, "CC0-1.0")


def _host(file: AdapterFile, workers: int) -> AdapterHost:
    limits = HostLimits(workers=workers)
    return AdapterHost(
        {_NAME: file}, lambda adapter: ckks_terms(adapter, _RMS), QueryBudget(0), limits
    )


def _report(
    options: argparse.Namespace, rates: dict[int, list[float]], sender: dict[int, list[float]]
) -> None:
    title = f"Adapter workers: hidden {options.hidden}, rank {options.rank}"
    print(heading(title, "CKKS"))
    rows = [
        [count, spread(rates[count], "1/s", 0), spread(sender[count], "ms")] for count in (1, 2)
    ]
    print(table(["workers", "queries", "CPU of the sender per query"], rows))
    ratios = [two / one for one, two in zip(rates[1], rates[2], strict=True)]
    print(f"Two over one: {spread(ratios, 'x')}.")
    if options.bar and median(ratios) < options.bar:
        raise SystemExit(f"below {options.bar}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hidden", type=int, default=1536)
    parser.add_argument("--rank", type=int, default=32)
    parser.add_argument("--sessions", type=int, default=4)
    parser.add_argument("--queries", type=int, default=100, help="of each session and round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--bar", type=float, default=0.0, help="fail below this median ratio")
    return parser.parse_args()


if __name__ == "__main__":
    main()
