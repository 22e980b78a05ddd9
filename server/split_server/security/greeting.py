"""What a server prints once it listens: its token if it made one, warnings, its addresses."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence

from split_server.security.access import AccessPolicy
from split_server.security.host import lan_addresses


def greeting(policy: AccessPolicy, sockets: Sequence[socket.socket]) -> list[str]:
    """The lines, the last of them ``listening on URL`` for each socket."""
    lines = []
    if policy.made is not None:
        lines.append(f"token: {policy.made}")
    if policy.open_to_network:
        lines.append("warning: --no-auth lets everyone who can reach this address in")
    for opened in sockets:
        host, port = opened.getsockname()[:2]
        name = f"[{host}]" if ":" in host else host
        if ipaddress.ip_address(host).is_unspecified:
            lines += [f"reachable at http://{other}:{port}" for other in lan_addresses()]
        lines.append(f"listening on http://{name}:{port}")
    return lines
