"""A replica as Ray Serve makes it, without a cluster: whom it lets in, and what it tells."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn

from split_server.deploy.errors import DeploymentRefused
from split_server.http.health import Condition
from split_server.http.wire.protocols import BoundedHttp
from split_server.http.wire.websocket import BoundedWebSocket
from split_server.security.access import ConflictingAccess
from split_wire.errors import ModelStopped

pytest.importorskip("ray.serve", reason="gatelink[ray] is not installed")

from split_server.deploy import ray as deployment


@pytest.fixture
def given(tiny_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Arguments, in a process that Serve has made into the replica r1."""
    context = SimpleNamespace(replica_id=SimpleNamespace(unique_id="r1"))
    monkeypatch.setattr("ray.serve.get_replica_context", lambda: context)
    # What is bound stays so for the process.
    monkeypatch.setattr(uvicorn.Config, "load", uvicorn.Config.load)
    monkeypatch.setenv("SPLIT_SERVER_TOKEN", "a-token-of-sixteen")
    return {"model": str(tiny_path), "memory_limit": 1 << 30, "threads": 1, "web_root": "none"}


def test_it_tells_sessions_and_load_and_whether_the_model_lives(given: dict[str, Any]) -> None:
    replica = deployment.Replica(given)

    async def told() -> dict[str, float]:
        async with _started(replica):
            await replica.check_health()
            return await replica.record_autoscaling_stats()

    assert asyncio.run(told()) == {"split_sessions": 0.0, "split_load": 0.0}
    replica._app.condition = Condition(stopped=lambda: True)
    with pytest.raises(ModelStopped):
        asyncio.run(replica.check_health())


def test_serves_own_web_server_keeps_our_limits(given: dict[str, Any]) -> None:
    replica = deployment.Replica(given)

    async def bound() -> uvicorn.Config:
        async with _started(replica):
            # As Serve makes it.
            config = uvicorn.Config(lambda: replica._app.asgi, factory=True, lifespan="off")
            config.load()
            return config

    config = asyncio.run(bound())
    assert config.http is BoundedHttp
    assert config.ws is BoundedWebSocket
    assert config.ws_max_size == replica._app.max_message_bytes
    assert (config.ws_per_message_deflate, config.proxy_headers) == (False, False)


def _started(replica: deployment.Replica) -> AbstractAsyncContextManager[object]:
    """With its lifespan, as Serve runs it."""
    return replica._app.asgi.router.lifespan_context(replica._app.asgi)


def test_nobody_is_let_in_without_a_token(
    given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPLIT_SERVER_TOKEN")
    with pytest.raises(ConflictingAccess, match="token_file"):
        deployment.Replica(given)


def test_whoever_deploys_is_told_what_no_replica_would_take() -> None:
    with pytest.raises(DeploymentRefused, match="memory_limit"):
        deployment.app({})
