"""A program as a tool: arguments as JSON on its standard input, the result on its output.

No shell, an environment without anything of ours, a time limit, and bounded output. What it
started, and left behind, ends with it.
"""

from __future__ import annotations

import json
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, Final

from split_client.tools.errors import ToolsInvalid
from split_client.tools.running import MAX_RESULT, failed

SECONDS: Final = 60.0
# What the tools of a system need to find programs, files and their language.
_PASSED: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"),
    "SYSTEMROOT",
)
# A character has at most four bytes.
_MOST_BYTES: Final = 4 * MAX_RESULT
_MOST_ERRORS: Final = 2048
_PIECE: Final = 1 << 16
# Of a process that left with its output still open in another.
_GRACE: Final = 0.5


def split_command(text: str) -> list[str]:
    """The words of a command line as a shell would split it; the program is looked up.

    Raises ToolsInvalid.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ToolsInvalid(repr(text[:80]), f"it is no command ({error})") from None
    found = shutil.which(words[0]) if words else None
    if found is None:
        named = words[0] if words else text
        raise ToolsInvalid(repr(named[:80]), "there is no such program; check the path")
    return [found, *words[1:]]


def minimal_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables that a tool gets; tokens and settings of ours are none of them."""
    return {name: environ[name] for name in _PASSED if name in environ}


class Command:
    """``words`` run for each call; ``seconds``: how long it may take."""

    def __init__(
        self,
        words: Sequence[str],
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.words = tuple(words)
        self._seconds, self._clock = seconds, clock

    def __call__(self, arguments: dict[str, Any]) -> str:
        """What it printed; where it failed, how, in words for a model."""
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
                self.words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=minimal_environment(),
                # Ctrl-C is for the chat, and everything that it starts can be ended at once.
                start_new_session=True,
            )
        except OSError as error:
            return failed(f"it cannot be started: {error.strerror or error}")
        try:
            exchange = _Exchange(process, json.dumps(arguments).encode(), self._clock)
            in_time = exchange.run(self._seconds)
        finally:
            _end(process)
        if not in_time:
            return failed(f"it took longer than {self._seconds:g} s and was stopped")
        return _told(process.returncode, exchange)


class _Exchange:
    """Writes the input and reads the outputs, of which the beginning (of errors the end) stays."""

    def __init__(
        self, process: subprocess.Popen[bytes], data: bytes, clock: Callable[[], float]
    ) -> None:
        self._process, self._data, self._clock = process, data, clock
        self.output, self.errors = bytearray(), bytearray()
        self.dropped = 0

    def run(self, seconds: float) -> bool:
        """Whether it came to its end in time."""
        process, deadline = self._process, self._clock() + seconds
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise RuntimeError("the process has no pipes")
        with selectors.DefaultSelector() as waiting:
            os.set_blocking(process.stdin.fileno(), False)
            waiting.register(process.stdin, selectors.EVENT_WRITE)
            waiting.register(process.stdout, selectors.EVENT_READ)
            waiting.register(process.stderr, selectors.EVENT_READ)
            while any(key.events & selectors.EVENT_READ for key in waiting.get_map().values()):
                left = deadline - self._clock()
                if left <= 0:
                    return False
                ready = waiting.select(min(left, _GRACE))
                for key, _ in ready:
                    self._move(waiting, key.fileobj)  # type: ignore[arg-type]
                if not ready and process.poll() is not None:
                    break
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - self._clock()))
        return process.returncode is not None

    def _move(self, waiting: selectors.BaseSelector, stream: IO[bytes]) -> None:
        if stream is self._process.stdin:
            self._write(waiting, stream)
            return
        piece = os.read(stream.fileno(), _PIECE)
        if not piece:
            waiting.unregister(stream)
        elif stream is self._process.stdout:
            room = _MOST_BYTES - len(self.output)
            self.output += piece[:room]
            self.dropped += max(0, len(piece) - room)
        else:
            self.errors = (self.errors + piece)[-_MOST_ERRORS:]

    def _write(self, waiting: selectors.BaseSelector, stream: IO[bytes]) -> None:
        try:
            written = os.write(stream.fileno(), self._data[:_PIECE])
        except BlockingIOError:
            return
        except OSError:
            # It does not read its arguments.
            written = len(self._data)
        self._data = self._data[written:]
        if not self._data:
            waiting.unregister(stream)
            with suppress(OSError):
                stream.close()


def _told(status: int, exchange: _Exchange) -> str:
    text = exchange.output.decode("utf-8", "replace")
    if exchange.dropped:
        text += f"\n… ({exchange.dropped} more bytes)"
    if status == 0:
        return text
    errors = exchange.errors.decode("utf-8", "replace").strip()
    said = "\n".join(filter(None, [text.strip(), errors]))
    return f"{failed(f'it ended with status {status}')}\n{said}".strip()


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()
