"""What a server kept of a sequence is deleted there: real session states, over a socket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client.generation.sequence import Sequence
from split_client.model.errors import NotForgotten
from split_client.model.forgetting import Forgotten, forget
from split_client.transport.channel import Channel
from split_client.transport.connect import connector
from split_client.transport.remote import RemoteBackend
from split_wire.codec import decode_client_message
from split_wire.messages import Close, Open
from tests.patience import until
from tests.split_client.servers import PeerAnswer, socket_server
from tests.split_wire.peer import LIMIT, WIDTH, Peer

PROMPT = [*range(1, 61)]
BRANCH = [*PROMPT[:32], *range(90, 120)]


def rows(tokens: list[int]) -> NDArray[np.float32]:
    return np.repeat(np.asarray(tokens, np.float32)[:, None], WIDTH, axis=1)


@pytest.fixture
def peer() -> PeerAnswer:
    made = Peer("s", limits=(64, 200))
    made.kept = {}
    return PeerAnswer(made)


class Device:
    def __init__(self, endpoint: Any, **options: Any) -> None:
        self.channel = Channel(connector(endpoint, None, LIMIT))
        self.backend = RemoteBackend(self.channel, WIDTH, "m", 200, **options)
        self.sequence = Sequence(self.backend, rows)

    def forget(self, *others: list[int], embed: Any = rows) -> Forgotten:
        held = self.sequence.leave()
        return forget(self.backend, held, [*self.sequence.trail.ends, *others], embed)


@pytest.fixture
def device(peer: PeerAnswer) -> Iterator[Device]:
    with socket_server(peer) as endpoint:
        made = Device(endpoint)
        yield made
        made.sequence.close()
        made.channel.close()


def test_what_the_open_session_holds_is_deleted(peer: PeerAnswer, device: Device) -> None:
    device.sequence.extend(PROMPT)
    assert device.forget() == Forgotten(len(PROMPT), 0)
    assert peer.peer.kept == {}
    assert device.sequence.cached == 0
    assert not peer.peer.sessions


def test_branches_that_were_cut_off_are_deleted_as_well(peer: PeerAnswer, device: Device) -> None:
    device.sequence.extend(PROMPT)
    device.sequence.extend(BRANCH)
    assert device.forget() == Forgotten(len(PROMPT) + len(BRANCH) - 32, 0)
    assert peer.peer.kept == {}


def test_what_a_session_left_that_was_lost_is_deleted(peer: PeerAnswer, device: Device) -> None:
    device.sequence.extend(PROMPT)
    peer.peer.sessions.clear()
    assert device.forget() == Forgotten(len(PROMPT), 0)
    assert peer.peer.kept == {}


def test_another_program_deletes_by_the_rows_alone(peer: PeerAnswer, device: Device) -> None:
    device.sequence.extend(PROMPT)
    device.sequence.close()
    device.sequence.trail.clear()
    assert device.forget(PROMPT, BRANCH) == Forgotten(len(PROMPT), 0)
    assert peer.peer.kept == {}


def test_a_chat_of_which_nothing_is_kept_has_nothing_deleted(device: Device) -> None:
    assert device.forget(PROMPT) == Forgotten(0, 0)


def test_what_a_server_does_not_delete_is_told(peer: PeerAnswer, device: Device) -> None:
    device.sequence.extend(PROMPT)
    kept = dict(peer.peer.kept or {})
    close = peer.peer._close

    def keeping(session: str, keep: bool) -> None:
        close(session, keep)
        peer.peer.kept = dict(kept)

    peer.peer._close = keeping  # type: ignore[method-assign]
    assert device.forget() == Forgotten(len(PROMPT), len(PROMPT))


def test_without_a_word_of_the_server_it_does_not_count_as_deleted(device: Device) -> None:
    device.sequence.extend(PROMPT)
    device.sequence.close()
    device.backend.close = lambda keep=True: False  # type: ignore[method-assign]
    with pytest.raises(NotForgotten):
        device.forget()


def test_a_server_that_cannot_be_asked_is_asked_once(peer: PeerAnswer, device: Device) -> None:
    device.sequence.extend(PROMPT)
    device.sequence.extend(BRANCH)
    peer.peer.kept = None
    device.sequence.close()
    done = device.forget(PROMPT[:50], PROMPT[:40])
    assert done == Forgotten(0, 0, earlier=False)

    def sent() -> list[type]:
        return [type(decode_client_message(frame, LIMIT)) for frame in list(peer.frames)]

    # Nobody waits for the answer to the last one.
    until(lambda: sent()[-1] is Close and sent()[-2] is Open)
    # Of the session that is closed before, and of the one that is asked.
    assert sent()[-3:] == [Close, Open, Close]


def test_rows_that_must_not_be_named_are_not(peer: PeerAnswer, device: Device) -> None:
    device.sequence.extend(PROMPT)
    device.sequence.extend(BRANCH)
    peer.frames.clear()
    assert device.forget(embed=None) == Forgotten(len(BRANCH), 0, earlier=False)
    assert [type(decode_client_message(frame, LIMIT)) for frame in peer.frames] == [Close]


def test_the_next_step_sends_everything_again(peer: PeerAnswer, device: Device) -> None:
    device.sequence.extend(PROMPT)
    device.forget()
    device.sequence.extend([*PROMPT, 61])
    assert device.sequence.counters.rows_restored == 0
    assert device.sequence.cached == len(PROMPT) + 1
