"""Servers that this device was paired with: the authority that each is pinned to, and our token.

Like the known hosts of SSH: whatever talks to such a server trusts its pinned authority and no
other. The file belongs to its owner alone, since it holds tokens. Beside them lie the routing ids
of these and of other servers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from split_client.errors import ClientError
from split_client.owner_file import data_folder, write_whole
from split_client.transport.endpoint import Endpoint
from split_client.transport.routing.ids import is_id, new_id
from split_files import is_version, parse_document, read_regular, take_lock

FILE = "servers.json"
_LOCK = "servers.lock"
_MAX_BYTES = 1 << 20
_VERSION = 1
# Servers whose routing ids are kept; of more, those that were made first go.
_MOST_ROUTED = 64


class KnownServersDamaged(ClientError):
    """The file of paired servers cannot be used."""

    code = "known_servers_damaged"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}; repair or remove it, then pair again")


@dataclass(frozen=True, slots=True)
class KnownServer:
    """``authority``: host and port; ``ca``: PEM of its pinned authority, None with a public one;
    ``name`` and ``id`` are what the server calls this device.
    """

    authority: str
    token: str
    ca: str | None
    name: str
    id: str


@dataclass(slots=True)
class _Document:
    """``routing``: the routing id for each authority."""

    servers: list[KnownServer] = field(default_factory=list)
    routing: dict[str, str] = field(default_factory=dict)


class KnownServers:
    """The servers of one file."""

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (folder or data_folder()) / FILE

    def find(self, endpoint: Endpoint) -> KnownServer | None:
        """The paired server at ``endpoint``, over TLS or as a proxy shows it.

        Raises KnownServersDamaged.
        """
        wanted = _authority(endpoint)
        return next((server for server in self.all() if server.authority == wanted), None)

    def all(self) -> list[KnownServer]:
        """All of them. Raises KnownServersDamaged."""
        return self._read().servers

    def remember(self, endpoint: Endpoint, token: str, ca: str | None, name: str, id: str) -> None:
        """Add a server, in place of an earlier pairing with it. Raises KnownServersDamaged."""
        server = KnownServer(_authority(endpoint), token, ca, name, id)
        with self._changing() as document:
            kept = [other for other in document.servers if other.authority != server.authority]
            document.servers = [*kept, server]
            document.routing.pop(server.authority, None)

    def forget(self, endpoint: Endpoint) -> bool:
        """Whether there was one to forget. Raises KnownServersDamaged."""
        authority = _authority(endpoint)
        if all(server.authority != authority for server in self.all()):
            return False
        with self._changing() as document:
            document.servers = [one for one in document.servers if one.authority != authority]
            document.routing.pop(authority, None)
        return True

    def routing_id(self, endpoint: Endpoint) -> str:
        """The routing id for the server at ``endpoint``, made where there is none.

        Where it cannot be kept, it is another one each time.
        """
        with suppress(KnownServersDamaged):
            found = self._read().routing.get(_authority(endpoint))
            return found or self._routed(endpoint, anew=False)
        return new_id()

    def route_anew(self, endpoint: Endpoint) -> str:
        """Another routing id for that server, kept as far as it can be."""
        with suppress(KnownServersDamaged):
            return self._routed(endpoint, anew=True)
        return new_id()

    def _routed(self, endpoint: Endpoint, *, anew: bool) -> str:
        authority = _authority(endpoint)
        with self._changing() as document:
            # Of two programs that start at once both use what was written first.
            found = None if anew else document.routing.get(authority)
            id = found or new_id()
            document.routing.pop(authority, None)
            kept = [*document.routing.items(), (authority, id)]
            document.routing = dict(kept[-_MOST_ROUTED:])
        return id

    def _read(self) -> _Document:
        try:
            return _parsed(parse_document(read_regular(self.path, _MAX_BYTES)))
        except FileNotFoundError:
            return _Document()
        except OSError as error:
            raise KnownServersDamaged(self.path, error.strerror or "cannot be read") from error
        except (ValueError, KeyError, TypeError) as error:
            raise KnownServersDamaged(self.path, "it is damaged") from error

    @contextmanager
    def _changing(self) -> Iterator[_Document]:
        """What is in the file, to be changed and written back; one program at a time does so.

        Raises KnownServersDamaged.
        """
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = take_lock(self.path.with_name(_LOCK))
        except OSError as error:
            raise KnownServersDamaged(self.path, error.strerror or "cannot be written") from error
        with lock:
            document = self._read()
            yield document
            self._write(document)

    def _write(self, document: _Document) -> None:
        written = {
            "version": _VERSION,
            "servers": [asdict(server) for server in document.servers],
            "routing": document.routing,
        }
        try:
            write_whole(self.path, json.dumps(written, indent=1).encode())
        except OSError as error:
            raise KnownServersDamaged(self.path, error.strerror or "cannot be written") from error


def _authority(endpoint: Endpoint) -> str:
    return f"{endpoint.host.lower()}:{endpoint.port}"


def _parsed(document: Any) -> _Document:
    if not is_version(document["version"], _VERSION):
        raise ValueError
    servers = [_server(entry) for entry in document["servers"]]
    # One that is damaged costs nothing: another is made.
    routing = document.get("routing")
    found = routing.items() if isinstance(routing, dict) else ()
    kept = {name: id for name, id in found if isinstance(name, str) and is_id(id)}
    return _Document(servers, kept)


def _server(entry: object) -> KnownServer:
    """What was written once goes into headers, a terminal and OpenSSL: plain text alone."""
    match entry:
        case {
            "authority": str(authority),
            "token": str(token),
            "ca": str() | None as ca,
            "name": str(name),
            "id": str(identity),
        } if all(map(str.isprintable, (authority, token, name, identity))) and (ca or "").isascii():
            return KnownServer(authority, token, ca, name, identity)
    raise ValueError
