"""The process of ``split-server serve``: address, TLS, signals, and what it tells its operator.

The application knows none of them (``split_server.serving.app``).
"""

from __future__ import annotations

import logging
import os
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

from starlette.types import ASGIApp

from split_server.engine.model.openmp import prepare_openmp
from split_server.http.wire.graceful import Beside, GracefulServer, Leaving
from split_server.http.wire.server import listening, uvicorn_config
from split_server.http.wire.side_door import Marked
from split_server.memory.allocator import share_one_heap
from split_server.pairing.beacon import leave
from split_server.pairing.codes import LIFETIME
from split_server.pairing.commands import AddressNotVouched, invitation
from split_server.pairing.state import StateFolder
from split_server.security.access import ConflictingAccess
from split_server.security.authority import Authority, parse_authority
from split_server.serving.config import ServerConfig
from split_server.serving.doorway import Doorway, door_limits, open_doorway
from split_server.serving.garbage_collection import leave_out_what_is_loaded
from split_server.serving.greeting import (
    PRIVACY,
    Say,
    contained,
    device_urls,
    greeting,
    listening_urls,
)
from split_server.serving.health import leave_addresses
from split_server.serving.interrupts import Terminated, heeding_interrupts
from split_server.serving.lifecycle.aside import running_aside
from split_server.serving.lifecycle.gate import Gate
from split_server.serving.lifecycle.ops import ops_listening, ops_urls
from split_server.serving.logs import configure_logs
from split_server.serving.models.naming import models_of, opening
from split_server.serving.opened import open_all
from split_server.serving.presence import About, Presence, present
from split_server.serving.settings.replica import require_replica
from split_server.serving.upkeep import certificate_upkeep

if TYPE_CHECKING:
    from split_server.serving.app import SplitApp

_MOUNTED = (
    "adapter host below /adapter-host: it hides nothing from this server, where the hidden states "
    "come from; for that, run 'split-server adapters' where somebody else does"
)
_NO_NETWORK = (
    "no QR code: this machine has no address that a phone could reach; join a network and start "
    "again"
)
_WEB = "web app: open an address below in a browser"


def serve(config: ServerConfig, say: Say) -> int:
    """Run until a signal; the exit status. ``say`` takes lines for the operator.

    Raises ServerError.
    """
    configure_logs(config.log_format, config.log_level)
    ran: SplitApp | None = None
    address = ollama_address(config)
    doorway = open_doorway(config, lan=config.lan, beside=None if address is None else address.host)
    require_replica(config, doorway.policy, adapter_host=config.adapter_host)
    gate = Gate()
    # A heap that exists stays, and the server's thread would have one of its own.
    share_one_heap()
    # A port in use and a wrong folder are told before torch is imported and a model loaded, which
    # takes seconds.
    with (
        listening(doorway.host, config.port) as sockets,
        _listening_beside(address) as others,
        ops_listening(config, doorway.policy, gate) as ops,
        present() as presence,
    ):
        if config.address_file is not None:
            leave_addresses(config.address_file, [])
        beside = (*beside_of(doorway, gate, others), *ops)
        server = _server(config, doorway, gate, beside)
        with suppress(Terminated), running_aside(server, sockets) as aside:
            with heeding_interrupts():
                if aside.ending:
                    raise Terminated
                app = ran = _load(config, doorway, presence)
            leave_out_what_is_loaded()
            say([*_models(app)])

            def announce() -> None:
                # Whoever reads that it listens finds it.
                presence.begin(_about(config, app, device_urls(doorway, sockets)))
                if config.address_file is not None:
                    leave_addresses(config.address_file, listening_urls(doorway, sockets))
                say([*_missing(config, app), *_mounted(app), PRIVACY])
                say(f"health and metrics alone on {url}" for url in ops_urls(ops))
                say([*contained(config.hosts, doorway), *greeting(doorway, sockets, others)])
                say(invited(config, doorway, sockets))

            gate.hand_over(app, announce)
            aside.wait()
    if ran is not None and ran.rooms.at_work:
        _end_at_once()
    return 0


def _end_at_once() -> NoReturn:
    """End beside a load that was given up: the libraries that it is in abort where the interpreter
    ends under them.
    """
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)


def _load(config: ServerConfig, doorway: Doorway, presence: Presence) -> SplitApp:
    prepare_openmp()
    first, *others = models_of(config)
    with opening(first.name, several=bool(others)):
        opened = open_all(first.config)
    from split_server.serving.app import build_app

    upkeep = (*certificate_upkeep(doorway.certificate), presence.upkeep())
    return build_app(config, doorway.policy, doorway.pairing, upkeep, opened)


