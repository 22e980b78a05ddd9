"""A session over a real socket to a peer whose answers are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from split_client.generation.sequence import Sequence
from split_client.transport.channel import Channel
from split_client.transport.connect import connector
from split_client.transport.remote import RemoteBackend
from split_wire.codec import decode_client_message, encode_message
from split_wire.messages import Failure, Step
from tests.split_client.servers import PeerAnswer
from tests.split_wire.peer import (
    LIMIT,
    WIDTH,
    answer_of,
)


def rows(tokens: list[int]) -> np.ndarray:
    """Every token has a row of its own."""
    return np.repeat(np.asarray(tokens, np.float32)[:, None], WIDTH, axis=1)


def truth(tokens: list[int]) -> list[float]:
    """What the peer's model answers when it has cached exactly ``tokens``."""
    return list(answer_of([row.tobytes() for row in rows(tokens)])[0])


class Rig:
    """A backend and a sequence over a real socket to ``answer``."""

    def __init__(self, endpoint: Any, mode: Any = "auto", **options: Any) -> None:
        self.now = 0.0
        self.channel = Channel(connector(endpoint, None, LIMIT), mode, pause=self.pause)
        self.backend = RemoteBackend(
            self.channel, WIDTH, "m", 100, pause=self.pause, clock=lambda: self.now, **options
        )
        self.sequence = Sequence(self.backend, rows)

    def pause(self, seconds: float) -> None:
        self.now += seconds

    def extend(self, tokens: list[int]) -> list[float]:
        return list(self.sequence.extend(tokens).hidden)

    def close(self) -> None:
        self.sequence.close()
        self.channel.close()


def answering(change: Callable[[Any], Any]) -> tuple[PeerAnswer, Callable[[bytes], bytes]]:
    """A peer whose steps ``change`` answers, where that returns something."""
    peer = PeerAnswer()

    def answer(frame: bytes) -> bytes:
        message = decode_client_message(frame, LIMIT)
        changed = change(message)
        return peer(frame) if changed is None else encode_message(changed)

    return peer, answer


def refusing(times: int, failure: Failure) -> Callable[[Any], Any]:
    left = [times]

    def change(message: Any) -> Any:
        if isinstance(message, Step) and left[0]:
            left[0] -= 1
            return failure
        return None

    return change
