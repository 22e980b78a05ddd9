"""Does kill -9 have any mask used twice?

    python -m scripts.bench.masks.kills.run [--kills 10000] [--hosts 500] [--folder DIR]

Real devices and real adapter hosts over loopback, forked from this process: each makes masks and
uses them until SIGKILL ends it. Half of the devices end themselves at a step that was drawn (before
or after a request, the masking of a state, a lock, an fsync, a rename), the other half are ended
from here after a time that was drawn; ``--hosts`` of the kills are hosts, at a step of theirs.
The next process goes on with what is on the disk. What every process sends, takes and gives is
journalled before it happens, and judged at the end: no r, no s and no number with two states.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from scripts.bench.masks.kills import device, host
from scripts.bench.masks.kills.fuse import Fuse, Journal
from scripts.bench.masks.kills.verdict import Verdict
from scripts.bench.report import finish, heading, table
from scripts.bench.timing import Course, broken_off

# More steps than a device has, or a host in the life of a few devices.
_DEVICE_STEPS, _HOST_STEPS = 150, 250
_DEVICE_SECONDS = 0.15
_START_SECONDS = 60.0


class Rounds:
    """``hosts`` of ``kills`` end a host. ``killed``: processes that SIGKILL ended so far;
    ``ended``: devices that ended by themselves.
    """

    def __init__(self, folder: Path, kills: int, hosts: int, seed: int) -> None:
        self._folder, self._wanted, self._hosts = folder, kills, hosts
        self._draw = random.Random(seed)
        self._port = _free_port()
        self.killed = {"device": 0, "host": 0}
        self.ended = 0
        self._host: int | None = None

    def run(self, course: Course) -> None:
        """Until so many were killed."""
        try:
            while sum(self.killed.values()) < self._wanted:
                self._round()
                course.tell(f"{self.killed['device']} devices, {self.killed['host']} hosts killed")
        finally:
            if self._host is not None:
                _end(self._host)

    def _round(self) -> None:
        """One device, beside a host that lives on or will end itself."""
        if self._host is None:
            self._host = self._started(self._fuse_of_host())
        fuse = self._draw.randrange(1, _DEVICE_STEPS) if self._draw.random() < 0.5 else 0
        pid = _forked(lambda: self._device(fuse))
        if not fuse:
            time.sleep(self._draw.uniform(0, _DEVICE_SECONDS))
            _kill(pid)
        if _killed(os.waitpid(pid, 0)[1]):
            self.killed["device"] += 1
        else:
            self.ended += 1
        found, status = os.waitpid(self._host, os.WNOHANG)
        if found:
            self.killed["host"] += _killed(status)
            self._host = None

    def _fuse_of_host(self) -> int:
        """Steps until the next host ends, so that they end spread over the whole run."""
        left = self._hosts - self.killed["host"]
        return self._draw.randrange(1, _HOST_STEPS) if left > 0 else 0

    def _device(self, fuse: int) -> None:
        os.environ["SPLIT_DATA"] = str(self._folder / "data")
        journal = Journal(self._folder / "device.journal")
        device.run(f"http://127.0.0.1:{self._port}", journal, Fuse(fuse, journal))

    def _started(self, fuse: int) -> int:
        pid = _forked(lambda: self._serve(fuse))
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until:
            if os.waitpid(pid, os.WNOHANG)[0]:
                # It was ended while it started, as a fuse may have it.
                self.killed["host"] += 1
                return self._started(self._fuse_of_host())
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port)):
                return pid
            time.sleep(0.01)
        raise SystemExit("the host does not start")

    def _serve(self, fuse: int) -> None:
        os.environ["SPLIT_DATA"] = str(self._folder / "host-data")
        journal = Journal(self._folder / "host.journal")
        host.run(self._port, self._folder / "state", journal, Fuse(fuse, journal))


def _forked(work: Callable[[], None]) -> int:
    """A process that does ``work`` and ends without anything of this one's."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        work()
        status = 0
    except BaseException:  # noqa: BLE001 - nothing of it may go on in the copy of this process
        traceback.print_exc()
    finally:
        os._exit(status)


def _end(pid: int) -> None:
    _kill(pid)
    os.waitpid(pid, 0)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _killed(status: int) -> bool:
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    options = _options()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="mask-kills-"))
    rounds = Rounds(folder, options.kills, options.hosts, options.seed)
    with broken_off():
        rounds.run(Course())
    verdict = Verdict.of(folder / "device.journal", folder / "host.journal")
    print(heading("Masks and kill -9", "hidden 64, rank 4"))
    print(
        f"{rounds.killed['device']:,} devices and {rounds.killed['host']:,} hosts ended by "
        f"SIGKILL, {rounds.ended:,} devices that ended by themselves.\n"
    )
    print(table(["what happened", "times"], sorted(verdict.counts.items())))
    print(table(["ended at its step", "times"], sorted(verdict.killed.items())))
    print(f"{len(verdict.problems)} masks used twice.")
    if not options.folder:
        shutil.rmtree(folder)
    finish(verdict.problems[:20])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=10_000)
    parser.add_argument("--hosts", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="keep files and journals here")
    return parser.parse_args()


if __name__ == "__main__":
    main()
