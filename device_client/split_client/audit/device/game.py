"""The distinguishing game: prompts that differ in one token, released many times with fresh keys.

The two tokens are the ones whose clipped rows lie farthest apart, as far as a search finds them:
the hardest case that the claim covers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from split_client.audit.attacks.knowledge import PublicModel, clipped
from split_client.audit.device.modes import Mode
from split_client.audit.device.rows import audit_key
from split_client.audit.device.stand_in import StandIn
from split_client.audit.recording import Recorder, Recording
from split_client.transport.channel import Channel
from split_client.transport.remote import RemoteBackend
from split_wire.tensor import WireDtype

_HOPS = 4


def farthest_pair(model: PublicModel, clip: float | None) -> tuple[int, int]:
    """Two tokens with rows far apart: from the longest row to its farthest, and on from there."""
    one, other = _farthest(model, np.zeros(model.hidden), clip), -1
    for _ in range(_HOPS):
        row = clipped(model.rows([one]).astype(np.float64), clip)[0]
        found = _farthest(model, row, clip)
        if found == other:
            break
        one, other = found, one
    return one, other


def releases(
    model: PublicModel, mode: Mode, dtype: WireDtype, token: int, count: int, seed: int
) -> Iterator[Recording]:
    """Record ``count`` prompts whose message is ``token``, each in a conversation of its own."""
    recorder = Recorder()
    connect = recorder.wrap(lambda _kind, _timeout: StandIn(model.hidden, dtype))
    channel = Channel(connect, "websocket")
    ids = [*model.prefix, token, *model.suffix]
    for number in range(count):
        recording = recorder.start()
        backend = RemoteBackend(channel, model.hidden, model.digest, len(ids), mode.dtype)
        backend.open()
        rows = mode.rows.conversation(audit_key(seed, "game", mode.name, token, number))
        backend.step(0, rows.rows(ids, 0, len(ids), backend.dtype))
        yield recording


def _farthest(model: PublicModel, point: np.ndarray, clip: float | None) -> int:
    best, at = -1.0, 0
    for start, table, _ in model.clipped_blocks(clip):
        distances = np.square(table - point).sum(axis=1)
        index = int(np.argmax(distances))
        if distances[index] > best:
            best, at = float(distances[index]), start + index
    return at
