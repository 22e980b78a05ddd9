"""A device asks for what the server holds before it sends it again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from split_client.generation.sequence import Sequence
from split_client.transport.channel import Channel
from split_client.transport.connect import connector
from split_client.transport.remote import RemoteBackend
from split_wire.codec import decode_client_message
from split_wire.messages import Open, Restore, Step
from tests.split_client.servers import PeerAnswer, socket_server
from tests.split_wire.peer import LIMIT, WIDTH, Peer, answer_of

PROMPT = [*range(1, 61)]
MAX_ROWS, MAX_CONTEXT = 64, 200


def rows(tokens: list[int]) -> np.ndarray:
    return np.repeat(np.asarray(tokens, np.float32)[:, None], WIDTH, axis=1)


def truth(tokens: list[int]) -> list[float]:
    return list(answer_of([row.tobytes() for row in rows(tokens)])[0])


@pytest.fixture
def peer() -> PeerAnswer:
    made = Peer("s", limits=(MAX_ROWS, MAX_CONTEXT))
    made.kept = {}
    return PeerAnswer(made)


@pytest.fixture
def endpoint(peer: PeerAnswer) -> Iterator[Any]:
    with socket_server(peer) as found:
        yield found


class Device:
    def __init__(self, endpoint: Any, **options: Any) -> None:
        self.channel = Channel(connector(endpoint, None, LIMIT))
        self.backend = RemoteBackend(self.channel, WIDTH, "m", MAX_CONTEXT, **options)
        self.sequence = Sequence(self.backend, rows)

    def extend(self, tokens: list[int]) -> list[float]:
        return list(self.sequence.extend(tokens).hidden)

    def close(self) -> None:
        self.sequence.close()
        self.channel.close()


@pytest.fixture
def device(endpoint: Any) -> Iterator[Device]:
    made = Device(endpoint)
    yield made
    made.close()


def sent(peer: PeerAnswer) -> list[Any]:
    messages = [decode_client_message(frame, LIMIT) for frame in peer.frames]
    return [each for each in messages if isinstance(each, (Open, Restore, Step))]


def test_a_new_session_is_opened_with_what_will_be_sent(peer: PeerAnswer, device: Device) -> None:
    device.extend(PROMPT)
    device.sequence.close()
    peer.frames.clear()
    assert device.extend([*PROMPT, 61]) == truth([*PROMPT, 61])
    opening, step = sent(peer)
    assert opening.probe.known == len(PROMPT)
    assert (step.start, step.embeddings.rows) == (60, 1)
    assert device.sequence.counters.rows_restored == 60


def test_the_first_session_asks_once_it_knows_how_rows_travel(
    peer: PeerAnswer, endpoint: Any, device: Device
) -> None:
    device.extend(PROMPT)
    other = Device(endpoint)
    peer.frames.clear()
    try:
        assert other.extend([*PROMPT[:50], 99]) == truth([*PROMPT[:50], 99])
    finally:
        other.close()
    opening, restore, step, *_ = sent(peer)
    assert (opening.probe, restore.start, restore.probe.known) == (None, 0, 50)
    assert (step.start, step.embeddings.rows) == (50, 1)


def test_few_rows_are_sent_without_asking(peer: PeerAnswer, device: Device) -> None:
    device.extend(PROMPT)
    peer.frames.clear()
    device.extend([*PROMPT, *range(70, 102)])
    assert [type(each) for each in sent(peer)] == [Step]


def test_an_edit_restores_the_branch_that_was_there(peer: PeerAnswer, device: Device) -> None:
    device.extend(PROMPT)
    device.extend([*PROMPT[:10], *range(90, 95)])
    peer.frames.clear()
    assert device.extend(PROMPT) == truth(PROMPT)
    restore, step = sent(peer)
    assert (restore.start, step.start) == (10, len(PROMPT) - 1)


def test_a_cache_that_was_lost_is_restored(peer: PeerAnswer, device: Device) -> None:
    device.extend(PROMPT)
    peer.peer.sessions.clear()
    peer.frames.clear()
    more = [*PROMPT, *range(61, 100)]
    assert device.extend(more) == truth(more)
    # A restore in the session that is gone, then a session that begins with what is kept.
    lost, opening, step = sent(peer)
    assert [type(each) for each in (lost, opening, step)] == [Restore, Open, Step]
    # That ends where the lost one did: its last, partial block is kept under that end alone.
    assert (opening.probe.known, step.start) == (len(PROMPT), len(PROMPT))


def test_a_restore_without_an_answer_leaves_the_session_usable(
    peer: PeerAnswer, endpoint: Any
) -> None:
    device = Device(endpoint)
    device.extend([*PROMPT[:10], *range(90, 95)])
    asking = device.backend._asking
    ask = asking.ask

    def stopped(encode: Any) -> Any:
        encode()
        raise KeyboardInterrupt

    asking.ask = stopped  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        device.extend(PROMPT)
    asking.ask = ask  # type: ignore[method-assign]
    peer.frames.clear()
    assert device.extend(PROMPT) == truth(PROMPT)
    device.close()
    assert [type(each) for each in sent(peer)] == [Restore, Step]


def test_a_device_that_wants_nothing_kept_never_asks(peer: PeerAnswer, endpoint: Any) -> None:
    device = Device(endpoint, cache="off")
    for _ in range(2):
        device.extend(PROMPT)
        device.sequence.close()
    device.extend([*PROMPT[:5], *range(90, 140)])
    device.close()
    assert {type(each) for each in sent(peer)} == {Open, Step}
    assert all(each.probe is None for each in sent(peer) if isinstance(each, Open))


def test_a_new_session_in_another_dtype_is_asked_anew(peer: PeerAnswer, device: Device) -> None:
    device.extend(PROMPT)
    # The server lost the session, and its next one goes in another dtype.
    peer.peer.sessions.clear()
    device.backend._protocol.forget()
    peer.peer._dtype, peer.peer.kept = "f16", {}
    more = [*PROMPT, *range(61, 100)]
    device.extend(more)
    assert device.sequence.cached == len(more)


def test_a_server_that_keeps_nothing_is_sent_everything(peer: PeerAnswer, device: Device) -> None:
    peer.peer.kept = None
    device.extend(PROMPT)
    device.sequence.close()
    peer.frames.clear()
    assert device.extend(PROMPT) == truth(PROMPT)
    assert [type(each) for each in sent(peer)] == [Open, Step]


def test_a_lying_server_only_costs_the_rows(peer: PeerAnswer, device: Device) -> None:
    device.extend(PROMPT)
    device.sequence.close()
    kept = peer.peer.kept or {}
    # What it holds under these names are other rows.
    peer.peer.kept = {name: [bytes(16)] * len(held) for name, held in kept.items()}
    assert device.extend([*PROMPT, 61]) == truth([*PROMPT, 61])
    assert device.sequence.counters.rows_restored == 0


def test_rows_that_depend_on_more_than_their_tokens_are_never_named(
    peer: PeerAnswer, endpoint: Any
) -> None:
    channel = Channel(connector(endpoint, None, LIMIT))
    backend = RemoteBackend(channel, WIDTH, "m", MAX_CONTEXT)

    def embed(_: list[int]) -> np.ndarray:
        raise AssertionError("plain rows are not asked for")

    sequence = Sequence(backend, embed, lambda tokens, start, stop: rows(tokens[start:stop]))
    for _ in range(2):
        sequence.extend(PROMPT)
        sequence.close()
    channel.close()
    assert [type(each) for each in sent(peer)] == [Open, Step, Open, Step]
    assert all(each.probe is None for each in sent(peer) if isinstance(each, Open))


def test_the_word_of_the_device_goes_with_every_session(peer: PeerAnswer, endpoint: Any) -> None:
    device = Device(endpoint, cache_salt="a word")
    for _ in range(2):
        device.extend(PROMPT)
        device.sequence.close()
    device.close()
    opens = [each for each in sent(peer) if isinstance(each, Open)]
    assert [each.cache_salt for each in opens] == ["a word", "a word"]


def test_a_session_that_is_closed_without_keeping_it_is_not_found_again(
    peer: PeerAnswer, device: Device
) -> None:
    device.extend(PROMPT)
    assert device.backend.close(keep=False)
    peer.frames.clear()
    assert device.extend([*PROMPT, 61]) == truth([*PROMPT, 61])
    assert sent(peer)[-1].start == 0


def test_a_device_is_told_that_a_session_was_gone_before_it_was_deleted(
    peer: PeerAnswer, device: Device
) -> None:
    device.extend(PROMPT)
    peer.peer.sessions.clear()
    assert not device.backend.close(keep=False)


def test_nothing_is_deleted_where_no_session_is_open(device: Device) -> None:
    assert not device.backend.close(keep=False)


def test_what_is_kept_is_deleted_over_a_new_connection_where_the_old_one_is_lost(
    device: Device,
) -> None:
    device.extend(PROMPT)
    device.channel.close()
    assert device.backend.close(keep=False)
