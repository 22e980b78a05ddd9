"""A device that makes masks and uses them in replies until it is ended."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass

import numpy as np

from scripts.bench.masks.kills.fuse import Fuse, Journal
from split_client.crypto import making
from split_client.crypto.hosted import HostedAdapters
from split_client.crypto.link import HostLink
from split_client.errors import ClientError
from split_client.generation.sequence import Sequence
from split_client.transport.channel import Patience
from split_he.modular import Integers
from split_masks.device import Mask
from split_masks.ranges import MaskRange, RangeFile

HIDDEN = 64
_MASKS, _REPLIES, _STATES = 5, 3, 4
_FILL_SECONDS = 0.5
_PATIENCE = Patience(connect=1.0, exchange=5.0, total=0.3)


@dataclass(frozen=True)
class _Model:
    hidden_size: int = HIDDEN


def run(url: str, journal: Journal, fuse: Fuse) -> None:
    """A few replies. Ends quietly where the host is lost: it was ended too."""
    making._QUIET_SECONDS, making._LOOK_SECONDS = 0.0, 0.001
    _journalled(journal)
    fuse.around_files()
    fuse.around(HostLink, "ask", "request")
    fuse.around(Mask, "masked", "masking")
    try:
        _replies(url)
    except ClientError:
        journal.write("lost")


def _replies(url: str) -> None:
    adapters = HostedAdapters(url, None, _Model(), patience=_PATIENCE, masks=_MASKS)
    draw = np.random.default_rng()
    sequence = Sequence(None, lambda _: np.zeros((1, HIDDEN), np.float32))  # type: ignore[arg-type]
    adapters.prepare("made")
    for _ in range(_REPLIES):
        until = time.monotonic() + _FILL_SECONDS
        while adapters.masks.ready < _MASKS and time.monotonic() < until:
            if adapters.masks.reason:
                break
            time.sleep(0.001)
        adapters.use("made", sequence)
        assert sequence.correct is not None
        for _ in range(_STATES):
            sequence.correct(draw.normal(size=HIDDEN).astype(np.float32))
    adapters.close()


def _journalled(journal: Journal) -> None:
    """What a device does with its masks, written before it is done."""
    masked, accept = Mask.masked, RangeFile.accept

    def noted(mask: Mask, state: Integers) -> bytes:
        sent = masked(mask, state)
        journal.write("use", mask.number, _digest(mask.r.tobytes()), _digest(sent))
        return sent

    def taken(file: RangeFile, given: MaskRange) -> None:
        accept(file, given)
        journal.write("take", given.name.hex(), given.first, given.count)

    Mask.masked = noted  # type: ignore[method-assign]
    RangeFile.accept = taken  # type: ignore[method-assign]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:24]
