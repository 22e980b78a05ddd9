"""Prefills of several steps under way over real sockets that are cut, and servers that lie."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.sync.server import ServerConnection

from split_client.errors import AnswerInvalid, ServerRefused
from split_client.transport.endpoint import Endpoint
from split_client.transport.window import Window
from split_wire.codec import decode_client_message, encode_message
from split_wire.errors import HiddenOverflow, Overloaded
from split_wire.messages import Failure, Step
from tests.exhaustive import EXHAUSTIVE
from tests.proxies import CuttingProxy
from tests.split_client.servers import PeerAnswer, http_server, posting, socket_server
from tests.split_client.transport.rigs import Rig, truth
from tests.split_wire.peer import LIMIT, Peer

PROMPT = list(range(1, 19))


def wide() -> PeerAnswer:
    return PeerAnswer(Peer("s", limits=(3, 64)))


@contextmanager
def cut(peer: PeerAnswer) -> Iterator[tuple[CuttingProxy, Rig]]:
    with socket_server(peer) as endpoint, CuttingProxy(endpoint.port) as proxy:
        rig = Rig(Endpoint.parse(proxy.url))
        yield proxy, rig
        rig.close()


def starts(peer: PeerAnswer) -> list[int]:
    return starts_of(peer.frames)


def test_a_socket_carries_steps_of_a_prefill_one_after_the_other() -> None:
    peer = wide()
    with socket_server(peer) as endpoint:
        rig = Rig(endpoint)
        assert rig.extend(PROMPT) == truth(PROMPT)
        rig.close()
    assert starts(peer) == list(range(0, 18, 3))


def test_http_carries_one_step_at_a_time() -> None:
    peer = wide()
    with http_server(post=posting(peer)) as endpoint:
        rig = Rig(endpoint)
        rig.backend.open()
        assert rig.backend.most_under_way == 1
        assert rig.extend(PROMPT) == truth(PROMPT)
        rig.close()


@pytest.mark.parametrize("after", range(0, 1200, 1 if EXHAUSTIVE else 61))
def test_a_connection_that_is_cut_at_any_byte_loses_and_repeats_nothing(after: int) -> None:
    peer = wide()
    with cut(peer) as (proxy, rig):
        rig.extend([7])
        proxy.cut_after(after)
        assert rig.extend(PROMPT) == truth(PROMPT)
        assert rig.extend([*PROMPT, 5]) == truth([*PROMPT, 5])
    assert set(peer.peer.runs.values()) == {1}
    assert rig.backend.sessions_opened == 1


def test_many_cuts_lose_and_repeat_nothing() -> None:
    chance, peer = random.Random(7), wide()  # noqa: S311
    with cut(peer) as (proxy, rig):
        for _ in range(1000 if EXHAUSTIVE else 40):
            tokens = [chance.randrange(50) for _ in range(chance.randrange(1, 30))]
            proxy.cut_after(chance.randrange(900))
            assert rig.extend(tokens) == truth(tokens)
    assert set(peer.peer.runs.values()) == {1}
    assert proxy.cuts > 10


@pytest.mark.parametrize("at", range(2, 7))
def test_a_refusal_that_passes_has_the_steps_behind_it_made_again(at: int) -> None:
    peer = Refusing(at, Overloaded("the queue is full", 0.0))
    with socket_server(peer) as endpoint:
        rig = Rig(endpoint)
        assert rig.extend(PROMPT) == truth(PROMPT)
        rig.close()
    assert set(peer.peer.runs.values()) == {1}


@pytest.mark.parametrize("at", range(2, 7))
def test_a_refusal_that_stays_ends_the_prefill_and_the_session_goes_on(at: int) -> None:
    peer = Refusing(at, HiddenOverflow())
    with socket_server(peer) as endpoint:
        rig = Rig(endpoint)
        with pytest.raises(ServerRefused) as refused:
            rig.extend(PROMPT)
        assert refused.value.code == "hidden_overflow"
        assert rig.extend(PROMPT[:10]) == truth(PROMPT[:10])
        rig.close()
    assert rig.backend.sessions_opened == 1


class Refusing(PeerAnswer):
    """Refuses the frame of that number, from 1 on, and everything that depends on it."""

    def __init__(self, at: int, error: Any) -> None:
        super().__init__(Peer("s", limits=(3, 64)))
        self._at, self._error = at, error
        self._numbers = itertools.count(1)

    def __call__(self, frame: bytes) -> bytes:
        message = decode_client_message(frame, LIMIT)
        if next(self._numbers) == self._at and isinstance(message, Step):
            return encode_message(Failure.of(self._error, message.session, message.step))
        return super().__call__(frame)


def reordered(peer: PeerAnswer) -> Callable[[ServerConnection], None]:
    """Answers the second and the third frame in the wrong order."""

    def handle(connection: ServerConnection) -> None:
        connection.send(peer(bytes(connection.recv())))
        answers = [peer(bytes(connection.recv())) for _ in range(2)]
        for answer in reversed(answers):
            connection.send(answer)
        connection.recv()

    return handle


def test_a_server_that_answers_in_another_order_is_not_believed() -> None:
    peer = wide()
    with socket_server(reordered(peer)) as endpoint:
        rig = Rig(endpoint)
        with pytest.raises(AnswerInvalid) as caught:
            rig.extend(PROMPT)
        assert caught.value.cause_code == "malformed_message"
        rig.channel.close()


def doubled(peer: PeerAnswer) -> Callable[[ServerConnection], None]:
    """Answers every frame twice."""

    def handle(connection: ServerConnection) -> None:
        for frame in connection:
            answer = peer(bytes(frame))
            connection.send(answer)
            connection.send(answer)

    return handle


def test_a_server_that_answers_twice_gives_no_other_states() -> None:
    peer = wide()
    with socket_server(doubled(peer)) as endpoint:
        rig = Rig(endpoint)
        try:
            assert rig.extend(PROMPT) == truth(PROMPT)
        except AnswerInvalid:
            assert rig.sequence.cached == 0
        rig.channel.close()
    assert set(peer.peer.runs.values()) == {1}


@pytest.mark.parametrize(
    ("trip", "compute", "most"), [(0.001, 0.1, 2), (0.1, 0.1, 2), (0.1, 0.04, 4), (0.1, 0.001, 4)]
)
def test_more_steps_are_under_way_where_a_round_trip_is_longer_than_a_step(
    trip: float, compute: float, most: int
) -> None:
    window = Window()
    assert window.most == 2
    window.stepped(1, trip + 0.01, 0.01, 0.0)
    assert window.most == 2
    window.stepped(512, trip + compute + 0.5, compute, 0.5)
    assert window.most == most


def test_a_slow_uplink_needs_no_more_steps_than_two() -> None:
    window = Window()
    window.stepped(1, 0.1, 0.0, 0.0)
    window.stepped(512, 1.1, 0.01, 0.0)
    assert window.most == 2


def test_a_step_that_takes_long_is_alone_until_one_does_not() -> None:
    window = Window()
    window.stepped(512, 10.1, 2.0, 8.0)
    assert window.most == 1
    window.stepped(512, 0.2, 0.1, 0.0)
    assert window.most == 2


def starts_of(frames: list[bytes]) -> list[int]:
    messages = [decode_client_message(frame, LIMIT) for frame in frames]
    return [message.start for message in messages if isinstance(message, Step)]
