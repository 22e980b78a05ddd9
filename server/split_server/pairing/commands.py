"""``split-server pair`` and ``split-server devices``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from split_server.errors import ServerError
from split_server.pairing.beacon import Running, running
from split_server.pairing.certificate import utc_now, vouched_for
from split_server.pairing.codes import PairingCodes
from split_server.pairing.devices import DeviceBook
from split_server.pairing.invitation import Invitation
from split_server.pairing.local_ca import CERTIFICATE, LocalAuthority
from split_server.pairing.state import StateFolder
from split_settings import add_arguments, option, settings


class NoServer(ServerError):
    """Nobody said under which address devices find the server."""

    code = "no_server"


class AddressNotVouched(ServerError):
    """The certificate of the server is for none of its addresses, so a device would refuse it."""

    code = "address_not_vouched"

    def __init__(self, addresses: Sequence[str]) -> None:
        super().__init__(
            f"the local authority cannot vouch for {', '.join(addresses)}, no address of a local "
            "network, and devices refuse a server there. Join a local network, or give the server "
            "a certificate of your own (--tls-cert FILE --tls-key FILE) and then run split-server "
            "pair --url https://NAME:PORT with a name of it"
        )


@settings("server")
class StateConfig:
    """Setting of the folder that keeps the server's authority and its devices; as of ``serve``."""

    state: Path | None = option(
        None, help="folder of the local authority, certificates and paired devices", metavar="DIR"
    )


def add_pairing_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The parsers of both commands."""
    pair = commands.add_parser("pair", help="make a one-time code and show it as a QR code")
    pair.add_argument(
        "--url", help="address under which the device finds the server, a relay's for example"
    )
    add_arguments(pair, StateConfig)
    devices = commands.add_parser("devices", help="list or revoke paired devices")
    devices.add_argument("action", choices=("list", "revoke"), nargs="?", default="list")
    devices.add_argument("device", nargs="?", help="name or id of the one to revoke")
    add_arguments(devices, StateConfig)


def invitation(state: StateFolder, url: str | None, now: float) -> Invitation:
    """A fresh code for the server of ``state``: under ``url``, the address that it was given for
    devices, or the first one that its certificate is for.

    Raises StateUnusable, NoServer, AddressNotVouched.
    """
    last = running(state)
    local = state.read(CERTIFICATE) is not None and last.local is not False
    address = _named(url) if url else last.public or _address(state, last, local=local)
    doubt = ""
    if local and not vouched_for(state, _host(address), last.replicas):
        # What the operator calls public shows a certificate of its own.
        local, doubt = (True, _doubt(address)) if url else (False, "")
    fingerprint = LocalAuthority.open(state, utc_now()).fingerprint if local else None
    return Invitation(address, PairingCodes(state).make(now), fingerprint, doubt)


def _named(url: str) -> str:
    """Raises NoServer."""
    if not url.startswith(("https://", "http://")) or not _host(url):
        raise NoServer(f"{url!r} is not an address; write it like https://192.168.1.7:8095")
    return url.rstrip("/")


def _address(state: StateFolder, last: Running, *, local: bool) -> str:
    """The first address of the servers that a device will believe.

    Raises NoServer, AddressNotVouched.
    """
    if not last.urls:
        raise NoServer(
            "no server that pairs devices has run with this state folder, or its machine was on no "
            "network; start one with split-server serve --lan (a replica with --tls on), or name "
            "its address with --url"
        )
    for url in last.urls:
        if not local or vouched_for(state, _host(url), last.replicas):
            return url
    raise AddressNotVouched([_host(url) for url in last.urls])


def _doubt(url: str) -> str:
    return (
        f"warning: the server's own certificate is not for {_host(url)}; unless what answers there "
        "shows another one, devices refuse it. serve --allow-host NAME adds an address or a name "
        "of a local network, --tls-cert and --tls-key bring a certificate for any"
    )


def _host(url: str) -> str:
    """Empty where it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def devices_lines(state: StateFolder, action: str, which: str | None) -> list[str]:
    """List, or revoke one. Raises StateUnusable, UnknownDevice."""
    book = DeviceBook(state)
    if action == "revoke":
        device = book.revoke(which or "")
        return [f"revoked {device.name} ({device.id}); it is cut off within a second"]
    found = book.devices()
    if not found:
        return ["no device is paired; split-server pair makes a code"]
    return [f"{device.id}  {_day(device.paired)}  {device.name}" for device in found]


def _day(seconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
