"""The worker process: one job after the other, single-use blinds made while there is none.

It is started with a socket and the name of what computes, and ends with that socket. Everything
that parses bytes of strangers runs here, within limits of the system: address space, no core dump,
and processor time of each job.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable, Sequence

from split_server.adapter_host.evaluator import Evaluator, Refused
from split_server.adapter_host.messages import (
    Job,
    JobAnswer,
    Torn,
    pack_answer,
    read_message,
    unpack_job,
)
from split_server.system_limits import limit_to

_log = logging.getLogger(__name__)


def serve(source: socket.socket, evaluator: Evaluator, cpu_seconds: float) -> None:
    """Answer jobs until the stream ends. Raises Torn."""
    while True:
        while not _readable(source) and evaluator.idle():
            pass
        body = read_message(source)
        if body is None:
            return
        source.sendall(pack_answer(_answered(unpack_job(body), evaluator, cpu_seconds)))


def _readable(source: socket.socket) -> bool:
    return bool(select.select([source], [], [], 0)[0])


def _answered(job: Job, evaluator: Evaluator, cpu_seconds: float) -> JobAnswer:
    for session in job.dropped:
        evaluator.drop(session)
    # SIGPROF ends the process also inside native code. Adapters are the operator's own.
    signal.setitimer(signal.ITIMER_PROF, 0 if job.kind == "load" else cpu_seconds)
    try:
        return JobAnswer("ok", _done(job, evaluator))
    except Refused as refused:
        return JobAnswer("refused", refused.code.encode("ascii"))
    # The boundary of a job: its failure must not be another one's. Texts may hold parts of a job.
    except Exception as error:  # noqa: BLE001
        _log.error("a job of the kind %s failed: %s", job.kind, type(error).__name__)
        return JobAnswer("failed", b"")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _done(job: Job, evaluator: Evaluator) -> bytes:
    match job.kind, job.parts:
        case "load", (packing, a):
            evaluator.load(job.name, json.loads(packing), a)
            return b""
        case "key", (host, device, public):
            evaluator.key(job.session, job.name, (host, device), public)
            return b""
        case "evaluate", (query,):
            return evaluator.evaluate(job.session, query)
        case "mask", (query,):
            return evaluator.mask(job.session, query)
    raise Torn("a job without its parts")


def bound_process(address_space: int) -> None:
    """No core dumps, which would hold keys; a bound on memory where the system knows one."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        limit_to(resource.RLIMIT_AS, address_space)


def factory(name: str) -> Callable[[int], Evaluator]:
    """The factory ``module:attribute``: it is called with the bytes of blinds to keep ready."""
    module, _, attribute = name.partition(":")
    made: Callable[[int], Evaluator] = getattr(importlib.import_module(module), attribute)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one worker; the status is 0 when its host has gone."""
    parser = argparse.ArgumentParser(prog="adapter-worker")
    parser.add_argument("--fd", type=int, required=True)
    parser.add_argument("--evaluator", required=True)
    parser.add_argument("--cpu-seconds", type=float, required=True)
    parser.add_argument("--address-space", type=int, required=True)
    parser.add_argument("--blind-bytes", type=int, required=True)
    options = parser.parse_args(arguments)
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    # A terminal's Ctrl-C goes to the host, which ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    bound_process(options.address_space)
    with socket.socket(fileno=options.fd) as source:
        try:
            serve(source, factory(options.evaluator)(options.blind_bytes), options.cpu_seconds)
        except (BrokenPipeError, ConnectionResetError):
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
