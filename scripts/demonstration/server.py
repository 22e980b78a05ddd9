"""The demo's server: a process that the terminal's keys do not reach, watched while it runs."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

_LISTENING = re.compile(r"listening on (\S+)")
_LAST_LINES = 8
_LONGEST_LINE = 500
# What was written before the end is read in this time, whoever else still has the pipe.
_READ_WITHIN = 2.0


class ServerFailed(Exception):
    """There is no server to talk to; the message says why and shows the end of its log."""


class DemoServer:
    """``command`` in a process group of its own, so that Ctrl-C is the chat's alone.

    Its output goes to the file ``log``, and the last lines are kept for whoever asks.
    """

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self._log = log
        self._lines: deque[str] = deque(maxlen=_LAST_LINES)
        self._told = threading.Event()
        self._url: str | None = None
        self._stopping = False
        log.parent.mkdir(parents=True, exist_ok=True)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
        self._reader = threading.Thread(target=self._read, name="log", daemon=True)
        self._reader.start()

    def url(self, seconds: float, waiting: Callable[[float], None], every: float = 10.0) -> str:
        """The address, once it listens; ``waiting`` is told every so often how long that takes.

        Raises ServerFailed when it ends first, or after ``seconds``.
        """
        waited = 0.0
        while waited < seconds:
            if self._told.wait(min(every, seconds - waited)):
                break
            waited += every
            waiting(waited)
        if self._url is None:
            if self._told.is_set():
                raise ServerFailed(self._end())
            raise ServerFailed(f"the server gave no address within {seconds:g} s; see {self._log}")
        return self._url

    def watch(self, ended: Callable[[str], None]) -> None:
        """Have ``ended`` told, from a thread, when the server ends without being stopped."""

        def wait() -> None:
            text = self._end()
            if not self._stopping:
                ended(text)

        threading.Thread(target=wait, name="watch", daemon=True).start()

    def stop(self, seconds: float = 30.0) -> None:
        """End it in order, and after ``seconds`` without a word; safe to call twice."""
        self._stopping = True
        self._process.terminate()
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
        finally:
            self._process.kill()
            self._process.wait()

    def _end(self) -> str:
        status = self._process.wait()
        self._reader.join(_READ_WITHIN)
        lines = "".join(f"\n  {line}" for line in list(self._lines))
        said = f"; the end of {self._log}:{lines}" if lines else f"; {self._log} is empty"
        return f"the server ended ({_status(status)}){said}"

    def _read(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        try:
            with pipe, self._log.open("wb") as log:
                self._copy(pipe, log)
        finally:
            self._told.set()

    def _copy(self, pipe: IO[bytes], log: IO[bytes]) -> None:
        for line in pipe:
            log.write(line)
            log.flush()
            text = line.decode("utf-8", "replace").rstrip()[:_LONGEST_LINE]
            self._lines.append(text)
            if self._url is None and (found := _LISTENING.match(text)):
                self._url = found[1]
                self._told.set()


def _status(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    name = signal.Signals(-status).name
    hint = ", perhaps for want of memory" if -status == signal.SIGKILL else ""
    return f"killed by {name}{hint}"
