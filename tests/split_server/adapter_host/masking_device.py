"""A device with masks at a host without sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np

from split_he.device import rounded
from split_he.keys import DeviceKeys
from split_he.layout import Packing
from split_masks.device import Hiding, Mask
from split_masks.ranges import MaskRange
from split_server.adapter_host.host import AdapterHost
from tests.adapter_hosts import made_adapter, made_host

FILE = made_adapter()
HIDDEN = np.linspace(-2, 2, 64).astype(np.float32)
EXACT = FILE.a.astype(np.float64) @ HIDDEN.astype(np.float64)
Test = Callable[[AdapterHost], Awaitable[None]]


class Device:
    """A device of ``split_he`` without sockets, its masks by number."""

    def __init__(self, host: AdapterHost, principal: str = "ada") -> None:
        self.host, self.principal = host, principal
        opened = host.open(principal, "made")
        self.id: bytes = opened["session"]
        self.most: int = opened["masks"]
        self.plan = Packing.parse(opened["packing"])
        self.nonce = bytes(range(32))
        self.keys = DeviceKeys.generate(opened["host_nonce"], self.nonce)

    @property
    def whom(self) -> tuple[str, str, bytes]:
        return self.principal, "made", self.id

    async def key(self) -> None:
        await self.host.set_key(*self.whom, self.nonce, self.keys.public)

    async def reserve(self, count: int, ordinal: int = 1) -> MaskRange:
        return MaskRange.parse(await self.host.reserve(*self.whom, ordinal, count))

    async def mask(self, number: int) -> Mask:
        hiding = Hiding.draw(self.keys, self.plan)
        reply = await self.host.make_mask(*self.whom, number, hiding.query)
        return hiding.mask(number, reply, self.keys, self.plan)

    def masked(self, mask: Mask, hidden: np.ndarray = HIDDEN) -> bytes:
        return mask.masked(rounded(hidden, self.plan))

    def use(self, number: int, state: bytes) -> bytes:
        return self.host.masked(*self.whom, number, state)


async def keyed(host: AdapterHost, principal: str = "ada") -> Device:
    device = Device(host, principal)
    await device.key()
    return device


def with_host(folder: Path, test: Test, **options: Any) -> None:
    async def run() -> None:
        host = made_host({"made": FILE}, **({"masks": folder, "budget": 100} | options))
        await host.start()
        try:
            await test(host)
        finally:
            await host.stop()

    asyncio.run(run())
