"""Messages between a confined process and its parent, and the limit that it sets itself.

Standard input and output carry ``u32 LE length | JSON``.
"""

from __future__ import annotations

import json
import struct
from typing import IO, Any

LENGTH = struct.Struct("<I")


def limit_memory(limit: int) -> None:
    """At most ``limit`` bytes from here on, where the system has such a limit."""
    try:
        import resource

        for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            _, hard = resource.getrlimit(kind)
            least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            resource.setrlimit(kind, (least, least))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        # Where the system has no such limit (macOS), the time limit bounds what can be allocated.
        pass


def read_message(stream: IO[bytes], limit: int = 1 << 30) -> dict[str, Any] | None:
    """The next message, None at the end of the stream or for one above ``limit`` bytes."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    if length > limit:
        return None
    body = stream.read(length)
    return None if len(body) < length else json.loads(body)


def write_message(stream: IO[bytes], message: dict[str, Any]) -> None:
    """Write one message."""
    body = json.dumps(message).encode()
    stream.write(LENGTH.pack(len(body)) + body)
    stream.flush()
