"""A server whose page has nothing but the engine in it, and that page once it can reply."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.server_process import RunningServer, running_server
from tests.web.engine.page import EnginePage, engine_folder, opened, serve_engine_page


@pytest.fixture(scope="session")
def folder(web_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, which no test changes."""
    return engine_folder(web_root, tmp_path_factory.mktemp("engine") / "page")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[RunningServer]:
    with running_server() as running:
        serve_engine_page(running, folder)
        yield running


@pytest.fixture(scope="module")
def engine(chromium: Browser, server: RunningServer) -> Iterator[EnginePage]:
    with opened(chromium, server) as page:
        page.ready(server.url)
        yield page
