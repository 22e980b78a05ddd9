"""The application under a server that is not ours: it needs no process of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import uvicorn

from split_server.http.split.post import FORWARD_PATH
from split_server.security.access import AccessPolicy
from split_server.serving.app import SplitApp, build_app
from split_server.serving.config import ServerConfig
from split_wire.client import ClientProtocol, SessionOpened, StepCompleted
from split_wire.messages import CONTENT_TYPE
from tests import oracle


class _Announced(uvicorn.Server):
    """Sets ``serving`` once it does."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.serving = threading.Event()

    async def startup(self, sockets: object = None) -> None:
        await super().startup()
        self.serving.set()


@contextmanager
def stock_server(app: SplitApp) -> Iterator[str]:
    """The URL of ``app`` under uvicorn as it comes."""
    server = _Announced(uvicorn.Config(app.asgi, port=0, log_config=None))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert server.serving.wait(60)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(60)


def test_another_server_holds_the_application_from_start_to_drain(tiny_path: Path) -> None:
    config = ServerConfig(model=str(tiny_path), compat=False)
    ran: list[str] = []

    async def beside() -> None:
        ran.append("upkeep")

    app = build_app(config, AccessPolicy(None), upkeep=(beside,))
    device = ClientProtocol(app.parts.steps.info.hidden_size, app.parts.manifest.digest)
    with stock_server(app) as url, httpx.Client(base_url=url, trust_env=False) as client:

        def exchange(frame: bytes) -> object:
            answer = client.post(
                FORWARD_PATH, content=frame, headers={"Content-Type": CONTENT_TYPE}
            )
            return device.receive(answer.content)

        assert isinstance(exchange(device.open()), SessionOpened)
        rows = oracle.embeddings(tiny_path, [5, 6, 7]).numpy()
        assert isinstance(exchange(device.step(0, rows)), StepCompleted)
    assert ran == ["upkeep"]
    assert app.parts.steps._stopping
