"""Servers that this device was paired with: the authority that each is pinned to, and our token.

Like the known hosts of SSH: whatever talks to such a server trusts its pinned authority and no
other. The file belongs to its owner alone, since it holds tokens.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from split_client.errors import ClientError
from split_client.owner_file import data_folder, write_whole
from split_client.transport.endpoint import Endpoint
from split_files import is_version, parse_document, read_regular

FILE = "servers.json"
_MAX_BYTES = 1 << 20
_VERSION = 1


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
        try:
            document = parse_document(read_regular(self.path, _MAX_BYTES))
            return _servers(document)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise KnownServersDamaged(self.path, error.strerror or "cannot be read") from error
        except (ValueError, KeyError, TypeError) as error:
            raise KnownServersDamaged(self.path, "it is damaged") from error

    def remember(self, endpoint: Endpoint, token: str, ca: str | None, name: str, id: str) -> None:
        """Add a server, in place of an earlier pairing with it. Raises KnownServersDamaged."""
        server = KnownServer(_authority(endpoint), token, ca, name, id)
        kept = [other for other in self.all() if other.authority != server.authority]
        self._write([*kept, server])

    def forget(self, endpoint: Endpoint) -> bool:
        """Whether there was one to forget. Raises KnownServersDamaged."""
        known = self.all()
        kept = [server for server in known if server.authority != _authority(endpoint)]
        if len(kept) == len(known):
            return False
        self._write(kept)
        return True

    def _write(self, servers: list[KnownServer]) -> None:
        document = {"version": _VERSION, "servers": [asdict(server) for server in servers]}
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self.path, json.dumps(document, indent=1).encode())
        except OSError as error:
            raise KnownServersDamaged(self.path, error.strerror or "cannot be written") from error


def _authority(endpoint: Endpoint) -> str:
    return f"{endpoint.host.lower()}:{endpoint.port}"


def _servers(document: Any) -> list[KnownServer]:
    if not is_version(document["version"], _VERSION):
        raise ValueError
    return [_server(entry) for entry in document["servers"]]


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
