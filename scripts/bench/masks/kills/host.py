"""A host that writes down all that it is sent of masks, before it does anything with it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import uvicorn

from scripts.bench.masks.kills.device import HIDDEN
from scripts.bench.masks.kills.fuse import Fuse, Journal
from split_he.modular import Residues
from split_masks.host import HostMatrix
from split_masks.ranges import MaskRange, RangeFile
from split_server.adapter_host.host import AdapterHost
from split_server.adapter_host.limits import HostLimits
from split_server.adapter_host.masks.desk import MaskDesk
from split_server.adapter_host.sessions import HostSession
from split_server.adapters.adapter_file import AdapterFile
from split_server.serving.adapter_host.app import AdapterHostApp
from split_server.serving.adapter_host.config import AdapterHostConfig
from split_server.serving.adapter_host.startup import make_host
from split_server.serving.doorway import open_doorway

BUDGET = 1 << 40


def run(port: int, state: Path, journal: Journal, fuse: Fuse) -> None:
    """Serve until it is ended."""
    _journalled(journal)
    many = {"sessions": 4096, "sessions_per_principal": 4096, "masks_per_principal": 1 << 16}
    host = make_host({"made": _adapter()}, HostLimits(workers=1, **many), BUDGET, state, 64.0)
    fuse.around_files()
    for name in ("reserve", "make_mask", "masked"):
        fuse.around(AdapterHost, name, name)
    config = AdapterHostConfig(port=port, state=state)
    doorway = open_doorway(config)
    app = AdapterHostApp(host, config, doorway.policy)
    uvicorn.run(app.asgi, host="127.0.0.1", port=port, log_level="error", ws="none")


def _adapter() -> AdapterFile:
    draw = np.random.default_rng(0)
    a = draw.normal(size=(4, HIDDEN)).astype(np.float32)
    b = draw.normal(size=(HIDDEN, 4)).astype(np.float32)
    return AdapterFile("made", "made", 4, HIDDEN, 0.01, a, b, (), None, "CC0-1.0")


def _journalled(journal: Journal) -> None:
    reserve, make, apply = RangeFile.reserve, MaskDesk.make, MaskDesk.apply
    answer = HostMatrix.answer

    def reserved(file: RangeFile, label: str, count: int) -> MaskRange:
        given = reserve(file, label, count)
        journal.write("give", given.name.hex(), given.first, given.count)
        return given

    async def made(desk: MaskDesk, session: HostSession, number: int, query: bytes) -> bytes:
        journal.write("make", session.id.hex(), number, _digest(query))
        return await make(desk, session, number, query)

    def applied(desk: MaskDesk, session: HostSession, number: int, masked: bytes) -> bytes:
        journal.write("see", session.id.hex(), number, _digest(masked))
        return apply(desk, session, number, masked)

    def answered(matrix: HostMatrix, masked: bytes, kept: Residues) -> bytes:
        journal.write("spend", _digest(kept.tobytes()), _digest(masked))
        return answer(matrix, masked, kept)

    RangeFile.reserve = reserved  # type: ignore[method-assign]
    MaskDesk.make, MaskDesk.apply = made, applied  # type: ignore[method-assign]
    HostMatrix.answer = answered  # type: ignore[method-assign]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:24]
