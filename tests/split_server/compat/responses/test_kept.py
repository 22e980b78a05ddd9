"""What is kept of responses is bounded, and its principal's alone."""

from __future__ import annotations

import pytest

from split_server.compat.responses.kept import (
    KEPT_BYTES,
    MOST,
    OWN_BYTES,
    SECONDS,
    KeptResponse,
    KeptResponses,
    ResponseTooLarge,
)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kept(clock: Clock) -> KeptResponses:
    return KeptResponses(clock)


def of(size: int) -> KeptResponse:
    return KeptResponse(b"r", b"i", b"m" * (size - 1026))


def test_a_response_is_found_by_its_principal_alone(kept: KeptResponses) -> None:
    assert kept.keep("ada", "a", of(2000))
    assert kept.find("ada", "a") == of(2000)
    assert kept.find("babbage", "a") is None
    assert not kept.delete("babbage", "a")
    assert kept.delete("ada", "a")
    assert not kept.delete("ada", "a")
    assert (len(kept), kept.size) == (0, 0)


def test_its_time_runs_out(kept: KeptResponses, clock: Clock) -> None:
    kept.keep("ada", "a", of(2000))
    clock.now = SECONDS / 2
    kept.keep("ada", "b", of(2000))
    clock.now = SECONDS
    assert kept.find("ada", "a") is None
    assert kept.find("ada", "b") is not None
    clock.now = 2 * SECONDS
    kept.sweep()
    assert len(kept) == 0


def test_the_oldest_of_a_principal_goes_for_its_next_one(kept: KeptResponses) -> None:
    for number in range(MOST + 1):
        kept.keep("ada", str(number), of(2000))
    kept.keep("babbage", "0", of(2000))
    assert len(kept) == MOST + 1
    assert kept.find("ada", "0") is None
    assert kept.find("ada", "1") is not None
    kept.keep("ada", "large", of(OWN_BYTES))
    assert kept.find("ada", str(MOST)) is None
    assert kept.find("ada", "large") is not None
    assert kept.size == OWN_BYTES + 2000


def test_whoever_has_the_most_makes_room_for_others(kept: KeptResponses) -> None:
    for number in range(KEPT_BYTES // OWN_BYTES):
        kept.keep(f"p{number}", "a", of(OWN_BYTES - 2000 - number))
    kept.keep("ada", "a", of(OWN_BYTES // 2))
    assert kept.size <= KEPT_BYTES
    assert kept.find("p0", "a") is None
    assert kept.find("p1", "a") is not None


def test_what_is_too_large_is_not_kept(kept: KeptResponses) -> None:
    assert not kept.keep("ada", "a", of(OWN_BYTES + 1))
    assert len(kept) == 0
    kept.require(OWN_BYTES - 1024)
    with pytest.raises(ResponseTooLarge):
        kept.require(OWN_BYTES)


def test_whoever_may_no_longer_come_in_has_none(kept: KeptResponses) -> None:
    kept.keep("ada", "a", of(2000))
    kept.keep("babbage", "a", of(2000))
    kept.forget(lambda name: name == "ada")
    assert kept.find("ada", "a") is None
    assert kept.find("babbage", "a") is not None
