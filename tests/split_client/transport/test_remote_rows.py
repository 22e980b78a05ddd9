"""States of several rows over a real socket, from servers that count rows and that do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from split_client.errors import AnswerInvalid
from split_client.transport.channel import Channel
from split_client.transport.connect import connector
from split_client.transport.remote import RemoteBackend
from split_wire.codec import decode_client_message, decode_server_message, encode_message
from split_wire.limits import frame_limit
from split_wire.messages import Result, Step
from split_wire.tensor import Tensor
from tests.split_client.servers import PeerAnswer, http_server, posting, socket_server
from tests.split_client.transport.rigs import Rig, rows, truth
from tests.split_wire.peer import LIMIT, WIDTH, Peer


def asked_for(peer: PeerAnswer) -> list[Any]:
    steps = [decode_client_message(frame, 1 << 20) for frame in peer.frames]
    return [step.rows for step in steps if isinstance(step, Step)]


def states(rig: Rig, tokens: list[int], count: int) -> list[list[float]]:
    return [list(state) for state in rig.sequence.cache(tokens, rows=count).states]


def wanted(tokens: list[int], count: int) -> list[list[float]]:
    return [truth(tokens[:end]) for end in range(len(tokens) - count + 1, len(tokens) + 1)]


@pytest.mark.parametrize("counts", [True, False])
def test_states_are_those_of_the_last_rows(counts: bool) -> None:
    peer = PeerAnswer(Peer("s", limits=(40, 40)))
    peer.peer.counts_rows = counts
    with socket_server(peer) as endpoint:
        rig = Rig(endpoint)
        tokens = list(range(30))
        for end, count in ((25, 3), (26, 1), (30, 4), (30, 2)):
            assert states(rig, tokens[:end], count) == wanted(tokens[:end], count)
        rig.close()
    counted, told = [3, "last", "all", "all"], ["last", "all", "last", "all", "all"]
    assert asked_for(peer) == (counted if counts else told)


def test_an_old_server_returns_all_of_a_few_rows() -> None:
    peer = PeerAnswer(Peer("s", limits=(40, 40)))
    peer.peer.counts_rows = False
    with socket_server(peer) as endpoint:
        rig = Rig(endpoint)
        assert states(rig, list(range(16)), 3) == wanted(list(range(16)), 3)
        rig.close()
    assert asked_for(peer) == ["all"]


@pytest.mark.parametrize("kind", ["websocket", "http"])
def test_there_is_room_for_as_many_states_as_are_asked_for(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.split_wire.peer.LIMIT", 1 << 20)
    peer = PeerAnswer(Peer("s", limits=(5000, 5000)))
    tokens = list(range(5000))
    assert 4 * WIDTH * len(tokens) > frame_limit(WIDTH, 1)
    server = socket_server(peer) if kind == "websocket" else http_server(post=posting(peer))
    with server as endpoint:
        channel = Channel(connector(endpoint, None, frame_limit(WIDTH, 1)))
        backend = RemoteBackend(channel, WIDTH, "m", 5000)
        backend.open()
        assert len(backend.step(0, rows(tokens), rows=len(tokens)).hidden) == len(tokens)
        channel.close()


@pytest.mark.parametrize("given", [1, 3])
def test_a_server_that_answers_fewer_or_more_states_is_not_believed(given: int) -> None:
    peer = Lying(given)
    with socket_server(peer) as endpoint:
        rig = Rig(endpoint)
        with pytest.raises(AnswerInvalid) as caught:
            rig.sequence.cache([1, 2, 3], rows=2)
        assert caught.value.cause_code == "wrong_shape"
        rig.close()


class Lying(PeerAnswer):
    """Answers every step as if so many states had been asked for."""

    def __init__(self, given: int) -> None:
        super().__init__(Peer("s"))
        self._given = given

    def __call__(self, frame: bytes) -> bytes:
        answer = decode_server_message(super().__call__(frame), LIMIT)
        if not isinstance(answer, Result):
            return encode_message(answer)
        hidden = Tensor.from_f32(np.zeros((self._given, WIDTH), np.float32), "f32")
        return encode_message(replace(answer, hidden=hidden))
