"""Key recovery by reaction: a host that bends replies and watches whether another query comes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client.crypto import hosted, making
from split_client.crypto.hosted import HostedAdapters
from split_client.generation.sequence import Sequence
from split_he.keys import DeviceKeys
from split_he.modular import Integers
from split_he.transform import inverse
from tests.patience import until
from tests.split_client.crypto.reaction import (
    ENDS_ABOVE,
    HIDDEN,
    MaskingHost,
    ReactingHost,
    ReactingLink,
)

_MOST_TOKENS = 200


class Device:
    """A device that chats through a host of this kind; ``secrets``: its keys, in their order."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, host: ReactingHost | None = None, masks: int = 0
    ) -> None:
        self.host, self.secrets = host or ReactingHost(), []
        self._states = np.random.default_rng(3)
        monkeypatch.setattr(hosted, "HostLink", lambda *_, **__: ReactingLink(self.host))
        generate = DeviceKeys.generate

        def kept(*arguments: Any) -> DeviceKeys:
            keys = generate(*arguments)
            self.secrets.append(inverse(keys._secret))
            return keys

        monkeypatch.setattr(DeviceKeys, "generate", kept)
        self.adapters = HostedAdapters(
            "http://127.0.0.1:1", "token", SimpleNamespace(hidden_size=HIDDEN), masks=masks
        )
        self._sequence = Sequence(None, lambda _: self.state())  # type: ignore[arg-type]

    def state(self) -> NDArray[np.float32]:
        return self._states.normal(size=HIDDEN).astype(np.float32)

    def reply(self, most: int = _MOST_TOKENS) -> list[NDArray[np.float32]]:
        """The states of one reply, which ends where the adapted state says so."""
        self.adapters.use("made", self._sequence)
        correct, states = self._sequence.correct, []
        assert correct is not None
        for _ in range(most):
            states.append(self.state())
            if correct(states[-1])[0] > ENDS_ABOVE:
                break
        self.host.hears_nothing()
        return states


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Any:
    made = Device(monkeypatch)
    with closing(made.adapters):
        yield made


def right(guess: dict[int, int], secret: Integers) -> int:
    """How many coordinates of a key are known."""
    return sum(int(secret[at]) == value for at, value in guess.items())


def attacked(device: Device, enough: Callable[[], bool]) -> NDArray[np.float32]:
    """An honest reply, whose first state is returned, then dishonest ones until that is enough."""
    (first, *_) = device.reply(3)
    device.host.honest = False
    while not enough():
        device.reply()
    return first


def test_what_a_host_learns_of_a_key_ends_with_the_reply(device: Device) -> None:
    """Each ended reply tells a coordinate, and never of the same key as the one before."""
    host = device.host
    attacked(device, lambda: host.ended == 60)
    assert len(host.coordinates) >= 60
    earlier, *keys = device.secrets
    by_chance = len(host.coordinates) / 3
    assert right(host.coordinates, earlier) < by_chance + 5 * by_chance**0.5
    assert len(keys) >= 60
    # Under one key the host asks until the first coordinate that ends the reply.
    assert max(map(len, host.known.values())) < 40
    assert sum(1 in known.values() or -1 in known.values() for known in host.known.values()) == 60


@pytest.mark.slow
def test_all_coordinates_that_a_host_learns_open_no_earlier_query(device: Device) -> None:
    host = device.host
    truth = attacked(device, lambda: host.honest)
    (session, *_) = host.queries
    found = host.opened(session, host.coordinates)
    error = np.linalg.norm(found - truth) / np.linalg.norm(truth)
    assert error > 100.0
    secret = device.secrets[0]
    exact = host.opened(session, dict(enumerate(secret.tolist())))
    assert np.linalg.norm(exact - truth) < 1e-5 * np.linalg.norm(truth)


def test_a_host_that_guesses_through_masks_learns_of_one_replys_key_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(making, "_QUIET_SECONDS", 0.0)
    monkeypatch.setenv("SPLIT_DATA", str(tmp_path))
    host = MaskingHost()
    device = Device(monkeypatch, host, masks=16)
    with closing(device.adapters):
        while host.ended < 40:
            device.adapters.prepare("made")
            until(lambda: device.adapters.masks.ready == 16)
            device.reply()
    # Within a reply the guess that ended it was right of its own key...
    assert len(host.right) == 40
    assert len({session for session, _, _ in host.right}) == 40
    keys = dict(zip(host.nonces, device.secrets, strict=False))
    assert all(int(keys[session][at]) == value for session, at, value in host.right)
    # ... and says nothing of any other.
    (earlier, *_) = device.secrets
    guessed = {at: value for _, at, value in host.right}
    by_chance = len(guessed) / 3
    assert right(guessed, earlier) < by_chance + 5 * by_chance**0.5
