"""A device that goes from one server to another and back, and has changed its text meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client.generation.sequence import Sequence
from split_client.transport.channel import Channel
from split_client.transport.connect import connector
from split_client.transport.endpoint import Endpoint
from split_client.transport.remote import RemoteBackend
from split_client.transport.routing.route import Route
from split_wire.client import ClientProtocol, StepCompleted
from split_wire.codec import decode_server_message, encode_message
from split_wire.digest import PrefixChain
from split_wire.limits import frame_limit
from split_wire.messages import Failure, Step
from split_wire.tensor import WIRE_DTYPES, Tensor, WireDtype
from tests import oracle
from tests.balancer import Balancer
from tests.server_process import RunningServer, running_server

TEXT = [1, 5, 9, 13, 17, 21]
REWRITTEN = [1, 5, 8, 12]


@pytest.fixture(scope="module")
def replicas(tiny_path: Path) -> Iterator[list[RunningServer]]:
    with running_server(tiny_path) as one, running_server(tiny_path) as other:
        yield [one, other]


@contextmanager
def _device(url: str, server: RunningServer, path: Path, dtype: WireDtype) -> Iterator[Sequence]:
    info, route = server.parts.steps.info, Route()
    connect = connector(Endpoint.parse(url), None, frame_limit(info.hidden_size, 1), route)
    channel = Channel(connect, "http", route=route)
    backend = RemoteBackend(
        channel, info.hidden_size, server.manifest, info.max_context, dtype, cache="off"
    )
    yield Sequence(backend, lambda ids: oracle.embeddings(path, ids).numpy())
    backend.close()
    channel.close()


def _said(url: str, server: RunningServer, path: Path, dtype: WireDtype, ids: list[int]) -> object:
    """What one server says of ``ids`` alone."""
    with _device(url, server, path, dtype) as alone:
        return pytest.approx(_hidden(alone, ids), abs=1e-4)


def _hidden(sequence: Sequence, ids: list[int]) -> NDArray[np.float32]:
    return np.asarray(sequence.extend(ids).hidden)


@pytest.mark.parametrize("dtype", WIRE_DTYPES)
def test_there_and_back_with_a_rewritten_prefix_gives_what_one_server_gives(
    replicas: list[RunningServer], tiny_path: Path, dtype: WireDtype
) -> None:
    ports = [server.port for server in replicas]
    with (
        Balancer(*ports) as balancer,
        _device(balancer.url, replicas[0], tiny_path, dtype) as sequence,
    ):
        went = []
        for port, ids in (
            (ports[0], TEXT),
            (ports[1], REWRITTEN),
            (ports[0], [*REWRITTEN, 3, 4]),
            (ports[1], [*REWRITTEN, 3, 4, 7]),
        ):
            balancer.ports = (port,)
            expected = _said(replicas[0].url, replicas[0], tiny_path, dtype, ids)
            assert _hidden(sequence, ids) == expected
            went.append(balancer.frames()[-1].port)
        assert went == [ports[0], ports[1]] * 2


@pytest.mark.parametrize("dtype", WIRE_DTYPES)
def test_whoever_believes_in_a_prefix_that_was_rewritten_meanwhile_is_told_so(
    replicas: list[RunningServer], tiny_path: Path, dtype: WireDtype
) -> None:
    server, chain = replicas[0], PrefixChain(replicas[0].manifest)
    rows = lambda ids: oracle.embeddings(tiny_path, ids).numpy()  # noqa: E731
    device = ClientProtocol(server.parts.steps.info.hidden_size, server.manifest, dtype)
    device.receive(server.post(device.open()).content)
    for start, ids in ((0, TEXT), (2, REWRITTEN[2:])):
        device.receive(server.post(device.step(start, rows(ids))).content)
    assert device.opened is not None
    chain.replace(0, chain.following(0, Tensor.from_f32(rows(TEXT), dtype)))
    late = Step(device.opened.session, 3, 3, chain.at(3), Tensor.from_f32(rows([4]), dtype))
    refused = decode_server_message(server.post(encode_message(late)).content, 1 << 20)
    assert isinstance(refused, Failure)
    assert refused.code == "prefix_mismatch"
    # It has changed nothing, and whoever knows the prefix goes on.
    event = device.receive(server.post(device.step(len(REWRITTEN), rows([3]))).content)
    assert isinstance(event, StepCompleted)
    expected = _said(server.url, server, tiny_path, dtype, [*REWRITTEN, 3])
    assert event.hidden[-1] == expected
