"""The stages of a soak: when its server is killed, and what its next life has to do with."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.bench.soak.disk import SmallDisk, no_file_grows
from scripts.bench.soak.servers import Servers
from scripts.bench.soak.tally import Heard, SoakTally
from scripts.bench.workers import Worker

# All kills lie in the first part, so that the last life is long enough to see its memory grow.
_KILLED_WITHIN = 0.6
_DOWN_SECONDS = 2.0
# Bytes of a pass, of the reserve and of a few chats: not of everybody's. llama.cpp takes its
# buffers and the cells of all sessions at the start.
_LITTLE_MEMORY = {"torch": 92 << 20, "llama": 256 << 20}
_SMALL_FILE = 100_000


class FullDisk:
    """A life in which neither the server nor a newcomer can write.

    ``refusals``: what the newcomer was told. ``disk`` None: only files are limited.
    """

    def __init__(self, folder: Path, disk: SmallDisk | None) -> None:
        self._folder, self._disk = folder, disk
        self.refusals: list[str] = []
        self.tally = SoakTally()

    def start(self, servers: Servers) -> None:
        """Start a server whose cache folder has no room."""
        if self._disk is None:
            servers.start("log cannot grow")
            return
        self._disk.fill()
        cache = {"SPLIT_CACHE": str(self._disk.folder)}
        servers.start("full disk", environ=cache)

    def last(self, servers: Servers, until: float) -> None:
        """Let newcomers fail, then let one in; the server's log cannot grow meanwhile."""
        newcomer = Worker("scripts.bench.soak.newcomer")
        with contextlib.closing(newcomer), no_file_grows(servers.now.process.pid):
            if self._disk is not None:
                self._come(newcomer, servers.url, self._disk.folder / "newcomer", None)
            self._come(newcomer, servers.url, self._folder / "newcomer", _SMALL_FILE)
            self._come(newcomer, servers.url, self._folder / "newcomer", None)
            if self._disk is not None:
                self._disk.free()
                self._come(newcomer, servers.url, self._disk.folder / "newcomer", None)
            _wait(until)

    def _come(self, newcomer: Worker, url: str, cache: Path, limit: int | None) -> None:
        answer: dict[str, Any] = newcomer.ask(url=url, cache=str(cache), limit=limit)
        if "asked" in answer:
            heard = Heard(tuple(answer["ids"]), answer["text"], whole=True)
            self.tally.hear((tuple(answer["asked"]), None), heard)
            self.refusals.append("let in")
        else:
            self.refusals.append(answer["code"] or answer["error"])
            if answer["code"] is None:
                self.tally.unnamed.append(f"newcomer: {answer['error']}")


def kills(
    servers: Servers, full: FullDisk, begun: float, seconds: float, count: int, engine: str
) -> None:
    """Kill ``count`` times; the second life has little memory, the third one a full disk."""
    little = servers.now.memory()["held"]["private"] + _LITTLE_MEMORY[engine]
    starts: list[Callable[[], None]] = [
        lambda: servers.start("little memory", ["--memory-limit", str(little)]),
        lambda: full.start(servers),
    ]
    for number in range(count):
        until = begun + _KILLED_WITHIN * seconds * (number + 1) / count
        if servers.lives[-1].title in ("full disk", "log cannot grow"):
            full.last(servers, until)
        _wait(until)
        servers.kill()
        time.sleep(_DOWN_SECONDS)
        if number < len(starts) and number < count - 1:
            starts[number]()
        else:
            servers.start("as usual")


def _wait(until: float) -> None:
    time.sleep(max(0.0, until - time.monotonic()))
