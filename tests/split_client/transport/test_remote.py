"""A session holds exactly the tokens that it is given, also where a connection is cut."""

from __future__ import annotations

import pytest

from split_client.generation.backend import CacheLost
from split_client.transport.endpoint import Endpoint
from tests.patience import until
from tests.proxies import CuttingProxy
from tests.split_client.servers import PeerAnswer, http_server, posting
from tests.split_client.transport.rigs import Rig, rows, truth
from tests.split_wire.peer import (
    MAX_CONTEXT,
    MAX_ROWS,
)


def test_limits_are_the_smaller_of_server_and_manifest(rig: Rig) -> None:
    rig.backend.open()
    assert (rig.backend.max_rows, rig.backend.max_context) == (MAX_ROWS, MAX_CONTEXT)
    assert rig.backend.dtype == "f32"


def test_prefill_decode_rollback_and_edit_hold_exactly_the_tokens_given(rig: Rig) -> None:
    for tokens in ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6], [1, 2, 9], [7], [7, 8, 1, 2, 3, 4, 5, 6]):
        assert rig.extend(tokens) == truth(tokens)
    assert rig.backend.sessions_opened == 1


def test_nothing_is_appended_twice_when_answers_are_cut(peer: PeerAnswer) -> None:
    with (
        http_server(post=posting(peer)) as endpoint,
        CuttingProxy(endpoint.port) as proxy,
    ):
        rig = Rig(Endpoint.parse(proxy.url))
        tokens = [1]
        for token in range(2, 11):
            proxy.cut_after(30)
            assert rig.extend(list(tokens)) == truth(tokens)
            tokens.append(token)
        rig.close()
    assert proxy.cuts >= 9
    assert set(peer.peer.runs.values()) == {1}
    assert rig.backend.sessions_opened == 1


def test_a_session_that_the_server_dropped_is_opened_again_and_filled(
    rig: Rig, peer: PeerAnswer
) -> None:
    rig.extend([1, 2, 3])
    peer.peer.sessions.clear()
    assert rig.extend([1, 2, 3, 4]) == truth([1, 2, 3, 4])
    assert (rig.backend.sessions_opened, rig.sequence.counters.resends) == (2, 1)


def test_a_session_that_somebody_else_rewrote_is_never_continued(
    rig: Rig, peer: PeerAnswer
) -> None:
    rig.extend([1, 2, 3])
    [held] = peer.peer.sessions.values()
    held.state._chain.truncate(1)
    assert rig.extend([1, 2, 3, 4]) == truth([1, 2, 3, 4])
    assert rig.sequence.counters.resends == 1


def test_a_step_beyond_the_cache_is_told_to_begin_anew(rig: Rig) -> None:
    with pytest.raises(CacheLost):
        rig.backend.step(3, rows([1]))


def test_closing_ends_the_session_on_the_server(rig: Rig, peer: PeerAnswer) -> None:
    rig.extend([1])
    assert len(peer.peer.sessions) == 1
    rig.sequence.close()
    # Leaving does not wait for the answer.
    until(lambda: peer.peer.sessions == {})
