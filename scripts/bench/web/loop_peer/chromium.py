"""A real Chromium with one page, its renderer's processor time and memory (Linux, proc(5))."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import BrowserContext, Page, sync_playwright

_HERE: Final = Path(__file__).parent
_FLAGS: Final = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",
)
_ASK: Final = """([name, message]) => new Promise((resolve, reject) => {
  const workers = (window.workers ??= {});
  const worker = (workers[name] ??= new Worker('/' + name + '.js', { type: 'module' }));
  worker.onmessage = ({ data: { error, result } }) =>
    error ? reject(new Error(error)) : resolve(result);
  worker.onerror = (event) => reject(new Error(event.message));
  worker.postMessage(message);
})"""
# Long enough to tell the page's process from the others.
_BUSY: Final = "() => { const end = performance.now() + 200; while (performance.now() < end); }"
_MIB: Final = 2**20


class _Quiet(SimpleHTTPRequestHandler):
    extensions_map: dict[str, str] = {  # noqa: RUF012
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".wasm": "application/wasm",
    }

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a line for each file would drown the table."""


class Tab:
    """One page in a process of its own; ``ask`` talks to its workers."""

    def __init__(self, page: Page, profile: Path) -> None:
        self._page = page
        self.process = _busiest(page, profile)

    def ask(self, worker: str, job: str, **options: Any) -> Any:
        """The result of ``job`` in the worker of that name, which is started at its first job."""
        return self._page.evaluate(_ASK, [worker, {"job": job, **options}])

    @property
    def seconds(self) -> float:
        """Processor time of all threads."""
        return _seconds(self.process)

    @property
    def mebibytes(self) -> float:
        """Private memory: anonymous and shared with no file."""
        lines = Path(f"/proc/{self.process}/status").read_text().splitlines()
        parts = [line.split() for line in lines if line.startswith(("RssAnon:", "RssShmem:"))]
        return sum(int(kilobytes) for _, kilobytes, _ in parts) * 1024 / _MIB


class Browser:
    """A browser with a profile that keeps its files."""

    def __init__(self, context: BrowserContext, profile: Path, url: str) -> None:
        self._context = context
        self._profile = profile
        self._url = url

    @property
    def origin(self) -> str:
        """Of its pages."""
        return self._url.rpartition("/")[0]

    @property
    def seconds(self) -> float:
        """Processor time of all its processes, those that have ended left out."""
        return sum(map(_seconds, _processes(self._profile)))

    @contextmanager
    def tab(self) -> Iterator[Tab]:
        """A new page."""
        page = self._context.new_page()
        try:
            page.goto(self._url)
            yield Tab(page, self._profile)
        finally:
            page.close()


@contextmanager
def browser(host: str = "127.0.0.1", flags: Sequence[str] = ()) -> Iterator[Browser]:
    """A browser on the bundle of this folder, served at this machine's address ``host``."""
    with tempfile.TemporaryDirectory(prefix="gatelink-bench-") as name:
        folder, profile = Path(name) / "web", Path(name) / "profile"
        subprocess.run(["node", _HERE / "build.mjs", folder], check=True)
        with _served(folder, host) as url, sync_playwright() as driver:
            context = driver.chromium.launch_persistent_context(
                profile, executable_path=shutil.which("chromium"), args=[*_FLAGS, *flags]
            )
            try:
                yield Browser(context, profile, url)
            finally:
                context.close()


@contextmanager
def _served(folder: Path, host: str) -> Iterator[str]:
    server = ThreadingHTTPServer((host, 0), functools.partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://{host}:{server.server_port}/index.html"
    finally:
        server.shutdown()
        server.server_close()


def _busiest(page: Page, profile: Path) -> int:
    """The page's process: the renderer of this profile that works while the page is busy."""
    before = {process: _seconds(process) for process in _renderers(profile)}
    page.evaluate(_BUSY)
    return max(before, key=lambda process: _seconds(process) - before[process])


def _renderers(profile: Path) -> list[int]:
    return [
        process for process, command in _processes(profile).items() if "--type=renderer" in command
    ]


def _processes(profile: Path) -> dict[int, str]:
    """The command lines of a browser's processes."""
    parents, commands = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int(_stat(int(folder.name))[1])
            commands[int(folder.name)] = (folder / "cmdline").read_text()
        except OSError:
            continue

    def ours(process: int) -> bool:
        while process in parents:
            if str(profile) in commands.get(process, ""):
                return True
            process = parents[process]
        return False

    return {process: command for process, command in commands.items() if ours(process)}


def _seconds(process: int) -> float:
    fields = _stat(process)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _stat(process: int) -> list[str]:
    """Fields of proc/PID/stat from the third on."""
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
