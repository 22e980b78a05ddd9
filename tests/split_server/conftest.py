"""Fixtures over a real socket."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server_process import RunningServer, running_server

ALLOWED_ORIGIN = "https://chat.example.org"
TOKEN = "a-token-of-enough-length"


@pytest.fixture(scope="session")
def open_server(tiny_path: Path) -> Iterator[RunningServer]:
    """Loopback without a token, one allowed origin and one allowed name."""
    with running_server(
        tiny_path, allow_origin=(ALLOWED_ORIGIN,), allow_host=("chat.example.org",)
    ) as server:
        yield server


@pytest.fixture(scope="session")
def guarded_server(tiny_path: Path) -> Iterator[RunningServer]:
    """Loopback with a token and one allowed origin."""
    with running_server(tiny_path, token=TOKEN, allow_origin=(ALLOWED_ORIGIN,)) as server:
        yield server
