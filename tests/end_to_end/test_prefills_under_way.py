"""Prefills with several steps under way, against a real server through connections that are cut.

The oracle is the same loop over HTTP without a proxy, where one step is under way at a time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from split_client.generation.sequence import Sequence
from split_client.transport.channel import Channel, Mode, Patience
from split_client.transport.connect import connector
from split_client.transport.endpoint import Endpoint
from split_client.transport.remote import RemoteBackend
from split_wire.limits import frame_limit
from tests import oracle
from tests.exhaustive import EXHAUSTIVE
from tests.proxies import CuttingProxy
from tests.server_process import RunningServer, running_server

KILLS = 1000 if EXHAUSTIVE else 25
AT_ONCE = Patience(first_delay=0.0, longest_delay=0.0)


class ShortSteps(RemoteBackend):
    """Sends a prompt in many steps."""

    max_rows = 16


@pytest.fixture(scope="module")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path) as running:
        yield running


@contextmanager
def session(server: RunningServer, path: Path, url: str, mode: Mode) -> Iterator[Sequence]:
    info = server.parts.steps.info
    connect = connector(Endpoint.parse(url), None, frame_limit(info.hidden_size, 1))
    channel = Channel(connect, mode, AT_ONCE)
    backend = ShortSteps(
        channel, info.hidden_size, server.manifest, info.max_context, cache="off", dtype="f32"
    )
    sequence = Sequence(backend, lambda ids: oracle.embeddings(path, ids).numpy())
    yield sequence
    sequence.close()
    channel.close()


def token_after(sequence: Sequence, path: Path, ids: list[int]) -> int:
    hidden = torch.from_numpy(sequence.extend(ids).hidden.copy())
    return int(oracle.head(path, hidden[None])[0].argmax())


def test_connections_that_are_cut_give_no_wrong_and_no_doubled_token(
    server: RunningServer, tiny_path: Path
) -> None:
    chance = random.Random(20)  # noqa: S311
    with (
        CuttingProxy(server.port) as proxy,
        session(server, tiny_path, proxy.url, "websocket") as cut,
        session(server, tiny_path, server.url, "http") as plain,
    ):
        ids: list[int] = []
        while proxy.cuts < KILLS:
            ids = ids[: chance.randrange(60)]
            ids += [chance.randrange(3, 90) for _ in range(chance.randrange(20, 80))]
            proxy.cut_after(chance.randrange(2000))
            for _ in range(3):
                token = token_after(cut, tiny_path, ids)
                assert token == token_after(plain, tiny_path, ids)
                ids.append(token)
        assert cut.counters.resends == 0
