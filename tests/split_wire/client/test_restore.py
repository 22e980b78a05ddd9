"""What a device believes of a server that says what it holds."""

from __future__ import annotations

import numpy as np
import pytest

from split_wire.client import (
    ClientProtocol,
    Ignored,
    ProtocolStateError,
    SessionOpened,
    SessionRestored,
    StepFailed,
)
from split_wire.codec import decode_client_message, encode_message
from split_wire.digest import PrefixChain
from split_wire.errors import Overloaded, UnknownSession
from split_wire.messages import Failure, Open, Opened, Restore, Restored, Step
from split_wire.probe import Probe
from split_wire.tensor import Tensor

WIDTH, LIMIT = 4, 1 << 20
OPENED = Opened("s1", "m", "f32", 100, 200, capabilities=("restore",))


def rows(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, WIDTH)).astype(np.float32)


def chain(count: int, seed: int = 0) -> PrefixChain:
    made = PrefixChain("m")
    made.replace(0, made.following(0, Tensor.from_f32(rows(count, seed), "f32")))
    return made


@pytest.fixture
def client() -> ClientProtocol:
    return ClientProtocol(WIDTH, "m", cache_salt="of mine")


def opened(client: ClientProtocol) -> ClientProtocol:
    client.open()
    client.receive(encode_message(OPENED))
    return client


def test_an_open_asks_for_the_rows_that_will_follow(client: ClientProtocol) -> None:
    asked = decode_client_message(client.open(chain(40)), LIMIT)
    assert asked == Open("m", probe=Probe.of(chain(40)), cache_salt="of mine")


def test_a_device_that_wants_nothing_kept_asks_for_nothing() -> None:
    client = ClientProtocol(WIDTH, "m", cache="off")
    assert decode_client_message(client.open(chain(40)), LIMIT) == Open("m", cache="off")


def test_a_device_names_its_group_and_how_much_it_shares() -> None:
    client = ClientProtocol(WIDTH, "m", cache_group="family", share_until=96)
    asked = decode_client_message(client.open(), LIMIT)
    assert asked == Open("m", cache_group="family", share_until=96)


def test_what_is_held_is_not_sent_again(client: ClientProtocol) -> None:
    client.open(chain(40))
    answer = Opened(*_start(), cached=32, prefix=chain(40).at(32))
    assert isinstance(client.receive(encode_message(answer)), SessionOpened)
    assert client.cached == 32
    step = decode_client_message(client.step(32, rows(40)[32:]), LIMIT)
    assert isinstance(step, Step)
    assert (step.start, step.prefix) == (32, chain(40).at(32))


@pytest.mark.parametrize(
    ("cached", "prefix"),
    [
        (32, chain(40, seed=1).at(32)),
        (32, chain(40).at(16)),
        (48, chain(48).at(48)),
        (32, b""),
    ],
)
def test_what_its_name_does_not_prove_is_not_believed(
    client: ClientProtocol, cached: int, prefix: bytes
) -> None:
    client.open(chain(40))
    client.receive(encode_message(Opened(*_start(), cached=cached, prefix=prefix)))
    assert client.cached == 0


def test_an_answer_to_what_was_not_asked_is_not_believed(client: ClientProtocol) -> None:
    client.open()
    client.receive(encode_message(Opened(*_start(), cached=16, prefix=chain(16).at(16))))
    assert client.cached == 0


def test_an_old_server_that_knows_no_probe_opens_all_the_same(client: ClientProtocol) -> None:
    client.open(chain(40))
    assert isinstance(client.receive(encode_message(Opened(*_start()))), SessionOpened)
    assert (client.cached, client.restores) == (0, False)
    with pytest.raises(ProtocolStateError):
        client.restore(0, chain(40))


def test_a_session_restores_what_it_does_not_hold(client: ClientProtocol) -> None:
    opened(client)
    frame = client.restore(0, chain(40))
    assert decode_client_message(frame, LIMIT) == Restore(
        "s1", 0, PrefixChain("m").at(0), Probe.of(chain(40))
    )
    assert client.outstanding == frame
    assert not client.stepping
    event = client.receive(encode_message(Restored("s1", 0, 40, 40, chain(40).at(40))))
    assert event == SessionRestored(40)
    assert (client.cached, client.outstanding) == (40, None)


@pytest.mark.parametrize(
    "answer",
    [
        Restored("s2", 0, 40, 40, chain(40).at(40)),
        Restored("s1", 1, 40, 40, chain(40).at(40)),
        Restored("s1", 0, 39, 39, chain(40).at(39)),
    ],
)
def test_the_answer_to_another_question_is_ignored(
    client: ClientProtocol, answer: Restored
) -> None:
    opened(client).restore(0, chain(40))
    assert client.receive(encode_message(answer)) == Ignored()
    assert client.outstanding is not None


def test_an_untrue_answer_leaves_what_was_held(client: ClientProtocol) -> None:
    opened(client).open(chain(16))
    client.receive(
        encode_message(Opened(*_start(), ("restore",), cached=16, prefix=chain(16).at(16)))
    )
    client.restore(16, chain(40))
    untrue = Restored("s1", 16, 40, 32, chain(40, seed=1).at(32))
    assert client.receive(encode_message(untrue)) == SessionRestored(16)


def test_a_restore_begins_with_rows_that_are_held(client: ClientProtocol) -> None:
    opened(client).open(chain(16))
    client.receive(
        encode_message(Opened(*_start(), ("restore",), cached=16, prefix=chain(16).at(16)))
    )
    for start, wanted in ((17, chain(40)), (16, chain(40, seed=1)), (0, PrefixChain("m"))):
        with pytest.raises(ProtocolStateError):
            client.restore(start, wanted)


def test_a_restore_that_was_given_up_leaves_what_was_held_for_certain(
    client: ClientProtocol,
) -> None:
    opened(client).open(chain(20))
    held = Opened(*_start(), ("restore",), cached=20, prefix=chain(20).at(20))
    client.receive(encode_message(held))
    client.restore(16, chain(40))
    client.give_up()
    assert (client.cached, client.outstanding) == (16, None)
    late = Restored("s1", 16, 40, 40, chain(40).at(40))
    assert client.receive(encode_message(late)) == Ignored()
    client.give_up()
    assert client.cached == 16


@pytest.mark.parametrize("error", [Overloaded("x"), UnknownSession()])
def test_a_restore_that_is_refused_is_over(client: ClientProtocol, error: Exception) -> None:
    opened(client).restore(0, chain(40))
    event = client.receive(encode_message(Failure.of(error)))  # type: ignore[arg-type]
    assert isinstance(event, StepFailed)
    assert (client.outstanding, client.cached) == (None, 0)
    late = Restored("s1", 0, 40, 40, chain(40).at(40))
    assert client.receive(encode_message(late)) == Ignored()


def _start() -> tuple[str, str, str, int, int, int]:
    return ("s1", "m", "f32", 100, 200, 1)
