"""A host that is not honest: it adds K x^j to a reply and reads a key's coordinate in what follows.

The second half of a reply times the key s lands in the results, so K x^j shifts the used result by
K s_(p-j). B pushes a state with a large product towards the end of the reply, and the host sees
whether another query comes. Of its adapter all weights are zero, so replies hold nothing else.
"""

from __future__ import annotations

import json
import os
import threading
from collections import defaultdict

import msgpack
import numpy as np
from numpy.typing import NDArray

from split_client.transport.base import Traffic
from split_he import wire
from split_he.device import QUERY_LABEL
from split_he.layout import packing
from split_he.modular import Integers, centre, centred, quotients, residues, times
from split_he.params import N
from split_he.sampling import expand
from split_he.transform import forward, inverse
from split_masks.numbers import pack
from split_masks.ranges import MaskRange
from split_server.adapters.adapter_file import AdapterFile
from split_server.adapters.listing import listing

HIDDEN = 64
PLAN = packing(HIDDEN, 1)
ENDS_ABOVE = 8.0
"""The first number of an adapted state from which the simulated model ends its reply."""
# A coordinate of 1 gives a product of 16; larger ones would wrap sooner.
_STEP = int(16 * PLAN.scale)
_RESULT = int(PLAN.used(0)[0])


class ReactingHost:
    """The host's side of every link; ``calls``: paths that were asked for, in their order.

    ``known``: what it takes the coordinates of each session's key to be. ``queries``: the bytes of
    each session's queries.
    """

    def __init__(self) -> None:
        self.honest = True
        self.calls: list[str] = []
        self.known: dict[bytes, dict[int, int]] = defaultdict(dict)
        self.queries: dict[bytes, list[bytes]] = defaultdict(list)
        self.nonces: dict[bytes, bytes] = {}
        self.ended = 0
        self._lock = threading.Lock()
        self._next, self._sign = 0, 1
        self._asked: bytes | None = None
        zeros, push = np.zeros((1, HIDDEN), "<f4"), np.zeros((HIDDEN, 1), "<f4")
        push[0] = 1.0
        self._file = AdapterFile("made", "", 1, HIDDEN, 1.0, zeros, push, (), None, "")

    def answer(self, path: str, body: bytes | None) -> bytes:
        """The answer to one request."""
        with self._lock:
            self.calls.append(path)
            match path.rpartition("/")[2]:
                case "b":
                    return self._file.b.tobytes()
                case "session":
                    return self._session()
                case "evaluate":
                    return self._evaluate(body or b"")
                case "":
                    return json.dumps(listing({"made": self._file}, he=True)).encode()
        return b""

    def hears_nothing(self) -> None:
        """No further query came after the last reply: what was being tried is so."""
        if not self.honest and self._asked is not None:
            self.ended += 1
            self._learn(self._asked, self._sign)
        self._asked = None

    @property
    def coordinates(self) -> dict[int, int]:
        """What it found out, whichever key it was of."""
        return {at: value for known in self.known.values() for at, value in known.items()}

    def opened(self, session: bytes, guess: dict[int, int]) -> NDArray[np.float64]:
        """The hidden state [H] in a session's first query, by a guess of its key."""
        secret = np.zeros(N, dtype=np.int64)
        for at, value in guess.items():
            secret[at] = value
        values = forward(secret)
        seed, halves = wire.parse_query(self.queries[session][0], PLAN)
        uniform = centred(expand(QUERY_LABEL, seed, PLAN.chunks))
        message: Integers = inverse(
            centre(centred(halves) + times(uniform, values, quotients(values)))
        )
        return np.asarray(message[0, :HIDDEN] / PLAN.input_scale, dtype=np.float64)

    def _session(self) -> bytes:
        session, nonce = os.urandom(16), os.urandom(32)
        self.nonces[session] = nonce
        answer: bytes = msgpack.packb(
            {"session": session, "host_nonce": nonce, "packing": PLAN.document()}
        )
        return answer

    def _evaluate(self, body: bytes) -> bytes:
        session = body[:16]
        self.queries[session].append(body[24:])
        halves = np.zeros((1, 2, N), dtype=np.int64)
        if not self.honest:
            if self._asked is not None:
                self._went_on(self._asked)
            self._asked = session
            halves[0, 1] = forward(shift(self._next, self._sign))
        return wire.pack_reply(residues(halves))

    def _went_on(self, session: bytes) -> None:
        """Another query came: the coordinate has not this sign."""
        if self._sign == 1:
            self._sign = -1
        else:
            self._learn(session, 0)

    def _learn(self, session: bytes, value: int) -> None:
        self.known[session][self._next] = value
        self._next, self._sign = self._next + 1, 1
        self.honest = self._next == N


class MaskingHost(ReactingHost):
    """The same by way of masks: each is made with the next guess in it, whether it is used or not.

    ``right``: guesses that ended a reply, by their session: coordinate and value.
    """

    def __init__(self) -> None:
        super().__init__()
        self.right: list[tuple[bytes, int, int]] = []
        self._guesses: list[tuple[bytes, int, int]] = []
        self._used: int | None = None

    def answer(self, path: str, body: bytes | None) -> bytes:
        """The answer to one request."""
        body = body or b""
        number = int.from_bytes(body[16:24], "little")
        with self._lock:
            match path.rpartition("/")[2]:
                case "reserve":
                    count = int.from_bytes(body[18:20], "little")
                    return MaskRange(bytes(16), len(self._guesses), count).pack()
                case "mask":
                    return self._masked(body[:16])
                case "masked":
                    self._went_past()
                    self._used = number
                    return pack(np.zeros(1, np.uint64))
                case "evaluate":
                    self._went_past()
                    self._used = None
        return super().answer(path, body)

    def hears_nothing(self) -> None:
        """No further state came after the last one."""
        if self._used is not None:
            self.ended += 1
            self.right.append(self._guesses[self._used])
        self._used = None

    def _session(self) -> bytes:
        answer: bytes = msgpack.packb(msgpack.unpackb(super()._session()) | {"masks": 64})
        return answer

    def _masked(self, session: bytes) -> bytes:
        made = len(self._guesses)
        at, sign = made // 2 % N, 1 - 2 * (made % 2)
        self._guesses.append((session, at, sign))
        halves = np.zeros((1, 2, N), dtype=np.int64)
        halves[0, 1] = forward(shift(at, sign))
        return wire.pack_reply(residues(halves))

    def _went_past(self) -> None:
        """Another state came: the guess of the one before is wrong."""
        if self._used is not None:
            session, at, sign = self._guesses[self._used]
            # Both signs were wrong.
            if sign == -1:
                self.known[session][at] = 0


def shift(at: int, sign: int) -> Integers:
    """K x^j that moves the result by K times coordinate ``at`` of the key, with its sign."""
    power = _RESULT - at
    made = np.zeros(N, dtype=np.int64)
    made[power % N] = sign * _STEP * (1 if power >= 0 else -1)
    return made


class ReactingLink:
    """What the client takes for its connection."""

    def __init__(self, host: ReactingHost) -> None:
        self._host = host
        self.traffic = Traffic()

    def ask(self, method: str, path: str, limit: int, body: bytes | None = None) -> bytes:
        return self._host.answer(path, body)

    def close(self) -> None:
        """Nothing is held."""
