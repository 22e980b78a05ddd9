"""Messages that a language model writes in a person's place."""

from __future__ import annotations

import numpy as np
import pytest

from split_client.audit.allowance import Allowance, TimeUp
from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.language.written import written
from split_client.audit.reach import Reach
from split_client.audit.session import AllStates
from split_client.errors import ServerRefused
from split_client.model.ends import DeviceEnds


def sessions(reach: Reach, ends: DeviceEnds, count: int) -> list[AllStates]:
    return [AllStates(reach, ends.manifest) for _ in range(count)]


def texts(public: PublicModel, several: list[AllStates], seed: int, count: int = 6) -> list[str]:
    try:
        return list(written(public, several, count, np.random.default_rng(seed)))
    finally:
        for one in several:
            one.close()


def test_messages_are_plain_text_without_the_template_and_differ(
    public: PublicModel, reach: Reach, ends: DeviceEnds
) -> None:
    found = texts(public, sessions(reach, ends, 3), 1)
    assert 2 <= len(found) <= 6
    assert len(set(found)) > 1
    frame = {public.text([index]) for index in public.suffix[:1]} - {""}
    assert all(one and not any(mark in one for mark in frame) for one in found)


def test_the_same_draws_write_the_same_and_others_do_not(
    public: PublicModel, reach: Reach, ends: DeviceEnds
) -> None:
    first, again, other = (texts(public, sessions(reach, ends, 2), seed) for seed in (4, 4, 5))
    assert first == again
    assert first != other


class Forgetful:
    """A session that the server gives up once, in the middle of a message."""

    def __init__(self, session: AllStates, at: int) -> None:
        self.session, self.left = session, at

    def run(self, rows: np.ndarray, start: int, adapter: str | None = None) -> np.ndarray:
        self.left -= 1
        if self.left == 0:
            raise ServerRefused("unknown_session", "no such session")
        return self.session.run(rows, start, adapter)


def test_a_session_that_is_given_up_begins_its_text_again(
    public: PublicModel, reach: Reach, ends: DeviceEnds
) -> None:
    plain = texts(public, sessions(reach, ends, 1), 3, 2)
    (one,) = sessions(reach, ends, 1)
    try:
        broken = list(written(public, [Forgetful(one, 5)], 2, np.random.default_rng(3)))
    finally:
        one.close()
    assert broken == plain


def test_what_was_written_before_the_time_is_up_is_there(
    public: PublicModel, reach: Reach, ends: DeviceEnds
) -> None:
    ticks = iter(range(10_000))
    allowance = Allowance(60.0, lambda: float(next(ticks)))
    (one,) = (AllStates(reach, ends.manifest, None, allowance),)
    found: list[str] = []
    with pytest.raises(TimeUp):
        found.extend(written(public, [one], 10_000, np.random.default_rng(1)))
    one.close()
    assert found


class Full:
    """A server without a place for another session."""

    def run(self, rows: np.ndarray, start: int, adapter: str | None = None) -> np.ndarray:
        raise ServerRefused("too_many_sessions", "wait")


def test_a_server_with_fewer_places_goes_on_with_those_that_it_has(
    public: PublicModel, reach: Reach, ends: DeviceEnds
) -> None:
    plain = texts(public, sessions(reach, ends, 1), 3, 2)
    (one,) = sessions(reach, ends, 1)
    try:
        found = list(written(public, [Full(), one], 2, np.random.default_rng(3)))
    finally:
        one.close()
    assert found == plain
    with pytest.raises(ServerRefused, match="wait"):
        list(written(public, [Full(), Full()], 2, np.random.default_rng(3)))
