"""Sessions of the attacker's that run at once."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from split_client.audit.allowance import TimeUp
from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.language.flock import Flock
from split_client.audit.reach import Reach
from split_client.audit.session import AllStates
from split_client.errors import ServerRefused
from split_client.model.ends import DeviceEnds
from split_wire.codec import encode_message
from split_wire.messages import Close

TEXTS = [(1, 2, 3), (1, 2, 4), (1, 5), (1, 2, 3, 9), (7,), (1, 2)]


class Recurrent:
    """A session whose states depend on all rows before them; it fails as told."""

    def __init__(self, hidden: int, fails: Exception | None = None) -> None:
        self.mix = np.random.default_rng(6).normal(size=(hidden, hidden)) / hidden**0.5
        self.states: list[np.ndarray] = []
        self.fails = fails
        self.rows = 0
        self.lock = threading.Lock()

    def run(self, rows: np.ndarray, start: int, adapter: str | None = None) -> np.ndarray:
        assert self.lock.acquire(blocking=False), "one step at a time"
        try:
            if self.fails is not None:
                raise self.fails
            assert start <= len(self.states)
            del self.states[start:]
            self.rows += len(rows)
            for row in rows:
                before = self.states[-1] if self.states else np.zeros_like(row)
                self.states.append(np.tanh(5 * row + self.mix @ before).astype(np.float32))
            return np.stack(self.states[start:])
        finally:
            self.lock.release()


def alone(public: PublicModel, text: tuple[int, ...]) -> np.ndarray:
    return np.asarray(Recurrent(public.hidden).run(public.rows(text), 0)[-1])


@pytest.mark.parametrize("count", [1, 2, 5])
def test_states_are_those_of_each_text_by_itself(public: PublicModel, count: int) -> None:
    sessions = [Recurrent(public.hidden) for _ in range(count)]
    flock = Flock(public, sessions)
    for _ in range(2):
        found = flock.states([*TEXTS, TEXTS[0]])
        for text, state in zip([*TEXTS, TEXTS[0]], found, strict=True):
            np.testing.assert_array_equal(state, alone(public, text))
    # What was computed once is kept, and what texts begin with alike is not run again.
    assert sum(one.rows for one in sessions) < sum(map(len, TEXTS))
    flock.close()


def test_what_other_texts_begin_with_is_found_on_the_way_to_them(public: PublicModel) -> None:
    session = Recurrent(public.hidden)
    flock = Flock(public, [session])
    texts = [(1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), (1, 2, 5)]
    for text, state in zip(texts, flock.states(texts), strict=True):
        np.testing.assert_array_equal(state, alone(public, text))
    assert session.rows == 5
    # A beginning that the cache holds, and whose state nobody has, is run once more.
    np.testing.assert_array_equal(flock.states([(1, 2, 5, 6), (1, 2)])[1], alone(public, (1, 2)))
    assert session.rows == 6
    flock.close()


def test_a_session_that_the_server_refuses_leaves_its_texts_to_the_others(
    public: PublicModel,
) -> None:
    refused = ServerRefused("too_many_sessions", "no more than one")
    flock = Flock(public, [Recurrent(public.hidden), Recurrent(public.hidden, refused)])
    np.testing.assert_array_equal(flock.states(TEXTS)[2], alone(public, TEXTS[2]))
    flock.close()
    flock = Flock(public, [Recurrent(public.hidden, refused)])
    with pytest.raises(ServerRefused):
        flock.states(TEXTS)
    flock.close()


def test_sessions_that_the_server_gave_up_meanwhile_are_begun_again(
    public: PublicModel, ends: DeviceEnds, reach: Reach
) -> None:
    session, other = AllStates(reach, ends.manifest), AllStates(reach, ends.manifest)
    flock = Flock(public, [session])
    before = flock.states([(*public.prefix, 44)])
    opened = session._protocol.opened
    assert opened is not None
    session._channel.exchange(encode_message(Close(opened.session)))
    found = flock.states([(*public.prefix, 44, 45)])
    wanted = other.run(public.rows([*public.prefix, 44, 45]), 0)
    np.testing.assert_allclose(before[0], wanted[-2], atol=1e-4)
    np.testing.assert_allclose(found[0], wanted[-1], atol=1e-4)
    for one in (session, other):
        one.close()
    flock.close()


def test_what_is_broken_off_begins_anew(public: PublicModel) -> None:
    session = Recurrent(public.hidden)
    flock = Flock(public, [session])
    flock.states(TEXTS[:2])
    session.fails = TimeUp()
    with pytest.raises(TimeUp):
        flock.states(TEXTS)
    session.fails = None
    session.states.clear()
    np.testing.assert_array_equal(flock.states(TEXTS)[3], alone(public, TEXTS[3]))
    flock.close()
