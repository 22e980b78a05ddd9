"""Hostile bytes for an adapter host: mutated, truncated, oversized, crafted keys and ciphertexts.

Every kind says which answers are right; anything else, a slow answer or silence is a fault.
"""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from urllib.parse import urlsplit

import httpx
import msgpack
import numpy as np

from split_he.device import encrypt
from split_he.keys import DeviceKeys
from split_he.layout import Packing
from split_he.params import N, Q
from split_he.wire import KEY_BYTES, pack_key, pack_query, query_bytes

_PATH = "/api/v1/adapters"
_SESSION, _NONCE, _NUMBER = 16, 32, 8
_LENGTH = frozenset({"wrong_length"})
_KEY = frozenset({"malformed_key"})
_CIPHERTEXT = frozenset({"malformed_ciphertext"})
_OK = frozenset({"ok"})
_RAW_SECONDS = 5.0


@dataclass
class Tally:
    """``codes`` by kind; times in seconds; ``faults`` in words."""

    codes: Counter[tuple[str, str]] = field(default_factory=Counter)
    slowest: dict[str, float] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    @property
    def sent(self) -> int:
        return self.codes.total()

    def add(self, kind: str, code: str, seconds: float, wanted: frozenset[str]) -> None:
        """Count one answer."""
        self.codes[kind, code] += 1
        self.slowest[kind] = max(self.slowest.get(kind, 0.0), seconds)
        if code not in wanted:
            self.faults.append(f"{kind}: answered {code}, right are {', '.join(sorted(wanted))}")


