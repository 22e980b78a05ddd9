"""The web app's weight store in Chromium: memory while it downloads, CPU, and bytes sent again.

    python -m scripts.bench.web.weights [--rows 151936] [--hidden 896] [--chunk 8388608]
        [--shards 2] [--kinds opfs indexeddb]

A table of random f16 rows is downloaded from this process into a new profile of Chromium. Memory is
what the browser's processes share out among themselves of anonymous and shared pages (Pss_Anon and
Pss_Shmem of proc(5), smaps_rollup), sampled all the time, above what it was with the page open and
nothing stored. Nobody drives this browser: developer tools keep all that is fetched. CPU is that of
all the browser's processes. "sent again" counts bytes that left the server beyond the weights: for
a closed tab, for a browser killed with SIGKILL, and for three cut connections and a damaged chunk
together. Ends with an error where a download's peak is above half of the weights, or where more
than one chunk was sent again for any of the six.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Error as PlaywrightError

from scripts.bench.report import heading, table
from tests.web.browsing import CHROMIUM, FLAGS, profile
from tests.web.weights.server import RemoteTab, StorePage, WeightsServer, bundled, model_of

HEADINGS = (
    "store",
    "download peak",
    "of the weights",
    "after it",
    "CPU",
    "elapsed",
    "512 rows a shard, CPU",
    "all rows, CPU",
)
MOST_PEAK = 0.5
# Of a tab, of the browser, of connections and chunks: as many chunks may be sent again.
FAILURES = (1, 1, 4)
_SAMPLE_SECONDS = 0.03


@dataclass
class Browser:
    """The processes of one profile."""

    folder: Path
    peak: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)

    def processes(self) -> list[psutil.Process]:
        """The main process first."""
        flag = f"--user-data-dir={self.folder}"
        for process in psutil.process_iter(["cmdline"]):
            line = process.info["cmdline"] or []
            if flag in line and not any(part.startswith("--type=") for part in line):
                return [process, *process.children(recursive=True)]
        return []

    def memory(self) -> int:
        """Bytes."""
        return sum(_private(process.pid) for process in self.processes())

    def cpu(self) -> float:
        """Seconds."""
        times = [process.cpu_times() for process in self.processes()]
        return sum(one.user + one.system for one in times)

    def kill(self) -> None:
        os.kill(self.processes()[0].pid, signal.SIGKILL)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """``peak`` is the most memory that a sample found meanwhile."""
        self.peak = 0
        self._stop.clear()
        pids = [process.pid for process in self.processes()]
        thread = threading.Thread(target=self._sample, args=(pids,))
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    def _sample(self, pids: list[int]) -> None:
        while not self._stop.wait(_SAMPLE_SECONDS):
            self.peak = max(self.peak, sum(map(_private, pids)))


def _private(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    fields = dict(line.split(":", 1) for line in lines[1:] if ":" in line)
    return sum(int(fields.get(name, "0 kB").split()[0]) << 10 for name in ("Pss_Anon", "Pss_Shmem"))


def measure(kind: str, server: WeightsServer, shards: int) -> tuple[list[str], float]:
    """A row of the table, and the peak as a part of the weights."""
    weights = server.model.size
    tab = RemoteTab(server)
    with undriven(tab.url) as browser:
        tab.call("open", kind=kind)
        time.sleep(3)
        base, cpu, began = browser.memory(), browser.cpu(), time.perf_counter()
        with browser.watched():
            pulled = tab.call("pull", shards=shards)
        elapsed, spent = time.perf_counter() - began, browser.cpu() - cpu
        peak = browser.peak - base
        time.sleep(2)
        after = browser.memory() - base
        tab.call("hold", digest=pulled["digest"])
        rounds = 20
        scattered = _cpu_of(browser, lambda: tab.call("timeReads", count=512, rounds=rounds))
        everything = _cpu_of(browser, lambda: tab.call("timeReads", runs=1))
    cells = [
        kind,
        _megabytes(peak),
        f"{peak / weights:.2f}",
        _megabytes(after),
        f"{spent:.2f} s",
        f"{elapsed:.2f} s",
        f"{1e3 * scattered / rounds:.1f} ms",
        f"{1e3 * everything:.0f} ms",
    ]
    return cells, peak / weights


@contextmanager
def undriven(url: str) -> Iterator[Browser]:
    """A browser that has ``url`` open."""
    executable = shutil.which(CHROMIUM)
    assert executable is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = [*FLAGS, "--headless=new", f"--user-data-dir={folder}"]
        process = subprocess.Popen(
            [executable, *options, url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            yield Browser(Path(folder))
        finally:
            process.terminate()
            process.wait()


def _cpu_of(browser: Browser, work: Any) -> float:
    before = browser.cpu()
    work()
    return browser.cpu() - before


def sent_again(kind: str, server: WeightsServer, shards: int) -> list[int]:
    """Bytes beyond the weights after each failure: tab, browser, three cuts, a damaged chunk."""
    chunk, before = server.model.chunk, server.sent
    third = server.model.size // chunk // 3 * chunk
    extra: list[int] = []

    def told(done: int) -> None:
        extra.append(server.sent - before - done - sum(extra))

    with tempfile.TemporaryDirectory() as folder:
        with profile(Path(folder)) as context:
            tab = StorePage(context.new_page(), server.url, kind)
            _held(tab, server, shards, third // 2 + chunk // 2)
            tab.page.close()
            server.resume()
            tab = StorePage(context.new_page(), server.url, kind)
            told(tab.call("doneBytes", digest=server.model.digest))
            _held(tab, server, shards, third // 2 + chunk // 2)
            Browser(Path(folder)).kill()
            with suppress(PlaywrightError):
                tab.call("list")
        server.resume()
        with profile(Path(folder)) as context:
            tab = StorePage(context.new_page(), server.url, kind)
            done = tab.call("doneBytes", digest=server.model.digest)
            told(done)
            start = server.sent + chunk // 2
            server.cuts = [start, start + chunk, start + 2 * chunk]
            server.corrupt = [server.model.size // chunk * chunk - chunk // 2]
            tab.call("pull", shards=shards)
            told(server.model.size)
    return extra


def _held(tab: StorePage, server: WeightsServer, shards: int, count: int) -> None:
    server.hold_after(count)
    tab.start("pull", shards=shards)
    server.wait_until_held()


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=151_936)
    parser.add_argument("--hidden", type=int, default=896)
    parser.add_argument("--chunk", type=int, default=8 << 20)
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--kinds", nargs="+", default=["opfs", "indexeddb"])
    options = parser.parse_args()
    model = model_of(rows=options.rows, hidden=options.hidden, chunk=options.chunk)
    rows, failed = [], []
    with tempfile.TemporaryDirectory() as scripts:
        server = WeightsServer(model, bundled(Path(scripts)))
        with server.running():
            for kind in options.kinds:
                cells, peak = measure(kind, server, options.shards)
                rows.append(cells)
                extra = sent_again(kind, server, options.shards)
                print(f"{kind}: sent again {[_megabytes(count) for count in extra]}", flush=True)
                too_much = [
                    count > most * options.chunk
                    for count, most in zip(extra, FAILURES, strict=True)
                ]
                if peak > MOST_PEAK or any(too_much):
                    failed.append(kind)
    print(
        heading(f"Weights in a browser: {_megabytes(model.size)}, chunks of {options.chunk}", "f16")
    )
    print(table(HEADINGS, rows))
    sys.exit(f"beyond the bars: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
