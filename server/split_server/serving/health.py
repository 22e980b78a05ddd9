"""``split-server health``: whether the server of this machine answers, for health checks.

It asks the address that the server left in its ``--address-file``, and without one the address
that the same settings give a server.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import ssl
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from split_files import parse_document, read_regular
from split_server.errors import ServerError
from split_server.security.public import READY_PATH
from split_server.serving.config import ServerConfig
from split_server.serving.doorway import wants_tls

SECONDS = 4.0
_MAX_BYTES = 64 << 10
_READY = {"status": "ready"}


class Unhealthy(ServerError):
    """The server does not answer, or says that it does not serve."""

    code = "unhealthy"

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url}: {reason}; the server's own log says more")


class AddressFileUnusable(ServerError):
    """The file of ``--address-file`` cannot be written or read."""

    code = "address_file_unusable"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}; name another file with --address-file")


def leave_addresses(path: Path, urls: Sequence[str]) -> None:
    """Say in ``path`` where the server listens; without ``urls``: nowhere yet.

    Raises AddressFileUnusable.
    """
    try:
        path = path.expanduser()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(json.dumps({"urls": list(urls)}) + "\n")
    except RuntimeError as error:
        raise AddressFileUnusable(path, "nobody has such a home folder") from error
    except OSError as error:
        raise AddressFileUnusable(path, error.strerror or "cannot be written") from error


def require_health(config: ServerConfig, seconds: float = SECONDS) -> str:
    """The URL of the server of ``config`` that answered within ``seconds``.

    Its certificate is not verified: the question goes to this machine and carries nothing.
    Raises Unhealthy, AddressFileUnusable.
    """
    url = address_of(config)
    try:
        status, body = _asked(url, seconds)
        answer = json.loads(body)
    except (OSError, http.client.HTTPException) as error:
        raise Unhealthy(url, f"no answer ({error or type(error).__name__})") from error
    except (ValueError, RecursionError):
        raise Unhealthy(url, "an answer of something else") from None
    if status != http.client.OK or answer != _READY:
        raise Unhealthy(url, f"it is not ready (HTTP status {status})")
    return url


def address_of(config: ServerConfig) -> str:
    """The URL under which this machine reaches the server of ``config``.

    Raises Unhealthy, AddressFileUnusable.
    """
    return _left(config.address_file) or _expected(config)


def _asked(url: str, seconds: float) -> tuple[int, bytes]:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port
    if parts.scheme == "https":
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            host, port, timeout=seconds, context=context
        )
    else:
        connection = http.client.HTTPConnection(host, port, timeout=seconds)
    try:
        connection.request("GET", READY_PATH)
        answer = connection.getresponse()
        return answer.status, answer.read(_MAX_BYTES)
    finally:
        connection.close()


def _left(path: Path | None) -> str | None:
    """The first address that a server left in ``path``, None where none did."""
    if path is None:
        return None
    try:
        urls = parse_document(read_regular(path.expanduser(), _MAX_BYTES))["urls"]
        first = here(str(urls[0])) if urls else None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise AddressFileUnusable(path, error.strerror or "cannot be read") from error
    except (ValueError, LookupError, TypeError) as error:
        raise AddressFileUnusable(path, "it holds no address") from error
    if first is None:
        raise Unhealthy(str(path), "the server does not listen yet")
    return first


def _expected(config: ServerConfig) -> str:
    host = f"[{config.host}]" if ":" in config.host else config.host
    scheme = "https" if wants_tls(config, lan=config.lan) else "http"
    return here(f"{scheme}://{host}:{config.port}")


def here(url: str) -> str:
    """``url`` as this machine reaches it: loopback in place of every address. Raises ValueError."""
    parts = urlsplit(url)
    host = parts.hostname
    if parts.scheme not in ("http", "https") or not host or parts.port is None:
        raise ValueError(url)
    try:
        unspecified = ipaddress.ip_address(host).is_unspecified
    except ValueError:
        unspecified = False
    if unspecified:
        host = "::1" if ":" in host else "127.0.0.1"
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}:{parts.port}"
