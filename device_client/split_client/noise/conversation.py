"""The rows of one conversation, with noise, each recorded before it can leave."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from split_client.noise.account import Account
from split_client.noise.calibration import Clean
from split_client.noise.errors import NoiseDtypeChanged, NoiseOverflows
from split_client.noise.releases import Releases
from split_client.noise.spent import Count, Spent
from split_privacy.mechanism import RowMechanism
from split_privacy.prf import KEY_BYTES, NoiseContext, RowName, RowStreams, histories
from split_wire.tensor import WireDtype

LAYER = "embedding"
_LARGEST_F16 = 65504.0
# Sigmas that no draw of any conversation exceeds.
_FARTHEST = 40.0


class NoisedConversation:
    """``rows`` has the noise of a key that this conversation has for itself.

    What it counts: ``spent``, of which a part may also be counted as another's with the same key.
    """

    _dtype: WireDtype | None
    _moved: bool

    def __init__(
        self,
        mechanism: RowMechanism,
        clean: Clean,
        model: str,
        account: Account,
        folder: Path,
        key: bytes | None,
    ) -> None:
        self._mechanism, self._clean, self._model = mechanism, clean, model
        self._account, self._folder = account, folder
        self.spent = Spent()
        self._pid = os.getpid()
        self._begin(secrets.token_bytes(KEY_BYTES))
        if key is not None:
            self.use_key(key)

    def key(self) -> bytes:
        """The secret key, to be kept where the text is kept; with it a resend costs nothing.

        From now on what is released is remembered across restarts. Raises LedgerFailed.
        """
        self._releases.keep()
        return self._key

    def use_key(self, key: bytes) -> None:
        """Go on under a key that was kept. Raises InvalidDerivation, LedgerFailed."""
        self._begin(key)
        self._releases.keep()

    def rows(
        self, tokens: list[int], start: int, stop: int, dtype: WireDtype
    ) -> NDArray[np.float32]:
        """Noised rows float32 [stop - start, H] of ``tokens``, to travel as ``dtype``.

        All of ``tokens`` from ``start`` on is recorded first. Raises BudgetExhausted and the
        ledger's errors, NoiseOverflows, and NoiseDtypeChanged for another dtype than the first;
        then no row of them was released.
        """
        if self._dtype not in (None, dtype):
            raise NoiseDtypeChanged(str(self._dtype), dtype)
        if dtype == "f16" and self._largest() > _LARGEST_F16:
            raise NoiseOverflows(self._mechanism.sigma, dtype)
        if self._pid != os.getpid():
            # Parent and child may both go on, so the same token may be sent by either.
            self._pid, self._moved = os.getpid(), True
        self._follow(tokens)
        self._dtype = dtype
        streams = self._stream(dtype)
        self._settle(streams, self._names(tokens, start, len(tokens)))
        names = self._names(tokens, start, stop)
        return self._mechanism.release(self._clean(tokens[start:stop]), names, streams)

    def _begin(self, key: bytes) -> None:
        self._key = key
        self._streams: dict[WireDtype, RowStreams] = {}
        self._stream("f32")
        self._releases = Releases(self._folder, key, self._account.identity)
        self._tokens: list[int] = []
        self._histories: list[bytes] = []
        self._dtype = None
        # Whether tokens may have been moved since rows were last released: each such time the same
        # token may be released once more.
        self._moved = True

    def _largest(self) -> float:
        return self._mechanism.clip + _FARTHEST * self._mechanism.sigma

    def _stream(self, dtype: WireDtype) -> RowStreams:
        if dtype not in self._streams:
            mechanism = self._mechanism
            context = NoiseContext(
                self._key, LAYER, mechanism.sigma, mechanism.clip, self._model, dtype
            )
            self._streams[dtype] = RowStreams(context)
        return self._streams[dtype]

    def _follow(self, tokens: list[int]) -> None:
        """Histories of ``tokens``; of what goes on from before only the new part."""
        known = len(self._tokens)
        if self._tokens[: len(tokens)] == tokens:
            return
        if tokens[:known] == self._tokens:
            self._histories.extend(
                histories(tokens[known:], self._end_of_history()) if known else histories(tokens)
            )
        else:
            self._moved = True
            self._histories = histories(tokens)
        self._tokens = list(tokens)

    def _end_of_history(self) -> bytes:
        return histories([self._tokens[-1], 0], self._histories[-1])[1]

    def _names(self, tokens: list[int], start: int, stop: int) -> list[RowName]:
        return [RowName(at, tokens[at], self._histories[at]) for at in range(start, stop)]

    def _settle(self, streams: RowStreams, names: list[RowName]) -> None:
        new = [name for name in map(streams.name, names) if name not in self._releases]
        if not new:
            return
        count = Count(len(new), 1 if self._moved else 0)
        self._account.spend(count)
        self.spent = self.spent.plus(self._account.kind, count)
        self._releases.add(new)
        self._moved = False


def never_plain(_: list[int]) -> NDArray[np.float32]:
    """A stand-in for the source of rows without noise."""
    raise AssertionError("a conversation with noise sends no plain rows")


def bound(
    conversation: NoisedConversation, dtype: Callable[[], WireDtype]
) -> Callable[[list[int], int, int], NDArray[np.float32]]:
    """The rows of a conversation in the dtype that its session has by then."""
    return lambda tokens, start, stop: conversation.rows(tokens, start, stop, dtype())
