"""What the host makes of a worker's answer: its payload, a device's refusal, or a failure."""

from __future__ import annotations

from split_server.adapter_host.errors import MalformedCiphertext, MalformedKey
from split_server.adapter_host.messages import JobAnswer

_REFUSALS: dict[bytes, type[MalformedKey | MalformedCiphertext]] = {
    MalformedKey.code.encode(): MalformedKey,
    MalformedCiphertext.code.encode(): MalformedCiphertext,
}


class WorkerFailed(Exception):
    """A worker's own failure, or an answer that is none; told as an internal error."""


def taken(answer: JobAnswer, size: int) -> bytes:
    """The payload of an answer, ``size`` bytes long. Raises what it refuses, WorkerFailed."""
    if answer.status == "ok" and len(answer.payload) == size:
        return answer.payload
    refusal = _REFUSALS.get(answer.payload)
    if answer.status == "refused" and refusal is not None:
        raise refusal()
    raise WorkerFailed("a worker could not do a job; its line in the log says which kind")
