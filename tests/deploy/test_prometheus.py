"""Prometheus itself scrapes the server and answers every query of the dashboard."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import patience
from tests.patience import PATIENCE
from tests.server_process import RunningServer, running_server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (shutil.which("prometheus") and shutil.which("promtool")),
        reason="Prometheus is not installed (Debian: apt-get install prometheus)",
    ),
]
_DASHBOARD = Path(__file__).parents[2] / "deploy" / "grafana.json"
_JOB = "gatelink"
# What Grafana puts in before it asks.
_VARIABLES = {"$job": ".+", "$instance": ".+", "$__rate_interval": "1m", "$__range": "1h"}


@pytest.fixture(scope="module")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path) as running:
        with running.client() as client:
            asked = {"model": "gatelink", "prompt": "x", "max_tokens": 2}
            assert client.post("/v1/completions", json=asked).status_code == 200
        yield running


@pytest.fixture(scope="module")
def prometheus(
    server: RunningServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """A client of one that has scraped the server twice, so that there are rates."""
    folder, port = tmp_path_factory.mktemp("prometheus"), _free_port()
    scraped = {"job_name": _JOB, "static_configs": [{"targets": [f"127.0.0.1:{server.port}"]}]}
    # JSON is YAML.
    written = {"global": {"scrape_interval": "1s"}, "scrape_configs": [scraped]}
    (folder / "config.yml").write_text(json.dumps(written))
    options = ("--config.file=config.yml", "--storage.tsdb.path=data")
    command = ["prometheus", *options, f"--web.listen-address=127.0.0.1:{port}"]
    with (folder / "log").open("w") as log:
        running = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        with httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE) as client:
            patience.until(lambda: _has_scraped(client))
            yield client
    finally:
        running.terminate()
        running.wait(PATIENCE)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


def _has_scraped(client: httpx.Client) -> bool:
    try:
        if client.get("/-/ready").status_code != 200:
            return False
        return bool(_result(client, f'sum_over_time(up{{job="{_JOB}"}}[1m]) > 1'))
    except httpx.HTTPError:
        return False


def _result(client: httpx.Client, query: str) -> list[Any]:
    told = client.get("/api/v1/query", params={"query": query}).json()
    assert told["status"] == "success", (query, told)
    found: list[Any] = told["data"]["result"]
    return found


def _queries() -> list[str]:
    panels = json.loads(_DASHBOARD.read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel.get("targets", ())]


def _filled_in(query: str) -> str:
    for name, value in _VARIABLES.items():
        query = query.replace(name, value)
    assert "$" not in re.sub(r'\$"', '"', query), query
    return query


def test_promtool_finds_nothing_to_say_about_the_metrics(server: RunningServer) -> None:
    with server.client() as client:
        text = client.get("/metrics").content
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, timeout=PATIENCE
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


def test_every_query_of_the_dashboard_is_answered(prometheus: httpx.Client) -> None:
    queries = [_filled_in(query) for query in _queries()]
    answered = [query for query in queries if _result(prometheus, query)]
    # Rates of what has not happened yet have no samples.
    assert len(answered) > len(queries) // 2
