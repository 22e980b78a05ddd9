"""The server's address: one URL, taken apart once."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import httpx

from split_client.errors import ClientError
from split_wire.fields import is_name

DEFAULT_URL = "http://127.0.0.1:8095"
_PORTS = {"http": 80, "https": 443}
# One model of a server that has several (docs/protocol.md).
_OF_MODEL = re.compile(r"(?P<root>.*)/m/(?P<name>[A-Za-z0-9_-][A-Za-z0-9._-]{0,63})")
_SCHEMES = {"http": "http", "https": "https", "ws": "http", "wss": "https"}


class UrlInvalid(ClientError):
    """Text that is not the address of a server."""

    code = "url_invalid"

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url!r} is not a server's URL: {reason}; write it like {DEFAULT_URL}")


class ModelNameInvalid(ClientError):
    """Text that no server has a model by."""

    code = "model_name_invalid"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name[:80]!r} is not the name of a model: 1 to 64 letters, digits, '.', '_' and '-', "
            "no '.' first; split-client models lists those of a server"
        )


@dataclass(frozen=True, slots=True)
class Endpoint:
    """``path`` is a prefix without a final slash, empty at the root; one that ends with
    ``/m/NAME`` is that of one model of several.
    """

    secure: bool
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, url: str) -> Endpoint:
        """Read a URL; ``host:port`` means http. Raises UrlInvalid."""
        text = url.strip()
        try:
            parts = urlsplit(text if "://" in text else f"http://{text}")
        except ValueError:
            raise UrlInvalid(url, "the host is not a name or an address") from None
        scheme = _SCHEMES.get(parts.scheme)
        if scheme is None:
            raise UrlInvalid(url, "only http and https are spoken")
        try:
            host, port = parts.hostname, parts.port
        except ValueError:
            raise UrlInvalid(url, "the port is not a number up to 65535") from None
        if not host or any(ord(c) <= 32 or ord(c) == 127 for c in text):
            raise UrlInvalid(url, "the host is missing")
        if parts.query or parts.fragment or parts.username is not None:
            raise UrlInvalid(url, "it has more than a host, a port and a path")
        path = parts.path.rstrip("/")
        endpoint = cls(scheme == "https", host, port or _PORTS[scheme], path)
        if not _can_be_looked_up(endpoint):
            raise UrlInvalid(url, "the host is not a name or an address")
        return endpoint

    @property
    def authority(self) -> str:
        """Host and port as a URL has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self._scheme] else f"{host}:{self.port}"

    @property
    def host_and_port(self) -> str:
        """The same with the port in any case, which another scheme needs."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The base that paths are appended to."""
        return f"{self._scheme}://{self.authority}{self.path}"

    def routed(self, path: str, routing: str | None) -> str:
        """The URL of ``path`` with a routing id, None: without one."""
        return self.url + path if routing is None else f"{self.url}{path}?s={routing}"

    @property
    def model(self) -> str | None:
        """The name of the model that the path has; None at the root, where the first one is."""
        found = _OF_MODEL.fullmatch(self.path)
        return None if found is None else found["name"]

    @property
    def root(self) -> Endpoint:
        """The server itself, whichever model the path has."""
        found = _OF_MODEL.fullmatch(self.path)
        return self if found is None else replace(self, path=found["root"])

    def of_model(self, name: str | None) -> Endpoint:
        """The model ``name`` of the same server; None: as it is. Raises ModelNameInvalid."""
        if name is None:
            return self
        if not is_name(name):
            raise ModelNameInvalid(name)
        return replace(self, path=f"{self.root.path}/m/{name}")

    @property
    def is_loopback(self) -> bool:
        """Whether the server is this machine, where no proxy belongs between."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def _scheme(self) -> str:
        return "https" if self.secure else "http"


def _can_be_looked_up(endpoint: Endpoint) -> bool:
    """Whether a look-up and the HTTP library take the host, which otherwise raise in mid-request.

    Labels of a name are not empty and short, and those that begin with ``xn--`` are such names
    (RFC 5890); the whole URL has a form in UTF-8.
    """
    try:
        endpoint.host.encode("idna")
        return bool(httpx.URL(endpoint.url).host)
    except (UnicodeError, httpx.InvalidURL):
        return False
