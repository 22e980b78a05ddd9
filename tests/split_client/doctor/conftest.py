"""A real server that asks for a token, and a cache folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server_process import RunningServer, running_server

TOKEN = "correct-horse-battery-staple"


@pytest.fixture(scope="package")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path, token=TOKEN) as running:
        yield running


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPLIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def token() -> str:
    return TOKEN