def _server(
    config: ServerConfig, doorway: Doorway, gate: Gate, beside: Sequence[Beside]
) -> GracefulServer:
    """What runs ``gate``, and later the application behind it."""
    settings = uvicorn_config(gate, 0, config.shutdown_grace, doorway.tls, door_limits(config))
    return GracefulServer(
        settings,
        gate.drain,
        gate.started,
        *beside,
        loading=gate,
        leaving=Leaving(gate.leave, config.drain_delay),
    )


def ollama_address(config: ServerConfig) -> Authority | None:
    """Where Ollama's API alone is served, None where it is not. Raises ConflictingAccess."""
    if config.ollama_listen is None:
        return None
    if not config.compat:
        raise ConflictingAccess("--ollama-listen serves a text API; leave --no-compat out")
    return parse_authority(config.ollama_listen)


def beside_of(doorway: Doorway, app: ASGIApp, sockets: Sequence[socket.socket]) -> list[Beside]:
    """The listener of Ollama's API alone, if there is one, whose requests ``app`` answers."""
    if doorway.beside is None:
        return []
    return [Beside(sockets, Marked(app), doorway.beside.tls)]


@contextmanager
def _listening_beside(address: Authority | None) -> Iterator[list[socket.socket]]:
    if address is None:
        yield []
        return
    with listening(address.host, address.port or 0, "--ollama-listen") as sockets:
        yield sockets


def _about(config: ServerConfig, app: SplitApp, urls: list[str]) -> About:
    """The server as ``split-server status`` shows it."""
    several = (lambda: _states(app)) if app.several else None
    return About(
        "server",
        urls,
        _described(app),
        config.max_sessions,
        lambda: sum(len(room.parts.steps.store) for room in app.rooms.rooms()),
        app.parts.memory,
        several,
    )


def _states(app: SplitApp) -> dict[str, str]:
    """Of each model by its name."""
    return {state.name: state.state for state in app.rooms.states()}


def _models(app: SplitApp) -> list[str]:
    """The model that is there; of several, all of them and where they are."""
    described = _described(app)
    if not app.several:
        return [described]
    first, *others = app.directory.documents()
    return [f"{first['path']} and /: {described}", *map(_unloaded, others)]


def _unloaded(model: dict[str, Any]) -> str:
    size = "" if model["bytes"] is None else f", {model['bytes'] / 1e9:.2f} GB"
    return (
        f"{model['path']}: {model['family']}, {model['layers']} layers, context "
        f"{model['context']}{size}; loaded when somebody asks for it"
    )


def _described(app: SplitApp) -> str:
    info = app.parts.steps.info
    return (
        f"{info.name} ({info.family}, {info.num_layers} layers, context {info.max_context}), "
        f"computing in {info.dtype}{_streamed(app)}"
    )


def _streamed(app: SplitApp) -> str:
    """How a model larger than memory does; empty where all of it is there."""
    stream = app.parts.stream
    if stream is None:
        return ""
    speed = stream.counts.bytes_per_second
    return (
        f"; {len(stream.numbers)} of its layers are read from disk in each pass "
        f"({stream.pass_bytes / 1e9:.2f} GB at {speed / 1e9:.2f} GB/s), {stream.resident} are in "
        f"memory: about {stream.passes_per_second:.1f} tokens/s for each session"
    )


def _missing(config: ServerConfig, app: SplitApp) -> list[str]:
    """What was asked for and is not served."""
    lines = [f"warning: left out: {unusable}" for unusable in app.parts.left_out]
    if config.compat and app.parts.compat is None:
        lines.append("warning: the OpenAI and Kobold APIs are off; the log says why")
    return lines


def _mounted(app: SplitApp) -> list[str]:
    lines = [] if app.parts.adapter_host is None else [_MOUNTED]
    return lines if app.parts.web is None else [*lines, _WEB]


def invited(config: ServerConfig, doorway: Doorway, sockets: Sequence[socket.socket]) -> list[str]:
    """Tell ``split-server pair`` where the server is; with --lan pair the first device now."""
    if doorway.pairing is None:
        return []
    state, urls = StateFolder(config.state), device_urls(doorway, sockets)
    leave(
        state,
        urls,
        local=doorway.certificate is not None,
        public=config.public_url,
        replica=config.replica,
    )
    if not config.lan or doorway.pairing.devices.devices():
        return []
    if not urls:
        return [_NO_NETWORK]
    try:
        return invitation(state, None, time.time()).lines(LIFETIME / 60)
    except AddressNotVouched as error:
        return [f"no QR code: {error}"]
