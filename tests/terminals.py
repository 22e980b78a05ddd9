"""Commands in a pseudo-terminal of their own: what a person types, and what is seen."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-_])|\r")
# The terminal becomes the one that sends the signals of its keys. Whoever runs the tests in the
# background of a shell has Ctrl-C ignored in all of them.
_OWN_TERMINAL = (
    "import fcntl, os, signal, sys, termios\n"
    "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "os.execvp(sys.argv[1], sys.argv[1:])\n"
)
_SECONDS = 120.0


class Terminal:
    """``seen`` is all that was written, without control sequences."""

    def __init__(self, leader: int, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._leader = leader
        self._raw = bytearray()
        self._read_to = self._expected_to = 0

    @property
    def seen(self) -> str:
        return _CONTROL.sub("", self._raw.decode("utf-8", "replace"))

    def type(self, text: str) -> None:
        """Press the keys of ``text``; what was seen so far is not waited for again."""
        self._read_to = len(self.seen)
        os.write(self._leader, text.encode())

    def wait_for(self, wanted: str, seconds: float = _SECONDS) -> str:
        """Read until the pattern ``wanted``, in which a dot is any character, has appeared since
        the last keys; all that appeared since.
        """
        deadline = time.monotonic() + seconds
        while not re.search(wanted, new := self.seen[self._read_to :], re.DOTALL):
            assert self._more(deadline - time.monotonic()), f"no {wanted!r} in:\n{new[-2000:]}"
        return new

    def expect(self, words: str, seconds: float = _SECONDS) -> str:
        """Read until ``words`` stand behind those that were expected before, whatever keys came
        between; all from there to their end.
        """
        deadline = time.monotonic() + seconds
        while (at := self.seen.find(words, self._expected_to)) < 0:
            new = self.seen[self._expected_to :]
            assert self._more(deadline - time.monotonic()), f"no {words!r} in:\n{new[-2000:]}"
        start, self._expected_to = self._expected_to, at + len(words)
        return self.seen[start : self._expected_to]

    def end(self, seconds: float = _SECONDS) -> int:
        """Read to the end; the command's exit status."""
        deadline = time.monotonic() + seconds
        while self._more(deadline - time.monotonic()):
            pass
        return self.process.wait(max(0.1, deadline - time.monotonic()))

    def _more(self, seconds: float) -> bool:
        """Whether something came within ``seconds``; an ended terminal has nothing more."""
        if not select.select([self._leader], [], [], max(0.0, seconds))[0]:
            return False
        try:
            data = os.read(self._leader, 65536)
        except OSError:
            return False
        self._raw += data
        return bool(data)


@contextmanager
def terminal(
    command: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Iterator[Terminal]:
    """``command`` in a terminal of 80 columns, killed at the end if it still runs."""
    leader, follower = pty.openpty()
    own = {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24", "PROMPT_TOOLKIT_NO_CPR": "1"}
    try:
        with subprocess.Popen(
            [sys.executable, "-c", _OWN_TERMINAL, *command],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            cwd=cwd,
            env={**os.environ, **own, **(env or {})},
            start_new_session=True,
        ) as process:
            os.close(follower)
            try:
                yield Terminal(leader, process)
            finally:
                if process.poll() is None:
                    # As a window that is closed: its commands hang up, and end what they started.
                    process.terminate()
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(30)
                    process.kill()
    finally:
        os.close(leader)
