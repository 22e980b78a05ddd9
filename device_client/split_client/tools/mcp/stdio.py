"""An MCP server as a program: one JSON message a line, on its standard input and output."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from split_client.tools.commands import minimal_environment
from split_client.tools.errors import McpError
from split_client.tools.mcp.messages import (
    MAX_MESSAGE,
    MAX_OTHERS,
    Message,
    answers,
    decoded,
    encoded,
    reply_to,
)

_PIECE: Final = 1 << 16
_TELL_SECONDS: Final = 10.0


class StdioChannel:
    """The program ``words`` with a minimal environment and ``environ``; its errors go nowhere."""

    def __init__(
        self,
        server: str,
        words: Sequence[str],
        environ: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server, self._clock = server, clock
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
                list(words),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**minimal_environment(), **environ},
                start_new_session=True,
            )
        except OSError as error:
            raise McpError(server, f"it cannot be started: {error.strerror or error}") from error
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the process has no pipes")
        self._in, self._out = self._process.stdin, self._process.stdout
        os.set_blocking(self._in.fileno(), False)
        self._received = bytearray()

    def ask(self, message: Message, seconds: float) -> Message:
        """The answer to ``message``. Raises McpError."""
        deadline = self._clock() + seconds
        self._send(message, deadline)
        for _ in range(MAX_OTHERS):
            received = decoded(self._server, self._line(deadline))
            if answers(received, message["id"]):
                return received
            reply = reply_to(received)
            if reply is not None:
                self._send(reply, deadline)
        raise self._failed("it talks of other things than it was asked")

    def tell(self, message: Message) -> None:
        """Send ``message``. Raises McpError."""
        self._send(message, self._clock() + _TELL_SECONDS)

    def close(self) -> None:
        """End the program and what it started."""
        for stream in (self._in, self._out):
            with suppress(OSError):
                stream.close()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _send(self, message: Message, deadline: float) -> None:
        data = encoded(message) + b"\n"
        while data:
            self._wait(self._in.fileno(), selectors.EVENT_WRITE, deadline)
            try:
                data = data[os.write(self._in.fileno(), data[:_PIECE]) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._failed("it ended") from None

    def _line(self, deadline: float) -> bytes:
        """The next line that is not empty."""
        while True:
            line, found, rest = self._received.partition(b"\n")
            if found:
                self._received = rest
                if line.strip():
                    return bytes(line)
                continue
            if len(self._received) > MAX_MESSAGE:
                raise self._failed(f"it sent a message of more than {MAX_MESSAGE} bytes")
            self._wait(self._out.fileno(), selectors.EVENT_READ, deadline)
            piece = os.read(self._out.fileno(), _PIECE)
            if not piece:
                raise self._failed("it ended")
            self._received += piece

    def _wait(self, handle: int, event: int, deadline: float) -> None:
        with selectors.DefaultSelector() as waiting:
            waiting.register(handle, event)
            left = deadline - self._clock()
            if left <= 0 or not waiting.select(left):
                raise self._failed("it gave no answer in time")

    def _failed(self, reason: str) -> McpError:
        """A channel that failed once has lost its place, and is not used again."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        return McpError(self._server, reason)
