"""The app's engine in a page of its own, so that a test reads token ids and not pixels."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from tests.server_process import RunningServer

_REPOSITORY = Path(__file__).parents[3]
_PATH = "/engine-page"
_HTML = '<!doctype html><title>engine</title><script type="module" src="./engine_page.js"></script>'
GREEDY = {"temperature": 0}


def engine_folder(web_root: Path, folder: Path) -> Path:
    """The app's scripts with a page that only starts the engine."""
    shutil.copytree(web_root / "app", folder)
    esbuild = _REPOSITORY / "web/node_modules/.bin/esbuild"
    source = _REPOSITORY / "web/test/tools/engine_page.js"
    command = [esbuild, source, "--bundle", "--format=esm", f"--outdir={folder}"]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "index.html").write_text(_HTML)
    return folder


def serve_engine_page(server: RunningServer, folder: Path) -> None:
    """Adds the page to a server without tokens."""
    files = StaticFiles(directory=folder, html=True)
    server.app.asgi.router.routes.insert(0, Mount(_PATH, files))


@dataclass
class EnginePage:
    """``page`` with the engine in it."""

    page: Page

    def ready(self, url: str, **where: Any) -> dict[str, Any]:
        """Connect, download, open the ends."""
        answer: dict[str, Any] = self.page.evaluate(
            "(where) => ready(where)", {"url": url, "token": None} | where
        )
        return answer

    def begin(self, name: str, messages: list[dict[str, str]], **options: Any) -> None:
        """Start a reply that is called ``name`` here."""
        request = {
            "chat": "chat",
            "messages": messages,
            "params": GREEDY,
            "maxTokens": 40,
            "stop": [],
            "adapter": None,
        }
        self.page.evaluate("([name, request]) => begin(name, request)", [name, request | options])

    def finished(self, name: str) -> dict[str, Any]:
        """The end of that reply; ``ids`` are its tokens."""
        answer: dict[str, Any] = self.page.evaluate("(name) => finished(name)", name)
        return answer

    def reply(self, messages: list[dict[str, str]], **options: Any) -> dict[str, Any]:
        """A whole reply."""
        self.begin("reply", messages, **options)
        return self.finished("reply")


@contextmanager
def opened(browser: Browser, server: RunningServer, via: str | None = None) -> Iterator[EnginePage]:
    """The engine's page of ``server`` in a context of its own; ``via``: the URL of a proxy."""
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(f"{via or server.url}{_PATH}/")
        page.wait_for_function("() => 'ready' in globalThis")
        yield EnginePage(page)
    finally:
        context.close()
