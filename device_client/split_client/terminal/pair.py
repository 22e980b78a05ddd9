"""``split-client pair``: this device and one server."""

from __future__ import annotations

import getpass
import platform
import sys
from dataclasses import dataclass

from split_client.pairing.link import PairingLink
from split_client.pairing.pair import pair
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.transport.endpoint import Endpoint
from split_client.transport.known import KnownServers


def run_pair(text: str, code: str | None, name: str | None, screen: Screen) -> None:
    """Pair with the server of a link. Raises the errors of :func:`split_client.pairing.pair`."""
    if code is None and "#" not in text and sys.stdin.isatty():
        code = getpass.getpass("pairing code: ").strip()
    link = PairingLink.parse(text, code)
    known = pair(link, name or _own_name(), KnownServers(), lambda mark: _confirm(mark, screen))
    screen.note(f"paired as {one_line(known.name)}; the token is kept on this device")
    screen.note(f"split-client chat --url {link.endpoint.url}")


def run_unpair(url: str, screen: Screen) -> None:
    """Forget a server's authority and token."""
    endpoint = Endpoint.parse(url)
    if KnownServers().forget(endpoint):
        screen.note(f"forgot {endpoint.authority}; the server revokes with split-server devices")
    else:
        screen.note(f"this device is not paired with {endpoint.authority}")


@dataclass(frozen=True, slots=True)
class OwnToken:
    """``paired``: whether it is the one of this device's pairing with the server."""

    text: str | None
    paired: bool = False


def own_token(given: str | None, url: str) -> OwnToken:
    """The ``given`` token, else that of the paired server at ``url``.

    Raises UrlInvalid, KnownServersDamaged.
    """
    if given:
        return OwnToken(given)
    token = paired_token(url)
    return OwnToken(token, token is not None)


def paired_token(url: str) -> str | None:
    """The token of the paired server at ``url``. Raises UrlInvalid, KnownServersDamaged."""
    known = KnownServers().find(Endpoint.parse(url))
    return None if known is None else known.token


def _own_name() -> str:
    return platform.node() or "terminal"


def _confirm(fingerprint: bytes, screen: Screen) -> bool:
    if not sys.stdin.isatty():
        return False
    text = fingerprint[:16].hex()
    groups = " ".join(text[start : start + 4] for start in range(0, len(text), 4))
    screen.note("the link has no fingerprint; compare with what the server's terminal shows:")
    screen.note(f"certificate authority {groups}")
    return input("is it the same? [y/N] ").strip().lower() in ("y", "yes")