class Attacker:
    """One client of the adapter ``name`` at ``url`` that does not follow the protocol."""

    def __init__(self, url: str, name: str, seed: int, tally: Tally) -> None:
        self._random, self._tally = Random(seed), tally
        self._numbers = np.random.default_rng(seed)
        parts = urlsplit(url)
        self._address = (parts.hostname or "", parts.port or 80)
        self._path = f"{_PATH}/{name}"
        self._client = httpx.Client(base_url=url + self._path, trust_env=False, timeout=20.0)
        self._open()
        self._kinds: list[tuple[str, Callable[[str], None]]] = [
            ("flipped query", self._flipped_query),
            ("random query", self._random_query),
            ("residue out of range", self._large_residue),
            ("foreign header", self._foreign_header),
            ("crafted query", self._crafted_query),
            ("truncated query", self._short_query),
            ("oversized query", self._long_query),
            ("other session", self._other_session),
            ("other number", self._other_number),
            ("flipped key", self._flipped_key),
            ("random key", self._random_key),
            ("crafted key", self._crafted_key),
            ("key of another length", self._long_key),
            ("session with a body", self._session_body),
            ("lying length", self._lying_length),
            ("broken off", self._broken_off),
            ("chunked body", self._chunked),
        ]

    def send(self, count: int) -> None:
        """Send ``count`` messages, all kinds in turn."""
        for turn in range(count):
            kind, send = self._kinds[turn % len(self._kinds)]
            send(kind)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def honest(self) -> None:
        """One query that follows the protocol, in a session of its own; raises when it fails."""
        self._open()
        self._evaluate("honest query", self._query(), _OK)

    def _open(self) -> None:
        opened = msgpack.unpackb(self._client.post("/session").raise_for_status().content)
        self._session: bytes = opened["session"]
        self._plan = Packing.parse(opened["packing"])
        nonce = self._random.randbytes(_NONCE)
        self._keys = DeviceKeys.generate(opened["host_nonce"], nonce)
        body = self._session + nonce + self._keys.public
        self._client.post("/key", content=body).raise_for_status()
        self._number, self._valid = 0, self._query()

    def _query(self) -> bytes:
        hidden = self._numbers.normal(size=self._plan.hidden).astype(np.float32)
        return encrypt(hidden, self._keys, self._plan)

    def _ask(self, kind: str, path: str, body: bytes, wanted: frozenset[str]) -> str:
        begun = time.perf_counter()
        try:
            answer = self._client.post(path, content=body)
            code = "ok" if answer.is_success else str(answer.json()["error"]["code"])
        except (httpx.HTTPError, ValueError, KeyError) as error:
            code = f"no answer ({type(error).__name__})"
        self._tally.add(kind, code, time.perf_counter() - begun, wanted)
        return code

    def _evaluate(
        self, kind: str, query: bytes, wanted: frozenset[str], number: int | None = None
    ) -> None:
        number = self._number + 1 if number is None else number
        body = self._session + number.to_bytes(_NUMBER, "little") + query
        if self._ask(kind, "/evaluate", body, wanted) == "ok":
            self._number = number

    def _flip(self, data: bytes, begin: int = 0) -> bytes:
        changed = bytearray(data)
        for _ in range(self._random.choice((1, 1, 2, 8, 64))):
            changed[self._random.randrange(begin, len(data))] ^= 1 << self._random.randrange(8)
        return bytes(changed)

    def _flipped_query(self, kind: str) -> None:
        # Flipped residues are mostly residues: what follows is noise, and only to the sender.
        self._evaluate(kind, self._flip(self._valid), _OK | _CIPHERTEXT)

    def _random_query(self, kind: str) -> None:
        self._evaluate(kind, self._random.randbytes(query_bytes(self._plan)), _CIPHERTEXT)

    def _large_residue(self, kind: str) -> None:
        halves = self._residues(self._plan.chunks)
        place = self._random.randrange(halves.size)
        halves.reshape(-1)[place] = self._random.choice((Q, Q + 1, 2**54 - 1))
        self._evaluate(kind, pack_query(bytes(32), halves), _CIPHERTEXT)

    def _foreign_header(self, kind: str) -> None:
        self._evaluate(kind, self._random.randbytes(8) + self._valid[8:], _CIPHERTEXT)

    def _crafted_query(self, kind: str) -> None:
        halves = self._residues(self._plan.chunks)
        halves[:] = self._random.choice((0, 1, Q - 1, Q // 2))
        self._evaluate(kind, pack_query(self._random.randbytes(32), halves), _OK)

    def _short_query(self, kind: str) -> None:
        cut = self._random.randrange(len(self._valid))
        self._evaluate(kind, self._valid[:cut], _LENGTH)

    def _long_query(self, kind: str) -> None:
        more = self._random.choice((1, 8, 4096, 1 << 20))
        self._evaluate(kind, self._valid + bytes(more), _LENGTH)

    def _other_session(self, kind: str) -> None:
        body = self._random.randbytes(_SESSION) + bytes(_NUMBER) + self._valid
        self._ask(kind, "/evaluate", body, frozenset({"unknown_session"}))

    def _other_number(self, kind: str) -> None:
        number = self._random.choice((self._number + 2, 2**32, 2**64 - 1))
        self._evaluate(kind, self._valid, frozenset({"query_conflict"}), number)

    def _give_key(self, kind: str, public: bytes, wanted: frozenset[str]) -> None:
        opened = msgpack.unpackb(self._client.post("/session").raise_for_status().content)
        body = opened["session"] + self._random.randbytes(_NONCE) + public
        self._ask(kind, "/key", body, wanted)

    def _flipped_key(self, kind: str) -> None:
        self._give_key(kind, self._flip(self._keys.public), _OK | _KEY)

    def _random_key(self, kind: str) -> None:
        self._give_key(kind, self._random.randbytes(KEY_BYTES), _KEY)

    def _crafted_key(self, kind: str) -> None:
        half = np.full(N, self._random.choice((0, 1, Q - 1)), dtype=np.uint64)
        self._give_key(kind, pack_key(half), _OK)

    def _long_key(self, kind: str) -> None:
        length = self._random.choice((0, 1, KEY_BYTES - 1, KEY_BYTES + 1, 1 << 20))
        self._give_key(kind, bytes(length), _LENGTH)

    def _session_body(self, kind: str) -> None:
        self._ask(kind, "/session", self._random.randbytes(64), _LENGTH)

    def _lying_length(self, kind: str) -> None:
        length = self._random.choice((10**9, 10**12, 10**18))
        self._raw(kind, f"Content-Length: {length}".encode(), b"x", b"wrong_length")

    def _chunked(self, kind: str) -> None:
        self._raw(kind, b"Transfer-Encoding: chunked", b"1\r\nx\r\n0\r\n\r\n", b"length_required")

    def _broken_off(self, kind: str) -> None:
        body = self._session + bytes(_NUMBER) + self._valid
        cut = self._random.randrange(len(body))
        self._raw(kind, f"Content-Length: {len(body)}".encode(), body[:cut], None)

    def _raw(self, kind: str, header: bytes, body: bytes, wanted: bytes | None) -> None:
        """A request byte by byte; ``wanted`` None: hang up without waiting for an answer."""
        head = (
            f"POST {self._path}/evaluate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        ).encode()
        begun, code = time.perf_counter(), "hung up"
        try:
            with socket.create_connection(self._address, timeout=_RAW_SECONDS) as raw:
                raw.sendall(head + header + b"\r\n\r\n" + body)
                if wanted is not None:
                    answer = raw.makefile("rb").read()
                    code = wanted.decode() if wanted in answer else "another answer"
        except OSError as error:
            code = f"no answer ({type(error).__name__})"
        right = frozenset({"hung up" if wanted is None else wanted.decode()})
        self._tally.add(kind, code, time.perf_counter() - begun, right)

    def _residues(self, polynomials: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
        return self._numbers.integers(0, Q, size=(polynomials, N), dtype=np.uint64)
