"""A peer whose answers are known, and a session on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.split_client.servers import PeerAnswer, socket_server
from tests.split_client.transport.rigs import Rig


@pytest.fixture
def peer() -> PeerAnswer:
    return PeerAnswer()


@pytest.fixture
def rig(peer: PeerAnswer) -> Iterator[Rig]:
    with socket_server(peer) as endpoint:
        rig = Rig(endpoint)
        yield rig
        rig.close()
