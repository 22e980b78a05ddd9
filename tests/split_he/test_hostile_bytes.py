"""Bytes of a peer: exactly what the packing prescribes, or a typed error."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from split_he import device, wire
from split_he.bits import POLYNOMIAL_BYTES, pack
from split_he.errors import HeError, MalformedCiphertext, MalformedKey
from split_he.params import Q
from tests.split_he.sessions import Session, matrix, session, state


@pytest.fixture(scope="module")
def side() -> Session:
    return session(matrix(64, 4))


@pytest.fixture(scope="module")
def query(side: Session) -> bytes:
    return device.encrypt(state(64), side.keys, side.plan)


def _mutations(good: bytes, count: int) -> list[bytes]:
    """Bytes flipped, cut, doubled, overwritten, extended and made up; seeded."""
    rng = random.Random(7)  # noqa: S311
    made = [b"", good[:-1], good + b"\0", good * 2, bytes(len(good)), b"\xff" * len(good)]
    while len(made) < count:
        bad = bytearray(good)
        match rng.randrange(6):
            case 0:
                bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
            case 1:
                bad = bad[: rng.randrange(len(bad))]
            case 2:
                start = rng.randrange(len(bad))
                bad[start : start + 27] = b"\xff" * len(bad[start : start + 27])
            case 3:
                bad[rng.randrange(8)] = rng.randrange(256)
            case 4:
                bad += rng.randbytes(rng.randrange(1, 100))
            case _:
                start = rng.randrange(len(bad))
                bad[start:] = rng.randbytes(len(bad) - start)
        made.append(bytes(bad))
    return made


def _outcomes(action: Callable[[bytes], object], inputs: list[bytes]) -> dict[str, int]:
    """How often each code was answered; anything but a HeError is not caught."""
    counts: dict[str, int] = {}
    for data in inputs:
        try:
            action(data)
            code = "accepted"
        except HeError as error:
            code = error.code
        counts[code] = counts.get(code, 0) + 1
    return counts


def test_mutated_queries_give_typed_errors_or_exact_replies(side: Session, query: bytes) -> None:
    def answer(data: bytes) -> None:
        assert len(side.adapter.evaluate(data, side.host_key)) == wire.reply_bytes(side.plan)

    counts = _outcomes(answer, _mutations(query, 2000))
    assert set(counts) == {"accepted", "malformed_ciphertext"}
    assert min(counts.values()) > 300


def test_mutated_keys_give_typed_errors_or_keys(side: Session) -> None:
    def take(data: bytes) -> None:
        side.adapter.evaluator(data, side.host_nonce, side.device_nonce)

    counts = _outcomes(take, _mutations(side.keys.public, 2000))
    assert set(counts) == {"accepted", "malformed_key"}


def test_mutated_replies_give_typed_errors_or_numbers(side: Session, query: bytes) -> None:
    def read(data: bytes) -> None:
        assert np.isfinite(device.decrypt(data, side.keys, side.plan)).all()

    reply = side.adapter.evaluate(query, side.host_key)
    counts = _outcomes(read, _mutations(reply, 2000))
    assert set(counts) == {"accepted", "malformed_ciphertext"}


def test_keys_that_are_accepted_after_mutation_make_blinds(side: Session) -> None:
    zeros = side.keys.public[:8] + bytes(POLYNOMIAL_BYTES)
    key = side.adapter.evaluator(zeros, side.host_nonce, side.device_nonce)
    key.refill(1)
    assert key.blinds == 1


@pytest.mark.parametrize("value", [Q, Q + 1, 2**54 - 1])
@pytest.mark.parametrize("place", [0, 1, 2, 3, 2047])
def test_a_single_number_that_is_not_a_residue_is_refused(
    side: Session, query: bytes, value: int, place: int
) -> None:
    numbers = np.zeros(2048, dtype=np.uint64)
    numbers[place] = value
    body = pack(numbers)
    with pytest.raises(MalformedCiphertext, match="residue"):
        side.adapter.evaluate(query[:40] + body, side.host_key)
    reply = side.adapter.evaluate(query, side.host_key)
    with pytest.raises(MalformedCiphertext, match="residue"):
        device.decrypt(reply[:8] + body + body, side.keys, side.plan)
    with pytest.raises(MalformedKey, match="residue"):
        wire.parse_key(side.keys.public[:8] + body)


def test_a_query_for_another_shape_is_refused_by_its_length(query: bytes) -> None:
    wide = session(matrix(8192, 2))
    with pytest.raises(MalformedCiphertext, match="bytes instead of"):
        wide.adapter.evaluate(query, wide.host_key)
