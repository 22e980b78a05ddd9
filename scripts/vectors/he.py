"""Encrypted adapters: transform, uniform numbers, keys, queries and replies of known randomness."""

from __future__ import annotations

import base64
import hashlib
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from split_he import bits, device, scales, wire
from split_he.blinds import HostKey
from split_he.host import HostAdapter
from split_he.keys import DeviceKeys, uniform_half
from split_he.layout import Packing, packing
from split_he.modular import Integers, Residues, centred, residues
from split_he.params import N, Q
from split_he.sampling import errors, expand, ternary
from split_he.transform import forward

_EDGES = (0, 1, 2, Q - 1, Q - 2, Q // 2, Q // 2 + 1, 2**53 - 1, 2**53, 2**53 + 1, 2**32, Q - 2**32)
_SHAPES = ((1, 1), (48, 4), (211, 5), (192, 16), (896, 16), (1536, 32), (8192, 64))
_PLACES = (*_SHAPES, (2048, 1), (2049, 64), (64, 64), (4096, 32), (1000, 63), (8191, 1), (7, 3))


class Stream:
    """Bytes in place of random ones: SHAKE-256 of a name, each byte given once."""

    def __init__(self, name: str) -> None:
        self._shake, self._taken = hashlib.shake_256(name.encode()), 0

    def __call__(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        begin, self._taken = self._taken, self._taken + count
        return self._shake.digest(self._taken)[begin:]


def build() -> dict[str, Any]:
    """All kinds of cases."""
    return {
        "degree": N,
        "modulus": str(Q),
        "edges": _edges(),
        "transforms": [_transform(f"transform {i}") for i in range(3)],
        "ternary": [_ternary(f"ternary {i}") for i in range(2)],
        "errors": [_errors(f"errors {i}", 1 + 2 * i) for i in range(2)],
        "keys": [_key(f"keys {i}") for i in range(2)],
        "places": [_places(*shape) for shape in _PLACES],
        "queries": [_query(*shape) for shape in _SHAPES],
        "replies": [_reply(*shape) for shape in _SHAPES[:5]],
        "exchange": _exchange(192, 16),
    }


def _digest(values: Residues | bytes) -> str:
    data = values if isinstance(values, bytes) else bits.pack(values)
    return hashlib.sha256(data).hexdigest()


def _edges() -> dict[str, Any]:
    values = np.resize(np.array(_EDGES, np.uint64), N)
    packed = bits.pack(values)
    return {
        "numbers": [str(edge) for edge in _EDGES],
        "packed": packed[:27].hex(),
        "sha256": _digest(packed),
        "forward": _digest(residues(forward(centred(values)))),
    }


def _transform(label: str) -> dict[str, Any]:
    seed = Stream(label)(32)
    values = expand(label.encode(), seed, 1)[0]
    return {
        "label": label,
        "seed": seed.hex(),
        "uniform": _digest(values),
        "forward": _digest(residues(forward(centred(values)))),
    }


def _ternary(name: str) -> dict[str, Any]:
    return {"entropy": name, "sha256": _digest(residues(ternary(Stream(name), 1)))}


def _errors(name: str, polynomials: int) -> dict[str, Any]:
    drawn = residues(errors(Stream(name), polynomials))
    return {"entropy": name, "polynomials": polynomials, "sha256": _digest(drawn)}


def _keys(name: str) -> tuple[DeviceKeys, Integers, bytes, bytes]:
    """Keys whose secret and errors come from the stream ``name``, the secret, both nonces."""
    nonces = Stream(name + " nonces")
    host_nonce, device_nonce = nonces(32), nonces(32)
    entropy = Stream(name)
    secret = forward(ternary(entropy, 1))[0]
    keys = DeviceKeys.of_secret(secret, host_nonce, device_nonce, entropy)
    return keys, secret, host_nonce, device_nonce


def _key(name: str) -> dict[str, Any]:
    keys, secret, host_nonce, device_nonce = _keys(name)
    return {
        "entropy": name,
        "host_nonce": host_nonce.hex(),
        "device_nonce": device_nonce.hex(),
        "uniform": _digest(uniform_half(host_nonce, device_nonce)),
        "secret": _digest(residues(secret)),
        "public": _digest(keys.public),
        "begins": keys.public[:32].hex(),
    }


def _places(hidden: int, rank: int) -> dict[str, Any]:
    plan = packing(hidden, rank)
    used = [plan.used(group) for group in range(plan.groups)]
    return {
        "hidden": hidden,
        "rank": rank,
        "places": [plan.chunks, plan.groups, plan.chunk],
        "used": [[len(places), int(places[0]), int(places[-1])] for places in used],
    }


def _matrix(hidden: int, rank: int) -> NDArray[np.float32]:
    numbers = _numbers(f"matrix {hidden} {rank}", rank * hidden) / 50
    return np.asarray(numbers, dtype=np.float32).reshape(rank, hidden)


def _numbers(name: str, count: int) -> NDArray[np.float32]:
    """Numbers in -8..8: 16-bit words of the stream ``name``, less 2^15, over 2^12."""
    words = np.frombuffer(Stream(name)(2 * count), "<u2").astype(np.int32)
    return np.asarray((words - 2**15) / 2**12, dtype=np.float32)


def _plan(hidden: int, rank: int) -> Packing:
    return scales.choose(_matrix(hidden, rank))


def _query(hidden: int, rank: int) -> dict[str, Any]:
    name, plan = f"query {hidden} {rank}", _plan(hidden, rank)
    state = _numbers(name + " state", hidden)
    query = device.encrypt(state, _keys("keys 0")[0], plan, Stream(name))
    return {
        "packing": plan.document(),
        "state": name + " state",
        "entropy": name,
        "bytes": len(query),
        "begins": query[:64].hex(),
        "sha256": _digest(query),
    }


def _reply(hidden: int, rank: int) -> dict[str, Any]:
    """A reply of uniform residues, as nobody would send it, and what it decrypts to."""
    label, plan = f"reply {hidden} {rank}", _plan(hidden, rank)
    seed = Stream(label)(32)
    made = expand(label.encode(), seed, 2 * plan.groups)
    reply = wire.pack_reply(made.reshape(plan.groups, 2, N))
    return {
        "packing": plan.document(),
        "label": label,
        "seed": seed.hex(),
        "sha256": _digest(reply),
        "product": _bits(device.decrypt(reply, _keys("keys 0")[0], plan)),
    }


def _exchange(hidden: int, rank: int) -> dict[str, Any]:
    """A token from end to end: what the host answers to the query of that shape above."""
    keys, _, host_nonce, device_nonce = _keys("keys 0")
    a = _matrix(hidden, rank)
    adapter = HostAdapter.prepare(a)
    plan, name = adapter.packing, f"query {hidden} {rank}"
    state = _numbers(name + " state", hidden)
    query = device.encrypt(state, keys, plan, Stream(name))
    public = keys.public
    key = HostKey.parse(public, host_nonce, device_nonce, plan, Stream("blinds"))
    reply = adapter.evaluate(query, key)
    return {
        "packing": plan.document(),
        "query": name,
        "reply": base64.b64encode(reply).decode(),
        "product": _bits(device.decrypt(reply, keys, plan)),
        "clear": [float(value) for value in a.astype(np.float64) @ state.astype(np.float64)],
        "within": float(scales.worst_error(a.astype(np.float64), plan).max()),
    }


def _bits(values: NDArray[np.float64]) -> list[str]:
    return [struct.pack(">d", value).hex() for value in values.tolist()]
