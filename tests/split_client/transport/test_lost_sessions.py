"""Sessions that went with their server, and how soon the next one is asked for."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from split_client.transport.channel import Patience
from split_client.transport.websocket import WebSocketTransport
from split_wire.codec import decode_client_message, decode_server_message, encode_message
from split_wire.messages import Close, Opened
from tests.split_client.servers import PeerAnswer, http_server, posting
from tests.split_client.transport.rigs import Rig, truth
from tests.split_wire.peer import LIMIT

# Seconds between two losses: each comes soon after its session was opened.
_APART = 5.0
_KILLS = 6


def _killed(rig: Rig, peer: PeerAnswer) -> None:
    """The server dies with all it holds, and another one takes its connections."""
    transport = rig.channel._transport
    assert isinstance(transport, WebSocketTransport)
    transport._socket.shutdown(socket.SHUT_RDWR)
    peer.peer.sessions.clear()


def _waits(rig: Rig, lose: Callable[[], object]) -> Iterator[float]:
    """Seconds that each of several replies waits, with ``lose()`` before it."""
    tokens = [1, 2]
    rig.extend(tokens)
    for token in range(_KILLS):
        rig.now += _APART
        lose()
        tokens.append(token)
        before = rig.now
        assert rig.extend(tokens) == truth(tokens)
        yield rig.now - before


def test_a_session_that_went_with_its_connection_waits_for_the_connection_alone(
    rig: Rig, peer: PeerAnswer
) -> None:
    waits = [*_waits(rig, lambda: _killed(rig, peer))]
    assert max(waits) <= Patience().first_delay
    assert rig.backend.sessions_opened == 1 + _KILLS


def test_sessions_that_are_lost_soon_on_one_connection_come_back_later_each_time(
    rig: Rig, peer: PeerAnswer
) -> None:
    waits = [*_waits(rig, peer.peer.sessions.clear)]
    assert min(waits) > Patience().first_delay * 0.99
    assert waits[-1] > 2.0


class _Replicas:
    """The same peer under another name each time that it lost its sessions."""

    def __init__(self, peer: PeerAnswer) -> None:
        self._peer, self._lives = peer, 0

    def __call__(self, frame: bytes) -> bytes:
        message = decode_server_message(self._peer(frame), LIMIT)
        if isinstance(message, Opened):
            message = replace(message, replica=f"r{self._lives}")
        return encode_message(message)

    def lose(self) -> None:
        self._lives += 1
        self._peer.peer.sessions.clear()


def test_over_http_another_replica_does_not_count_as_a_server_that_loses_sessions(
    peer: PeerAnswer,
) -> None:
    replicas = _Replicas(peer)
    with http_server(post=posting(replicas)) as endpoint:
        rig = Rig(endpoint, mode="http")
        waits = [*_waits(rig, replicas.lose)]
        rig.close()
    # That it is another one is known once a session is open there.
    assert max(waits) <= 2 * Patience().first_delay


def test_a_session_that_the_server_does_not_know_is_not_closed_there(
    rig: Rig, peer: PeerAnswer
) -> None:
    rig.extend([1, 2])
    peer.peer.sessions.clear()
    rig.extend([1, 2, 3])
    sent = [decode_client_message(frame, LIMIT) for frame in peer.frames]
    assert not [message for message in sent if isinstance(message, Close)]


@pytest.mark.parametrize("mode", ["auto", "http"])
def test_a_new_connection_costs_no_reading_of_authorities_where_there_is_no_tls(
    peer: PeerAnswer, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("the system's authorities were read")

    monkeypatch.setattr("ssl.SSLContext.load_verify_locations", fail)
    monkeypatch.setattr("ssl.SSLContext.load_default_certs", fail)
    with http_server(post=posting(peer)) as endpoint:
        rig = Rig(endpoint, mode=mode)
        assert rig.extend([1, 2]) == truth([1, 2])
        rig.close()
