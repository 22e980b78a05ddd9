"""``split-server pair`` and ``split-server devices``."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from split_server.errors import ServerError
from split_server.pairing.beacon import urls_left
from split_server.pairing.certificate import utc_now
from split_server.pairing.codes import PairingCodes
from split_server.pairing.devices import DeviceBook
from split_server.pairing.invitation import Invitation
from split_server.pairing.local_ca import CERTIFICATE, LocalAuthority
from split_server.pairing.state import StateFolder
from split_settings import add_arguments, option, settings


class NoServer(ServerError):
    """Nobody said under which address devices find the server."""

    code = "no_server"


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
    """A fresh code for the server of ``state``. Raises StateUnusable, NoServer."""
    urls = [url.rstrip("/")] if url else urls_left(state)
    if not urls:
        raise NoServer(
            "no server has run with this state folder; start one with split-server serve --lan, "
            "or name its address with --url"
        )
    local = state.read(CERTIFICATE) is not None
    authority = LocalAuthority.open(state, utc_now()) if local else None
    code = PairingCodes(state).make(now)
    return Invitation(urls[0], code, None if authority is None else authority.fingerprint)


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
