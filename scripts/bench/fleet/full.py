"""One replica at its limit while the others have room: whoever is sent there goes elsewhere."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from scripts.bench.fleet.balancers import Balancer
from scripts.bench.fleet.replicas import TOKEN, Replica
from scripts.bench.report import median, table
from scripts.bench.row_sessions import RowSession, Served
from split_client.errors import ClientError
from split_client.transport.channel import Channel
from split_client.transport.connect import connector
from split_client.transport.endpoint import Endpoint
from split_client.transport.remote import RemoteBackend
from split_client.transport.routing.route import Route
from split_wire.limits import frame_limit

# A session that was used within 5 s makes way for nobody.
_USED_EVERY = 1.0


def moved_on(
    replicas: Sequence[Replica], balancers: Sequence[Balancer], served: Served, most: int
) -> list[str]:
    """Print how newcomers fare with ``most`` sessions a replica and the first one full; who was
    refused.
    """
    rows, problems = [], []
    newcomers = (len(replicas) - 1) * most // 2
    for balancer in balancers:
        with _filled(replicas[0], served, most):
            waits, refused = _came(balancer, served, newcomers)
            full = int(replicas[0].gauge("split_sessions"))
        problems += [f"{balancer.name}: a device was refused: {error}" for error in refused]
        if full < most:
            problems.append(f"{balancer.name}: the full replica had {full} sessions of {most}")
        longest = f"{max(waits, default=0):.2f} s"
        rows.append([balancer.name, newcomers, len(refused), f"{median(waits):.3f} s", longest])
    print(f"\n{len(replicas)} replicas of {most} sessions, one of them full.\n")
    print(table(["balancer", "newcomers", "refused", "until its first step, p50", "longest"], rows))
    return problems


@contextlib.contextmanager
def _filled(replica: Replica, served: Served, most: int) -> Iterator[None]:
    """All sessions of ``replica`` in use, past the balancer."""
    own = replace(served, url=replica.url)
    sessions = [RowSession(own, TOKEN) for _ in range(most)]
    ended = threading.Event()

    def use() -> None:
        while not ended.is_set():
            for session in sessions:
                session.step(0, 1)
            ended.wait(_USED_EVERY)

    for session in sessions:
        session.step(0, 1)
    using = threading.Thread(target=use, daemon=True)
    using.start()
    try:
        yield
    finally:
        ended.set()
        using.join()
        for session in sessions:
            session.close()


def _came(balancer: Balancer, served: Served, count: int) -> tuple[list[float], list[str]]:
    """Seconds until each newcomer had its first step answered, and refusals."""
    limit, row = frame_limit(served.hidden_size, 1), np.full((1, served.hidden_size), 0.05)
    waits, refused, backends = list[float](), list[str](), list[RemoteBackend]()
    for _ in range(count):
        route = Route()
        connect = connector(Endpoint.parse(balancer.url), TOKEN, limit, route)
        channel = Channel(connect, route=route)
        backend = RemoteBackend(
            channel, served.hidden_size, served.manifest, served.max_context, cache="off"
        )
        backends.append(backend)
        began = time.monotonic()
        try:
            backend.step(0, row.astype(np.float32))
        except ClientError as error:
            refused.append(str(error))
        waits.append(time.monotonic() - began)
    for backend in backends:
        backend.close()
    return waits, refused
