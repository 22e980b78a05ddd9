"""A page on loopback whose worker has the ends of a model."""

from __future__ import annotations

import functools
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.web.browsing import node

_WEB = Path(__file__).parents[3] / "web"
_ASK = """([script, message]) => new Promise((resolve, reject) => {
  const worker = (window.engine ??= new Worker(script, { type: 'module' }));
  worker.onmessage = ({ data: { error, result } }) =>
    error ? reject(new Error(error)) : resolve(result);
  worker.onerror = (event) => reject(new Error(event.message));
  worker.postMessage(message);
})"""


class EndsPage:
    """Asks the worker of one script, which is started at its first job."""

    def __init__(self, page: Page, script: str) -> None:
        self._page = page
        self._script = script

    def ask(self, job: str, **options: Any) -> Any:
        return self._page.evaluate(_ASK, [self._script, {"job": job, **options}])


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@contextmanager
def served(folder: Path, build: str) -> Iterator[str]:
    """The address of an empty page beside what ``build``, run by Node.js, puts into ``folder``."""
    command = [node(), "--input-type=module", "--eval", build, str(folder)]
    subprocess.run(command, cwd=_WEB, check=True)
    (folder / "index.html").write_text("<!doctype html><title>ends</title>")
    handler = functools.partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        # A connection that the browser opened to no purpose must not be waited for.
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()
