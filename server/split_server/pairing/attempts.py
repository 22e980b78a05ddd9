"""Wrong codes, counted by the address that they came from, at all servers of one state folder.

An address is kept as a keyed digest, and no longer than its attempts count.
"""

from __future__ import annotations

import binascii
import json
import secrets
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b

from split_files import is_version, parse_document
from split_server.pairing.errors import PairingBusy, PairingRefused
from split_server.pairing.lock import held
from split_server.pairing.state import StateFolder
from split_server.security.networks import network_of

FILE = "attempts.json"
ATTEMPTS_PER_MINUTE = 10
MAX_ADDRESSES = 4096
_MINUTE = 60.0
_KEY_BYTES = _MARK_BYTES = 16
_VERSION = 1


@dataclass(slots=True)
class _Failed:
    """Times of attempts in seconds since 1970, by marks of addresses under ``key``; the address
    that tried last at the end.
    """

    key: bytes = field(default_factory=lambda: secrets.token_bytes(_KEY_BYTES))
    times: dict[str, list[float]] = field(default_factory=dict)

    def mark(self, network: str) -> str:
        return blake2b(network.encode(), key=self.key, digest_size=_MARK_BYTES).hexdigest()


class Attempts:
    """At most ten of an address that failed within a minute, so that nobody uses up another's.

    ``exempt``: addresses that speak for many others; how often a code may be tried holds for them
    as well. ``clock`` in seconds since 1970. It blocks on files: call it on a thread.
    """

    def __init__(
        self, state: StateFolder, clock: Callable[[], float], exempt: Collection[str] = ()
    ) -> None:
        self._state, self._clock = state, clock
        self._exempt = frozenset(network_of(one) for one in exempt)

    def __len__(self) -> int:
        """Addresses with attempts that count."""
        return len(self._read().times)

    def clear(self) -> None:
        """Forget them all."""
        with held(self._state, FILE):
            self._write(_Failed())

    @contextmanager
    def counted(self, address: str) -> Iterator[None]:
        """One attempt, which counts from its beginning unless it ends well.

        Raises PairingBusy, StateUnusable.
        """
        network = network_of(address)
        if network in self._exempt:
            yield
            return
        begun = self._begin(network)
        try:
            yield
        except PairingRefused:
            raise
        except BaseException:
            self._forgive(network, begun)
            raise
        else:
            self._forgive(network, begun)

    def _begin(self, network: str) -> float:
        with held(self._state, FILE):
            now, failed = self._clock(), self._read()
            mark = failed.mark(network)
            mine = failed.times.pop(mark, [])
            if len(mine) >= ATTEMPTS_PER_MINUTE:
                raise PairingBusy(min(_MINUTE - (now - mine[0]), _MINUTE))
            failed.times[mark] = [*mine, now]
            for oldest in [*failed.times][:-MAX_ADDRESSES]:
                del failed.times[oldest]
            self._write(failed)
            return now

    def _forgive(self, network: str, begun: float) -> None:
        with held(self._state, FILE):
            failed = self._read()
            mine = failed.times.get(failed.mark(network), [])
            if begun in mine:
                mine.remove(begun)
                self._write(failed)

    def _read(self) -> _Failed:
        """Those that still count; none where the file is damaged, as they count for a minute."""
        data = self._state.read(FILE)
        try:
            found = _Failed() if data is None else _parsed(data)
        except (ValueError, KeyError, TypeError, AttributeError):
            return _Failed()
        now = self._clock()
        # One of a clock that is far ahead would count for ever.
        recent = {
            mark: left
            for mark, times in found.times.items()
            if (left := [one for one in times if abs(now - one) < _MINUTE])
        }
        return _Failed(found.key, recent)

    def _write(self, failed: _Failed) -> None:
        document = {
            "version": _VERSION,
            "key": failed.key.hex(),
            "failed": {mark: times for mark, times in failed.times.items() if times},
        }
        self._state.write(FILE, json.dumps(document).encode())


def _parsed(data: bytes) -> _Failed:
    """Raises ValueError, KeyError, TypeError, AttributeError."""
    document = parse_document(data)
    key, failed = binascii.unhexlify(document["key"]), document["failed"]
    if not is_version(document["version"], _VERSION) or len(key) != _KEY_BYTES:
        raise ValueError
    return _Failed(key, {mark: [float(one) for one in times] for mark, times in failed.items()})
