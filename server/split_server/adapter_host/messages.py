"""Messages between the host and a worker over a socket pair: a length (u32 LE), then msgpack.

The host sends one job at a time and waits for its one answer. Both sides check types and sizes: a
worker parses bytes of strangers, so the host does not trust what it sends.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgpack

LENGTH = struct.Struct("<I")
# Above A and B of 8,192 x 64 float32.
MAX_MESSAGE = 16 << 20
Status: TypeAlias = Literal["ok", "refused", "failed"]
_STATUSES = ("ok", "refused", "failed")
_KINDS = ("load", "key", "evaluate", "mask")


class Torn(Exception):
    """The other side sent something that is not a message, or went away."""


@dataclass(frozen=True, slots=True)
class Job:
    """``kind`` load: ``name`` and ``parts`` (packing as JSON, A as float32 bytes); key: the
    session, ``name`` its adapter, ``parts`` (host nonce, device nonce, public key); evaluate and
    mask: the session and ``parts`` (query,). ``dropped``: sessions that ended since the last job.
    """

    kind: str
    session: bytes
    name: str
    parts: tuple[bytes, ...]
    dropped: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class JobAnswer:
    """``payload``: the reply, behind it what is kept of a mask; or a refusal's code in ASCII."""

    status: Status
    payload: bytes


def pack_job(job: Job) -> bytes:
    """``job`` as it travels."""
    fields = [job.kind, job.session, job.name, list(job.parts), list(job.dropped)]
    return _framed(msgpack.packb(fields))


def pack_answer(answer: JobAnswer) -> bytes:
    """``answer`` as it travels."""
    return _framed(msgpack.packb([answer.status, answer.payload]))


def unpack_job(body: bytes) -> Job:
    """Raises Torn."""
    match _unpacked(body):
        case [str(kind), bytes(session), str(name), list(parts), list(dropped)]:
            if kind in _KINDS and all(isinstance(part, bytes) for part in (*parts, *dropped)):
                return Job(kind, session, name, tuple(parts), tuple(dropped))
    raise Torn("not a job")


def unpack_answer(body: bytes) -> JobAnswer:
    """Raises Torn."""
    match _unpacked(body):
        case [("ok" | "refused" | "failed") as status, bytes(payload)]:
            return JobAnswer(status, payload)
    raise Torn("not an answer")


def length_of(head: bytes) -> int:
    """Bytes of the message that ``head`` announces. Raises Torn."""
    (length,) = LENGTH.unpack(head)
    if not 0 < length <= MAX_MESSAGE:
        raise Torn("a message of impossible length")
    return int(length)


def read_message(source: socket.socket) -> bytes | None:
    """The next message's body, None at the end of the stream. Raises Torn."""
    head = _read(source, LENGTH.size)
    if head is None:
        return None
    body = _read(source, length_of(head))
    if body is None:
        raise Torn("cut short")
    return body


def _read(source: socket.socket, size: int) -> bytes | None:
    taken = bytearray(size)
    view, filled = memoryview(taken), 0
    while filled < size:
        count = source.recv_into(view[filled:])
        if not count:
            if filled:
                raise Torn("cut short")
            return None
        filled += count
    return bytes(taken)


def _framed(body: bytes) -> bytes:
    if len(body) > MAX_MESSAGE:
        raise Torn("a message that is too long")
    return LENGTH.pack(len(body)) + body


def _unpacked(body: bytes) -> object:
    try:
        fields: object = msgpack.unpackb(body, max_array_len=100_000, strict_map_key=True)
    except (ValueError, msgpack.UnpackException) as error:
        raise Torn("not msgpack") from error
    return fields
