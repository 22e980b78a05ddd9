"""A server on TLS behind the real relay, and what a phone gets to reach it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from split_server.pairing.commands import invitation
from split_server.pairing.state import StateFolder
from tests.end_to_end.relays import running_relay
from tests.server_process import RunningServer, running_server
from tests.web.browsing import trusting


@dataclass
class SecureServer:
    """``url``: the relay's, over https; ``browser`` trusts the server's authority."""

    server: RunningServer
    url: str
    state: Path
    browser: Browser

    def link(self) -> str:
        """A fresh pairing link, as the QR code holds it."""
        return invitation(StateFolder(self.state), self.url, time.time()).link

    def forgive(self) -> None:
        """Forget attempts to pair: how many there may be in a minute is another test's subject."""
        assert self.server.doorway.pairing is not None
        self.server.doorway.pairing._attempts.clear()


@contextmanager
def secure_server(folder: Path, **settings: Any) -> Iterator[SecureServer]:
    """A server on TLS, its state in ``folder``, the relay in front, a browser that trusts it."""
    state = folder / "state"
    with running_server(tls="on", state=state, **settings) as server:
        pairing = server.doorway.pairing
        assert pairing is not None
        assert pairing.authority is not None
        authority = folder / "ca.crt"
        authority.write_bytes(pairing.authority.der)
        with running_relay(server.port) as relay, trusting(authority, folder / "home") as browser:
            url = relay.replace("http://", "https://")
            yield SecureServer(server, url, state, browser)
