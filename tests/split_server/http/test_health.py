"""What ``/health`` says, and when."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.testclient import TestClient

from split_server.http.health import Condition, condition_routes, health_routes


def test_health_says_ok_until_the_model_has_stopped() -> None:
    stopped: list[bool] = []
    client = TestClient(Starlette(routes=health_routes(lambda: bool(stopped))))
    well = client.get("/health")
    assert (well.status_code, well.json()) == (200, {"status": "ok"})
    stopped.append(True)
    ill = client.get("/health")
    assert (ill.status_code, ill.json()["error"]["code"]) == (503, "model_stopped")


def test_ready_says_one_word_whatever_keeps_it() -> None:
    ready, stopped = [True], list[bool]()
    condition = Condition(lambda: bool(stopped), lambda: bool(ready))
    client = TestClient(Starlette(routes=condition_routes(condition)))
    well = client.get("/ready")
    assert (well.status_code, well.json()) == (200, {"status": "ready"})
    assert well.headers["cache-control"] == "no-store"
    stopped.append(True)
    broken = client.get("/ready")
    stopped.clear()
    ready.clear()
    leaving = client.get("/ready")
    assert broken.status_code == leaving.status_code == 503
    assert broken.json() == leaving.json() == {"status": "unready"}
    assert client.head("/ready").status_code == 503
    assert client.post("/ready").status_code == 405
