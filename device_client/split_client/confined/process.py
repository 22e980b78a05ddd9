"""A process that answers requests and is killed when one takes too long.

Nothing inside an interpreter can stop ``10 ** 10 ** 10`` or a text of a gigabyte, so what strangers
wrote runs in a process of its own, which limits its memory itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from split_client.confined.messages import read_message, write_message


class Stopped(Exception):
    """The process gave no answer; ``str()`` says why. It is closed, and the next start is new."""


class ConfinedProcess:
    """``module`` run with ``arguments``; it answers one request at a time.

    ``seconds``: for each answer; ``most_answer``: bytes of the longest; ``environ``: added to this
    process's variables. One thread at a time.
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        *,
        seconds: float,
        most_answer: int,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        # -P: a module in the current folder must not be imported in place of an installed one.
        self._command = [sys.executable, "-P", "-m", module, *arguments]
        self._seconds, self._most_answer = seconds, most_answer
        self._environ = environ
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        """Whether it was started and not closed since."""
        return self._process is not None

    def start(self) -> None:
        """Begin to start it, so that the first :meth:`ask` need not wait for it."""
        if self._process is not None:
            return
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=None if self._environ is None else {**os.environ, **self._environ},
            # Ctrl-C in the terminal is for the chat, which then decides about its processes.
            start_new_session=True,
        )

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to ``request``. Raises Stopped."""
        self.start()
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise RuntimeError("the process is not running")
        expired = threading.Event()
        watchdog = threading.Timer(self._seconds, _kill, (process, expired))
        watchdog.daemon = True
        watchdog.start()
        try:
            write_message(process.stdin, request)
            answer = read_message(process.stdout, self._most_answer)
        except (BrokenPipeError, ValueError):
            answer = None
        except BaseException:
            self.close()
            raise
        finally:
            watchdog.cancel()
        if answer is not None:
            return answer
        self.close()
        if expired.is_set():
            raise Stopped(f"it took longer than {self._seconds:g} s")
        raise Stopped("its process ended by itself")

    def kill(self) -> None:
        """Have the request that another thread waits for fail; :meth:`close` it all the same."""
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End it."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                # A request that it has not read is lost with it.
                with suppress(BrokenPipeError):
                    stream.close()


def _kill(process: subprocess.Popen[bytes], expired: threading.Event) -> None:
    expired.set()
    process.kill()
