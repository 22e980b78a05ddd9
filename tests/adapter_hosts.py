"""A real adapter host over a real socket, with real workers: in a thread of the test's process."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import msgpack
import numpy as np
from numpy.typing import NDArray

from split_client.owner_file import write_whole
from split_masks.ranges import RangeFile
from split_server.adapter_host.budget import QueryBudget, StateFile
from split_server.adapter_host.host import AdapterHost
from split_server.adapter_host.limits import HostLimits
from split_server.adapter_host.process import WorkerProgram
from split_server.adapter_host.shapes import ckks_terms
from split_server.adapters.adapter_file import AdapterFile
from split_server.http.wire.graceful import GracefulServer
from split_server.http.wire.server import listen, uvicorn_config
from split_server.serving.adapter_host.app import AdapterHostApp
from split_server.serving.adapter_host.config import AdapterHostConfig
from split_server.serving.doorway import door_limits, open_doorway
from tests.patience import PATIENCE

_ROOT = Path(__file__).parents[1]
# Evaluators of tests are found from the repository's root.
TEST_ENVIRON = {"PYTHONPATH": str(_ROOT)}


@dataclass
class RunningHost:
    """``url`` without a trailing slash."""

    port: int
    host: AdapterHost

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def adapters_url(self) -> str:
        return f"{self.url}/api/v1/adapters"

    @property
    def worker_pids(self) -> list[int]:
        return [place.pid for place in self.host.pool.places if place.pid is not None]

    def client(self, **options: Any) -> httpx.Client:
        """An HTTP client below the adapters; close it or use it in a ``with``."""
        return httpx.Client(
            base_url=self.adapters_url, trust_env=False, timeout=PATIENCE, **options
        )

    def open(self, client: httpx.Client, name: str) -> dict[str, Any]:
        """A new session's answer."""
        answer = client.post(f"/{name}/session").raise_for_status()
        opened: dict[str, Any] = msgpack.unpackb(answer.content)
        return opened


def made_adapter(
    name: str = "made", hidden: int = 64, rank: int = 4, scale: float = 1.0, seed: int = 0
) -> AdapterFile:
    """An adapter of random numbers."""
    draw = np.random.default_rng(seed)
    a: NDArray[np.float32] = draw.normal(size=(rank, hidden)).astype(np.float32)
    b: NDArray[np.float32] = draw.normal(size=(hidden, rank)).astype(np.float32)
    return AdapterFile(name, "made", rank, hidden, scale, a, b, ("word",), None, "CC0-1.0")


def made_host(
    adapters: Mapping[str, AdapterFile],
    *,
    budget: int = 0,
    state: Path | None = None,
    evaluator: str | None = None,
    masks: Path | None = None,
    **limits: Any,
) -> AdapterHost:
    """A host that is not started; one worker unless ``limits`` say otherwise. ``masks``: the folder
    where their numbers are written down; None: it makes none.
    """
    program = None if evaluator is None else WorkerProgram(evaluator, TEST_ENVIRON)
    return AdapterHost(
        adapters,
        lambda file: ckks_terms(file, 64.0),
        QueryBudget(budget, None if state is None else StateFile(state)),
        HostLimits(**({"workers": 1} | limits)),
        program,
        None if masks is None else RangeFile(masks / "host-masks.json", write_whole),
    )


@contextmanager
def running_host(host: AdapterHost, *, port: int = 0, **settings: Any) -> Iterator[RunningHost]:
    """Serve ``host``; ``settings`` as in AdapterHostConfig. Stopped at the end of the ``with``."""
    config = AdapterHostConfig(port=port, **settings)
    doorway = open_doorway(config)
    sockets = listen(doorway.host, config.port)
    app = AdapterHostApp(host, config, doorway.policy, doorway.pairing)
    started = threading.Event()
    uvicorn = uvicorn_config(
        app.asgi, app.max_message_bytes, config.shutdown_grace, doorway.tls, door_limits(config)
    )
    server = GracefulServer(uvicorn, app.drain, started.set)
    thread = threading.Thread(target=server.run, args=(sockets,), name="host", daemon=True)
    thread.start()
    assert started.wait(PATIENCE)
    try:
        yield RunningHost(sockets[0].getsockname()[1], host)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()
