"""The device that a ledger is counted on, by a name that tells nothing of it."""

from __future__ import annotations

import ctypes
import hashlib
import sys
from pathlib import Path

_LABEL = b"gatelink noise device 1"
_MACHINE_IDS = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_LONGEST = 256


def device_id() -> str | None:
    """32 hexadecimal digits that stay the same on this device; None where it has no name.

    Devices that were cloned with their machine id, and containers of one image, have the same.
    """
    named = _host_uuid() if sys.platform == "darwin" else _machine_id()
    return hashlib.shake_256(_LABEL + named).hexdigest(16) if named else None


def _machine_id() -> bytes:
    for path in _MACHINE_IDS:
        try:
            with path.open("rb") as file:
                named = file.read(_LONGEST).strip()
        except OSError:
            continue
        # Images are made with the file empty or with this word in it.
        if named and named != b"uninitialized":
            return named
    return b""


def _host_uuid() -> bytes:
    """macOS knows each machine by a UUID of its own (gethostuuid(3))."""
    named, wait = ctypes.create_string_buffer(16), (ctypes.c_long * 2)(1, 0)
    try:
        failed = ctypes.CDLL(None).gethostuuid(named, wait)
    except (OSError, AttributeError):
        return b""
    return b"" if failed else named.raw
