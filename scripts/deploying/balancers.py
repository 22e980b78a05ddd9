"""The balancers' configurations: valid, and nobody comes in through them without a token."""

from __future__ import annotations

import contextlib
import resource
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
from websockets.sync.client import connect

from scripts.bench.fleet.balancers import HAPROXY_NAME, NGINX_NAME, Balancer, started
from scripts.bench.fleet.replicas import TOKEN, Replica, fleet
from scripts.deploying.certificate import self_signed
from scripts.deploying.part import PartFailed, passes, require
from scripts.deploying.shipped import (
    HAPROXY,
    SCALE,
    Ports,
    haproxy_config,
    nginx_config,
    nginx_sites,
)
from scripts.paths import ROOT
from split_wire.messages import SUBPROTOCOL

_IDLE = 1024
# Of that, both checks of a second fail several times.
_WATCHED_SECONDS = 6.0
_LISTEN = "127.0.0.1:18443"
_PORTS = (Ports(8101, 9101), Ports(8102, 9102))


def check_haproxy() -> str:
    """``haproxy -c``, warnings included. Raises PartFailed, NotHere."""
    require("haproxy", "the package haproxy")
    with _folder() as folder:
        accepted_by_haproxy(
            haproxy_config(HAPROXY.read_text(), _LISTEN, _PORTS, folder, self_signed(folder)),
            folder,
        )
    return passes(["haproxy", "-v"]).splitlines()[0]


def accepted_by_haproxy(text: str, folder: Path) -> None:
    """Raises PartFailed where HAProxy does not take the configuration ``text`` as it is."""
    file = folder / "haproxy.cfg"
    # Where nothing is logged, the format of the log would be a warning.
    file.write_text(text.replace("global\n", "global\n    log stdout format raw local0\n", 1))
    passes(["haproxy", "-c", "-dW", "-f", str(file)])


def check_nginx() -> str:
    """``nginx -t`` of each configuration in the docs. Raises PartFailed, NotHere."""
    require("nginx", "the package nginx-light")
    sites = [
        site for page in (SCALE, ROOT / "docs" / "operations.md") for site in nginx_sites(page)
    ]
    with _folder() as folder:
        for number, site in enumerate(sites):
            file = folder / f"nginx-{number}.conf"
            certificate = self_signed(folder)
            file.write_text(nginx_config(site, _LISTEN, _PORTS, folder, certificate))
            passes(["nginx", "-t", "-p", str(folder), "-c", str(file)])
    return f"{len(sites)} configurations, {passes(['nginx', '-v']).strip()}"


def check_doors() -> str:
    """Two replicas behind each balancer. Raises PartFailed, NotHere."""
    require("haproxy", "the package haproxy")
    require("nginx", "the package nginx-light")
    with _folder() as folder, fleet(2, folder) as replicas:
        for name in (HAPROXY_NAME, NGINX_NAME):
            with started(name, folder, replicas) as balancer:
                _closed_to_strangers(balancer)
                _carries_plain_frames(balancer)
                if name == HAPROXY_NAME:
                    idle_connections_mark_nothing_down(balancer, replicas[0])
    return (
        "401 without a token, 404 for figures, no compression, through HAProxy and nginx; "
        f"{_IDLE:,} idle connections mark no replica down"
    )


def _closed_to_strangers(balancer: Balancer) -> None:
    for path, headers, wanted in (
        ("/weights/manifest.json", {}, 401),
        ("/weights/manifest.json", {"Authorization": f"Bearer {TOKEN}"}, 200),
        ("/weights/manifest.json", {"X-Forwarded-For": "127.0.0.1"}, 401),
        ("/metrics", {"Authorization": f"Bearer {TOKEN}"}, 404),
        ("/%6detrics", {"Authorization": f"Bearer {TOKEN}"}, 404),
    ):
        with httpx.Client(trust_env=False, timeout=10) as client:
            found = client.get(balancer.url + path, headers=headers).status_code
        if found != wanted:
            raise PartFailed(f"{balancer.name}: {path} is {found} in place of {wanted}")


def _carries_plain_frames(balancer: Balancer) -> None:
    """A client that offers compression is not taken at its word."""
    with connect(
        f"ws{balancer.url.removeprefix('http')}/api/v1/split/stream?s=abc",
        subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]
        additional_headers={"Authorization": f"Bearer {TOKEN}"},
        compression="deflate",
        proxy=None,
    ) as socket:
        if socket.protocol.extensions:
            raise PartFailed(f"{balancer.name}: {socket.protocol.extensions} was agreed on")


def idle_connections_mark_nothing_down(balancer: Balancer, replica: Replica) -> None:
    """As many as a replica takes, past the balancer. Raises PartFailed."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4 * _IDLE), hard))
    with contextlib.ExitStack() as stack:
        for _ in range(_IDLE):
            address = ("127.0.0.1", replica.ports.port)
            stack.enter_context(socket.create_connection(address, 10))
        deadline = time.monotonic() + _WATCHED_SECONDS
        while time.monotonic() < deadline:
            if any(state != "UP" for state in balancer.states().values()):
                raise PartFailed(f"idle connections mark replicas down: {balancer.states()}")
            time.sleep(0.1)


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)
