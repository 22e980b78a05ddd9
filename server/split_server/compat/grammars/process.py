"""The process that grammars are copies of, as the server sees it: started, asked, ended."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from split_client.grammar.errors import TokenizerUnreadable
from split_server.compat.grammars.limits import GrammarLimits
from split_server.compat.grammars.messages import Torn, document, read
from split_wire.errors import Overloaded, ShuttingDown

_MODULE = "split_server.compat.grammars.worker"
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "0"}
_END_SECONDS = 5.0
# After a start that failed: those that wait for it are told, and do not each try again.
_REST_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Words:
    """``tokenizer``: the text of tokenizer.json; ``rows``: of the model's logits; ``eos``: tokens
    that end a reply.
    """

    tokenizer: str
    rows: int
    eos: frozenset[int]


class GrammarProcess:
    """Several threads may use it. Nothing runs before :meth:`start`, which any call may repeat."""

    def __init__(
        self, words: Words, limits: GrammarLimits, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._words, self._limits, self._clock = words, limits, clock
        # What the library says of the tokenizer, which it will say again.
        self._unreadable: str | None = None
        self._rest_until = float("-inf")
        self._starting = threading.Lock()
        self._using = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process's id, None while none runs."""
        return None if self._process is None else self._process.pid

    @property
    def running(self) -> bool:
        """It was started and, as far as is known, has not ended."""
        process = self._process
        return self._control is not None and process is not None and process.poll() is None

    def start(self) -> None:
        """Have it run and be ready; blocks for the second or more that this takes.

        Raises GrammarInvalid where the library cannot read the tokenizer, Overloaded when the
        process does not come up.
        """
        with self._starting:
            if self.running:
                return
            self._end()
            self._require_hope()
            try:
                self._begin()
            except (OSError, Torn):
                self._end()
                self._rest_until = self._clock() + _REST_SECONDS
                raise Overloaded("the grammars' process does not start") from None
            except BaseException:
                self._end()
                raise

    def _require_hope(self) -> None:
        """Raises ShuttingDown, GrammarInvalid, Overloaded where a start would be in vain."""
        if self._closed:
            raise ShuttingDown
        if self._unreadable is not None:
            raise TokenizerUnreadable(self._unreadable)
        if self._clock() < self._rest_until:
            raise Overloaded("the grammars' process does not start", _REST_SECONDS)

    def open(self) -> socket.socket:
        """A socket to a fresh copy. Raises Overloaded where there is none to be had."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                with self._using:
                    self._hand_over(theirs.fileno())
            except OSError:
                ours.close()
                raise Overloaded("the grammars' process is starting") from None
        return ours

    def close(self) -> None:
        """End it; its copies end with their sockets."""
        self._closed = True
        self._end()

    def _hand_over(self, descriptor: int) -> None:
        if self._control is None:
            raise OSError
        socket.send_fds(self._control, [b"+"], [descriptor])

    def _begin(self) -> None:
        control, theirs = socket.socketpair()
        control.settimeout(self._limits.start_seconds)
        try:
            with theirs:
                process = self._process = self._started(theirs.fileno())
            watchdog = threading.Timer(self._limits.start_seconds, process.kill)
            watchdog.daemon = True
            watchdog.start()
            try:
                self._tell(process)
                answer = _first(control)
            finally:
                watchdog.cancel()
        except BaseException:
            control.close()
            raise
        if "failed" in answer:
            control.close()
            reason = f"the grammar library cannot read this model's tokenizer ({answer['failed']})"
            self._unreadable = reason
            raise TokenizerUnreadable(reason)
        # A full queue is told at once: whoever asks may be the event loop.
        control.setblocking(False)
        with self._using:
            self._control = control

    def _started(self, descriptor: int) -> subprocess.Popen[bytes]:
        # -P: a module in the current folder must not be imported in place of an installed one.
        return subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-P", "-m", _MODULE, "--fd", str(descriptor)],
            pass_fds=[descriptor],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | _ONE_THREAD,
            # Ctrl-C in a terminal is for the server, which ends its processes itself.
            start_new_session=True,
        )

    def _tell(self, process: subprocess.Popen[bytes]) -> None:
        words = {
            "tokenizer": self._words.tokenizer,
            "rows": self._words.rows,
            "eos": sorted(self._words.eos),
            "limits": asdict(self._limits),
        }
        if process.stdin is None:
            raise OSError
        with process.stdin:
            process.stdin.write(json.dumps(words).encode())

    def _end(self) -> None:
        with self._using:
            control, self._control = self._control, None
            process, self._process = self._process, None
        if control is not None:
            control.close()
        if process is not None:
            process.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_END_SECONDS)


def _first(control: socket.socket) -> dict[str, Any]:
    body = read(control)
    if body is None:
        raise Torn
    return document(body)
