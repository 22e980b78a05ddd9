"""Vectors of noised mode; their layout is described in tests/vectors/README.md."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from split_client.noise.ledger_file import entries_of
from split_client.noise.spent import Budget, Count, Kind, Spent
from split_privacy.discrete import BASE, discrete_gaussian, epsilon_of_release, exact_base
from split_privacy.gaussian import delta_of, epsilon_of, mu_of
from split_privacy.mechanism import RowMechanism
from split_privacy.prf import NoiseContext, RowName, RowStreams, histories
from split_privacy.sensitivity import largest_distance, norms
from split_privacy.thresholds import thresholds

KEY = bytes(range(32))
MODEL = "ab" * 32
TOKENS = [5, 0, 2**31 - 1, 5, 5]
DELTAS = [1e-12, 1e-5, 0.1]
# Below 8 numbers are added one by one, up to 128 in strands, beyond in halves.
WIDTHS = [5, 8, 33, 128, 129, 192, 576, 1000]


def build() -> dict[str, Any]:
    return {
        "format": 1,
        "gaussian": _gaussian(),
        "release_epsilon": _release_epsilon(),
        "thresholds": [_thresholds(BASE, 63), _thresholds(5, 8), _thresholds(5, 200)],
        "draws": _draws(),
        "ties": _ties(),
        "histories": [digest.hex() for digest in histories(TOKENS)],
        "streams": [_stream(codec) for codec in ("f32", "f16", "bf16", "i8")],
        "norms": [_norms(width) for width in WIDTHS],
        "calibrated": [_calibrated(*case) for case in ((8.0, 1e-5), (0.5, 1e-9), (200.0, 1e-3))],
        "released": [_released(width, *case) for width in (5, 192) for case in SIGMAS],
        "tables": [_table(*case) for case in ((5, False), (192, False), (33, True))],
        "spent": _spent(),
        "room": _room(),
    }


SIGMAS = [(1e-3, 9.0), (0.7, 1.5), (90.0, 3.0)]


def _gaussian() -> list[dict[str, float]]:
    mus = [1e-3, 0.03, 0.5, 1.0, 3.7, 20.0, 300.0]
    return [
        {
            "delta": delta,
            "mu": mu,
            "epsilon": _short(epsilon_of(delta, mu)),
            "delta_of_half": _short(delta_of(mu / 2, mu)),
            "mu_of_itself": _short(mu_of(mu, delta)),
        }
        for delta in DELTAS
        for mu in mus
    ]


def _release_epsilon() -> list[dict[str, Any]]:
    cases = [
        (1e-5, 0.5, 0),
        (1e-5, 0.5, 192),
        (1e-5, 30.0, 5),
        (1e-9, 2.0, 10**9),
        (0.1, 1, 10**13),
    ]
    return [
        {
            "delta": delta,
            "mu": mu,
            "values": values,
            "epsilon": _finite(epsilon_of_release(delta, mu, values)),
        }
        for delta, mu, values in cases
    ]


def _short(value: float) -> float:
    """Exponentials differ in their last bits between platforms."""
    return float(f"{value:.12g}")


def _finite(epsilon: float) -> float | None:
    return _short(epsilon) if math.isfinite(epsilon) else None


def _thresholds(s: int, bits: int) -> dict[str, Any]:
    found = thresholds(s, bits)
    digest = hashlib.sha256(" ".join(map(str, found)).encode()).hexdigest()
    return {"s": s, "bits": bits, "count": len(found), "first": str(found[0]), "sha256": digest}


def _draws() -> dict[str, Any]:
    words = np.random.default_rng(1).integers(0, 2**64, size=(64, 2), dtype=np.uint64)
    # The last threshold is 2^63 - 1: 63 ones do not decide.
    words[0], words[1] = 0, 2**64 - 1
    drawn = discrete_gaussian(words, _more).tolist()
    return {"words": words.astype("<u8").tobytes().hex(), "drawn": drawn}


def _more(index: int, bits: int) -> int:
    return int.from_bytes(hashlib.shake_256(bytes([index])).digest(bits // 8), "big")


def _ties() -> dict[str, Any]:
    """All words whose first 8 bits differ: of a threshold further bits must decide."""
    words = np.arange(256, dtype=np.uint64) << np.uint64(56)
    asked: list[int] = []

    def more(index: int, bits: int) -> int:
        asked.append(index)
        return _more(index, bits)

    drawn = exact_base(words, more, s=5, bits=8).tolist()
    return {"s": 5, "bits": 8, "drawn": drawn, "asked": asked}


def _stream(codec: str) -> dict[str, Any]:
    streams = RowStreams(NoiseContext(KEY, "embedding", 1.5, 0.1, MODEL, codec))
    rows = [
        RowName(at, token, history)
        for at, (token, history) in enumerate(zip(TOKENS, histories(TOKENS), strict=True))
    ]
    return {
        "codec": codec,
        "names": [streams.name(row).hex() for row in rows],
        "words": [streams.words(row, 4).tobytes().hex() for row in rows],
        "more": [f"{streams.more(row, 70000, 192):x}" for row in rows],
    }


def _rows(seed: int, count: int, width: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)


def _hex(values: NDArray[Any]) -> str:
    return values.astype(values.dtype.newbyteorder("<")).tobytes().hex()


def _norms(width: int) -> dict[str, Any]:
    rows = _rows(width, 6, width)
    found = norms(lambda ids: rows[ids], len(rows))
    return {"width": width, "rows": _hex(rows), "norms": _hex(found)}


def _calibrated(epsilon: float, delta: float) -> dict[str, Any]:
    mechanism = RowMechanism.for_epsilon(epsilon, delta, 1.5, 2.25, 192)
    return {
        "epsilon": epsilon,
        "delta": delta,
        "clip": 1.5,
        "sensitivity": 2.25,
        "width": 192,
        "sigma": _short(mechanism.sigma),
        "distance": _short(mechanism.distance),
        "found": _short(mechanism.epsilon(delta)),
        "of_100_rows": _finite(mechanism.epsilon(delta, 100)),
    }


def _released(width: int, sigma: float, clip: float) -> dict[str, Any]:
    mechanism = RowMechanism(sigma, clip, 2 * clip, width)
    rows = _rows(1000 + width, len(TOKENS), width)
    streams = RowStreams(NoiseContext(KEY, "embedding", sigma, clip, MODEL, "bf16"))
    names = [
        RowName(at, token, history)
        for at, (token, history) in enumerate(zip(TOKENS, histories(TOKENS), strict=True))
    ]
    return {
        "width": width,
        "sigma": sigma,
        "clip": clip,
        "rows": _hex(rows),
        "released": _hex(mechanism.release(rows, names, streams)),
    }


def _table(width: int, alike: bool) -> dict[str, Any]:
    """``alike``: rows as far from their mean as each other, which no search is done with soon."""
    rows = _rows(2000 + width, 150, width)
    if alike:
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    count, few = len(rows), 150 * 70 * width
    found = norms(lambda ids: rows[ids], count)
    clip = float(np.quantile(found, 0.99, method="higher"))
    whole = largest_distance(lambda ids: rows[ids], count, width, clip)
    ended = largest_distance(lambda ids: rows[ids], count, width, clip, few)
    return {
        "width": width,
        "rows": _hex(rows),
        "clip": clip,
        "distance": _short(whole.distance),
        "few": few,
        "of_few": {"distance": _short(ended.distance), "exact": ended.exact},
    }


KINDS = [Kind(1.5, 2.0, 192), Kind(0.4, 2.0, 192), Kind(1.5, 3.0, 2048)]
COUNTS = [Count(1, 1), Count(40, 3), Count(100_000, 17)]


def _cases() -> list[Spent]:
    ones = [Spent(((kind, count),)) for kind in KINDS for count in COUNTS]
    return [*ones, Spent.total(ones)]


def _spent() -> list[dict[str, Any]]:
    return [
        {
            "entries": entries_of(spent),
            "delta": delta,
            "whole": _finite(spent.epsilon(delta)),
            "token": _finite(spent.token_epsilon(delta)),
        }
        for spent in _cases()
        for delta in (1e-5, 1e-9)
    ]


def _room() -> list[dict[str, Any]]:
    cases = []
    for spent in _cases():
        for epsilon in (1.0, 60.0, 3000.0):
            budget = Budget(epsilon, 1e-5)
            room = budget.room(spent, KINDS[0], 5000)
            cases.append({"entries": entries_of(spent), "epsilon": epsilon, "room": room})
    return cases
