"""Attention travels with the last step alone, however long it is."""

from __future__ import annotations

import numpy as np
import pytest

from split_client.errors import (
    ServerRefused,
)
from split_client.transport.endpoint import Endpoint
from split_wire.attention import AttentionRequest
from split_wire.codec import decode_client_message
from tests.proxies import CuttingProxy
from tests.split_client.servers import PeerAnswer, http_server, posting, socket_server
from tests.split_client.transport.rigs import Rig, rows, truth
from tests.split_wire.peer import (
    HEADS,
    LAYERS,
    LIMIT,
    MAX_CONTEXT,
    attention_of,
)


def attended(rig: Rig, tokens: list[int], request: AttentionRequest) -> bool:
    """Extends to ``tokens``; whether the attention is the peer's own."""
    taken = rig.sequence.extend(tokens, request).attention
    wanted = attention_of([row.tobytes() for row in rows(tokens)], request)
    assert taken is not None
    return np.array_equal(taken.values.reshape(wanted.values.shape), wanted.values.to_f32())


def test_attention_comes_with_the_last_step_alone(rig: Rig, peer: PeerAnswer) -> None:
    everything = AttentionRequest()
    assert attended(rig, [1, 2, 3, 4, 5], everything)
    steps = [decode_client_message(frame, LIMIT) for frame in peer.frames[-2:]]
    assert [getattr(step, "attention", ...) for step in steps] == [None, everything]
    assert rig.sequence.extend([1, 2, 3, 4, 5, 6]).attention is None
    assert attended(rig, [1, 2, 3, 4, 5, 6, 7], AttentionRequest("max", 3, "f16"))


@pytest.mark.parametrize("kind", ["websocket", "http"])
def test_attention_may_be_longer_than_any_other_answer(kind: str, peer: PeerAnswer) -> None:
    tokens = list(range(MAX_CONTEXT))
    assert 4 * LAYERS * HEADS * MAX_CONTEXT > LIMIT
    server = socket_server(peer) if kind == "websocket" else http_server(post=posting(peer))
    with server as endpoint:
        rig = Rig(endpoint)
        assert rig.extend(tokens[:8]) == truth(tokens[:8])
        assert attended(rig, tokens, AttentionRequest())
        assert rig.channel.transport_name == kind
        rig.close()


def test_attention_that_is_cut_off_comes_again_over_a_new_connection(peer: PeerAnswer) -> None:
    tokens = list(range(MAX_CONTEXT))
    with (
        http_server(post=posting(peer)) as endpoint,
        CuttingProxy(endpoint.port) as proxy,
    ):
        rig = Rig(Endpoint.parse(proxy.url))
        rig.extend(tokens[:-1])
        proxy.cut_after(5000)
        assert attended(rig, tokens, AttentionRequest())
        rig.close()
    assert proxy.cuts == 1
    assert set(peer.peer.runs.values()) == {1}


def test_a_server_without_attention_is_told_from_one_that_lost_the_cache(
    rig: Rig, peer: PeerAnswer
) -> None:
    peer.peer.attention = False
    with pytest.raises(ServerRefused) as refused:
        rig.sequence.extend([1, 2], AttentionRequest())
    assert refused.value.code == "unsupported"
    assert len(peer.frames) == 1
    assert rig.extend([1, 2]) == truth([1, 2])
