"""Paired devices: who they are, by the hashes of their tokens, and revoking them.

The book is a file of the state folder, so that ``split-server devices`` in another process sees and
changes what the running server goes by.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hmac import compare_digest
from pathlib import Path

from split_files import is_version, parse_document
from split_server.pairing.errors import StateUnusable, UnknownDevice
from split_server.pairing.lock import held
from split_server.pairing.state import StateFolder
from split_server.security.tokens import make_token

FILE = "devices.json"
MAX_DEVICES = 256
_MAX_NAME = 40
_VERSION = 1
_NOT_SHOWN = re.compile(r"[^\w .,'()+-]+")


@dataclass(frozen=True, slots=True)
class Device:
    """``paired``: seconds since 1970. ``token_sha256``: of its bearer token, hexadecimal."""

    id: str
    name: str
    paired: int
    token_sha256: str

    @property
    def principal(self) -> str:
        """The principal of its sessions."""
        return f"device:{self.id}"


def identified(devices: Iterable[Device], token: str) -> Device | None:
    """The one of ``devices`` that has ``token``."""
    given = _hash(token)
    found = None
    # Every hash is compared, so the time does not depend on which one matches.
    for device in devices:
        if compare_digest(device.token_sha256, given):
            found = device
    return found


class DeviceBook:
    """Reads its file again when another process has changed it."""

    def __init__(self, state: StateFolder) -> None:
        self._state = state
        self._lock = threading.Lock()
        self._seen: object = object()
        self._devices: tuple[Device, ...] = ()

    @property
    def path(self) -> Path:
        """Of its file."""
        return self._state.file(FILE)

    def devices(self) -> tuple[Device, ...]:
        """All that are paired, in the order in which they were. Raises StateUnusable."""
        with self._lock:
            version = self._state.version(FILE)
            if version is None:
                # A disk that is not there has no book, and nobody was revoked by that.
                self._state.require_there()
            if version != self._seen:
                self._devices = _read(self._state)
                self._seen = version
            return self._devices

    def identify(self, token: str) -> Device | None:
        """The device that has ``token``. Raises StateUnusable."""
        return identified(self.devices(), token)

    def add(self, name: str, now: float) -> tuple[Device, str]:
        """Pair a device; the second value is its token, which is kept nowhere else.

        Of more than 256 devices the oldest goes. Raises StateUnusable.
        """
        token = make_token()
        with self._changing() as devices:
            shown = _free_name(_clean(name), {device.name for device in devices})
            device = Device(secrets.token_hex(4), shown, int(now), _hash(token))
            devices.append(device)
            del devices[:-MAX_DEVICES]
        return device, token

    def revoke(self, which: str) -> Device:
        """Forget the device of that name or id. Raises UnknownDevice, StateUnusable."""
        with self._changing() as devices:
            found = [device for device in devices if which in (device.name, device.id)]
            if not found:
                raise UnknownDevice(which)
            devices.remove(found[0])
        return found[0]

    @contextmanager
    def _changing(self) -> Iterator[list[Device]]:
        with held(self._state, FILE):
            devices = list(_read(self._state))
            yield devices
            document = {"version": _VERSION, "devices": [asdict(device) for device in devices]}
            self._state.write(FILE, json.dumps(document, indent=1).encode())


def _read(state: StateFolder) -> tuple[Device, ...]:
    data = state.read(FILE)
    if data is None:
        return ()
    try:
        document = parse_document(data)
        if not is_version(document["version"], _VERSION):
            raise StateUnusable(state.file(FILE), "another version wrote it")
        return tuple(_device(entry) for entry in document["devices"])
    # A damaged book must not let anybody in, nor be replaced by an empty one.
    except (ValueError, KeyError, TypeError) as error:
        raise StateUnusable(state.file(FILE), "it is damaged") from error


def _device(entry: object) -> Device:
    match entry:
        case {
            "id": str(identity),
            "name": str(name),
            "paired": int(paired),
            "token_sha256": str(digest),
        }:
            return Device(identity, _clean(name), paired, digest)
    raise ValueError


def _clean(name: str) -> str:
    """One short line without control characters."""
    return " ".join(_NOT_SHOWN.sub(" ", name).split())[:_MAX_NAME].strip() or "device"


def _free_name(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    return next(
        free for number in range(2, MAX_DEVICES + 2) if (free := f"{name} {number}") not in taken
    )


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
