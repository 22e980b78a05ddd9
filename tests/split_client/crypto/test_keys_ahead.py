"""Keys of the next reply are made while this one goes on, and hold up nobody."""

from __future__ import annotations

import threading
from typing import Any, Literal

import numpy as np
import pytest

from split_client.crypto import adapter as hosted_adapter
from split_client.errors import Cancelled
from tests.adapter_hosts import RunningHost, made_host, running_host
from tests.split_client.crypto.correcting import (
    FILE,
    HIDDEN,
    corrected,
    empty_sequence,
    hosted,
    opened_sessions,
    reference,
)


def test_a_reply_has_keys_of_its_own_that_were_made_while_the_one_before_went_on() -> None:
    with running_host(made_host({"made": FILE})) as served:
        adapters, sequence, waited = hosted(served.url), empty_sequence(), []
        ask = adapters._link.ask

        def told(method: Literal["GET", "POST"], path: str, *rest: Any) -> bytes:
            waited.append(path)
            return ask(method, path, *rest)

        adapters._link.ask = told  # type: ignore[method-assign]
        for _ in range(3):
            adapters.use("made", sequence)
            assert sequence.correct is not None
            for hidden in HIDDEN[:2]:
                sequence.correct(hidden)
            opened = opened_sessions(adapters)
        assert opened == 4
        # Later replies wait for their queries alone.
        assert waited == ["/made/b", "/made/session", "/made/key", *["/made/evaluate"] * 6]
        assert len(served.host.sessions) <= 3
        adapters.close()
        adapters.close()
        assert len(served.host.sessions) == 0


def test_the_first_token_of_a_reply_is_not_held_up_by_the_keys_of_the_next(
    served: RunningHost,
) -> None:
    adapters, sequence = hosted(served.url), empty_sequence()
    adapters.use("made", sequence)
    assert sequence.correct is not None
    sequence.correct(HIDDEN[0])
    assert adapters._adapters["made"]._next is None
    sequence.correct(HIDDEN[1])
    assert adapters._adapters["made"]._next is not None
    adapters.close()


def test_keys_that_take_too_long_are_given_up_and_made_anew(
    served: RunningHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosted_adapter, "_LOOK_SECONDS", 0.001)
    adapters, sequence, held = hosted(served.url), empty_sequence(), threading.Event()
    corrected(adapters, HIDDEN[0])
    adapters._ahead.begin(lambda _: held.wait(20))
    adapters._adapters["made"].prepare_next()
    np.testing.assert_allclose(
        corrected(adapters, HIDDEN[1]), reference(HIDDEN[1]), rtol=1e-4, atol=1e-3
    )
    adapters._adapters["made"].prepare_next()
    adapters._adapters["made"]._pause = _cancelled
    with pytest.raises(Cancelled):
        adapters.use("made", sequence)
    held.set()
    adapters.close()


def _cancelled(_: float) -> None:
    raise Cancelled


def test_two_replies_that_go_on_beside_each_other_keep_their_own_keys(served: RunningHost) -> None:
    adapters, left, right = hosted(served.url), empty_sequence(), empty_sequence()
    for sequence in (left, right):
        adapters.use("made", sequence)
    for hidden in HIDDEN[:2]:
        for sequence in (left, right):
            assert sequence.correct is not None
            np.testing.assert_allclose(
                sequence.correct(hidden), reference(hidden), rtol=1e-4, atol=1e-3
            )
    assert opened_sessions(adapters) == 3
    adapters.close()


def test_keys_that_could_not_be_made_ahead_are_made_when_the_reply_begins(
    served: RunningHost,
) -> None:
    adapters = hosted(served.url)
    adapters._ahead.close()
    for hidden in HIDDEN[:2]:
        corrected(adapters, hidden)
    assert adapters._adapters["made"].sessions_opened == 2
    adapters.close()
