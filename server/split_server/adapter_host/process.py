"""One worker process as its host sees it: started, asked, ended."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from split_server.adapter_host.limits import HostLimits
from split_server.adapter_host.messages import (
    LENGTH,
    Job,
    JobAnswer,
    Torn,
    length_of,
    pack_job,
    unpack_answer,
)

EVALUATOR = "split_server.adapter_host.ckks:CkksEvaluator"
_MODULE = "split_server.adapter_host.worker"
_END_SECONDS = 5.0
# A whole reply, so that reading is not paused and resumed within one.
_READ_AHEAD = 1 << 20
# What finds the interpreter, its packages and libraries, and what texts and files need. Anything
# else in the host's environment may be a secret.
_INHERITED = frozenset(
    [
        "PATH",
        "LD_LIBRARY_PATH",
        "DYLD_LIBRARY_PATH",
        "DYLD_FALLBACK_LIBRARY_PATH",
        "VIRTUAL_ENV",
        "HOME",
        "PYTHONHOME",
        "PYTHONPATH",
        "PYTHONUSERBASE",
        "PYTHONNOUSERSITE",
        "PYTHONPLATLIBDIR",
        "PYTHONPYCACHEPREFIX",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONUTF8",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "TEMP",
        "TMP",
        "SYSTEMROOT",
    ]
)
_INHERITED_PREFIX = "LC_"
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class WorkerProgram:
    """``evaluator``: ``module:attribute`` of what computes; ``environ``: added variables."""

    evaluator: str = EVALUATOR
    environ: Mapping[str, str] = field(default_factory=dict)


class WorkerProcess:
    """A fresh interpreter (nothing of the host's memory is in it) and the socket to it."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._process, self._reader, self._writer = process, reader, writer

    @classmethod
    async def start(cls, program: WorkerProgram, limits: HostLimits) -> WorkerProcess:
        """Raises OSError where the system gives no process."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                # It returns as soon as the interpreter is executed, before it runs.
                process = subprocess.Popen(  # noqa: ASYNC220, S603
                    _command(program, limits, theirs.fileno()),
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    env=_environment(program),
                )
        except BaseException:
            ours.close()
            raise
        ours.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=ours, limit=_READ_AHEAD)
        return cls(process, reader, writer)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    async def ask(self, job: Job, seconds: float) -> JobAnswer:
        """The answer to ``job``. Raises Torn: the process must be ended then."""
        try:
            async with asyncio.timeout(seconds):
                self._writer.write(pack_job(job))
                await self._writer.drain()
                head = await self._reader.readexactly(LENGTH.size)
                return unpack_answer(await self._reader.readexactly(length_of(head)))
        except TimeoutError:
            raise Torn(f"no answer within {seconds:g} s") from None
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Torn("the process ended") from error

    def end(self) -> int | None:
        """Kill it and return its status; never waits long, never raises."""
        self._writer.close()
        with suppress(ProcessLookupError):
            self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(_END_SECONDS)
        return None


def _command(program: WorkerProgram, limits: HostLimits, fd: int) -> list[str]:
    # Safe path (-P): a module in the working directory is not taken for ours.
    return [
        *(sys.executable, "-P", "-m", _MODULE),
        *("--fd", str(fd)),
        *("--evaluator", program.evaluator),
        *("--cpu-seconds", str(limits.cpu_seconds)),
        *("--address-space", str(limits.worker_bytes)),
        *("--blind-bytes", str(limits.blind_bytes)),
    ]


def _environment(program: WorkerProgram) -> dict[str, str]:
    kept = {
        name: text
        for name, text in os.environ.items()
        if name in _INHERITED or name.startswith(_INHERITED_PREFIX)
    }
    return kept | _ONE_THREAD | dict(program.environ)
