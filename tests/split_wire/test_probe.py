"""Probes name the prefixes that a device asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from split_wire.client import ClientProtocol
from split_wire.codec import decode_client_message, encode_message
from split_wire.digest import PrefixChain
from split_wire.errors import MalformedMessage
from split_wire.messages import Restore
from split_wire.probe import BLOCK, MAX_DIGESTS, Probe
from split_wire.tensor import Tensor
from tests.split_wire.frames import LIMIT, raw_frame

DIGEST = bytes(16)


def chain(count: int) -> PrefixChain:
    made = PrefixChain("m")
    rows = np.arange(count, dtype=np.float32)[:, None]
    made.replace(0, made.following(0, Tensor.from_f32(rows, "f32")))
    return made


@pytest.mark.parametrize("count", [1, 15, 16, 17, 100, 112])
def test_every_block_and_the_whole_are_named(count: int) -> None:
    named = chain(count)
    probe = Probe.of(named)
    positions = [*range(BLOCK, count, BLOCK), count]
    assert [*probe.longest_first()] == [(at, named.at(at)) for at in positions[::-1]]
    assert [probe.at(at) for at in positions] == [named.at(at) for at in positions]
    assert probe.at(count + 1) is probe.at(0) is None


@pytest.mark.parametrize("count", [BLOCK * (MAX_DIGESTS - 1), BLOCK * MAX_DIGESTS, 100_000])
def test_a_long_conversation_is_named_more_sparsely(count: int) -> None:
    probe = Probe.of(chain(count))
    assert len(probe.digests) <= 16 * MAX_DIGESTS
    assert probe.stride % BLOCK == 0
    assert next(probe.longest_first())[0] == count
    frame = encode_message(Restore("s", 0, DIGEST, probe))
    assert decode_client_message(frame, LIMIT) == Restore("s", 0, DIGEST, probe)


@pytest.mark.parametrize(
    ("known", "stride", "digests"),
    [
        (0, 16, b""),
        (-1, 16, DIGEST),
        (1.0, 16, DIGEST),
        (True, 16, DIGEST),
        (16, 0, DIGEST),
        (16, 8, DIGEST),
        (16, 24, DIGEST),
        (16, None, DIGEST),
        (16, 16, None),
        (16, 16, b""),
        (16, 16, DIGEST[1:]),
        (16, 16, DIGEST * 2),
        (17, 16, DIGEST),
        (16, 16, "text of sixteen."),
        (BLOCK * MAX_DIGESTS + 1, 16, DIGEST * (MAX_DIGESTS + 1)),
        (2**53 - 1, 16, DIGEST),
    ],
)
def test_a_malformed_probe_is_refused(known: Any, stride: Any, digests: Any) -> None:
    header = {"type": "restore", "session": "s", "start": 0, "prefix": DIGEST}
    header |= {"known": known, "stride": stride, "digests": digests}
    with pytest.raises(MalformedMessage):
        decode_client_message(raw_frame(header), LIMIT)


@pytest.mark.parametrize("known", [33, 48, 100, 300, 1158])
def test_asking_costs_sixteen_bytes_a_block_and_names_of_fields(known: int) -> None:
    def size(asked: PrefixChain | None) -> int:
        return len(ClientProtocol(1, "m", "f32").open(asked))

    blocks = -(-known // BLOCK)
    assert 0 < size(chain(known)) - size(None) - len(DIGEST) * blocks <= 32
