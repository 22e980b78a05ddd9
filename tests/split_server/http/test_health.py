"""What ``/health`` says, and when."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.testclient import TestClient

from split_server.http.health import health_routes


def test_health_says_ok_until_the_model_has_stopped() -> None:
    stopped: list[bool] = []
    client = TestClient(Starlette(routes=health_routes(lambda: bool(stopped))))
    well = client.get("/health")
    assert (well.status_code, well.json()) == (200, {"status": "ok"})
    stopped.append(True)
    ill = client.get("/health")
    assert (ill.status_code, ill.json()["error"]["code"]) == (503, "model_stopped")
