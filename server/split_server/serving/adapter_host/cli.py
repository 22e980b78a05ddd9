"""``split-server adapters``: a host of encrypted adapters in a process of its own."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable

from split_server.http.wire.server import GracefulServer, listen, uvicorn_config
from split_server.serving.adapter_host.app import MAX_MESSAGE_BYTES, AdapterHostApp
from split_server.serving.adapter_host.config import AdapterHostConfig
from split_server.serving.adapter_host.startup import open_host
from split_server.serving.doorway import Doorway, open_doorway
from split_server.serving.greeting import greeting
from split_server.serving.logs import configure_logs

PRIVACY = (
    "privacy: this host sees ciphertexts under each device's own key, their number and timing, "
    "never a hidden state; whoever may query an adapter without limit can learn it"
)


Say = Callable[[str], None]


def serve_adapters(config: AdapterHostConfig, say: Say) -> int:
    """Run until a signal; the exit status. ``say`` takes the lines for the operator.

    Raises ServerError.
    """
    configure_logs(config.log_format, config.log_level)
    doorway = open_doorway(config)
    sockets = listen(doorway.host, config.port)
    try:
        return _run(config, doorway, sockets, say)
    finally:
        for opened in sockets:
            opened.close()


def _run(
    config: AdapterHostConfig, doorway: Doorway, sockets: list[socket.socket], say: Say
) -> int:
    host = open_host(config)
    app = AdapterHostApp(host, config, doorway)

    def announce() -> None:
        for line in [*described(host.listing()), PRIVACY, *greeting(doorway, sockets)]:
            say(line)

    # uvicorn raises the signal again once it has stopped in order; the exit status is then 0.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    settings = uvicorn_config(app.asgi, MAX_MESSAGE_BYTES, config.shutdown_grace, doorway.tls)
    try:
        GracefulServer(settings, app.drain, announce).run(sockets)
    except SystemExit:
        if app.failure is None:
            raise
    if app.failure is not None:
        raise app.failure
    return 0


def described(document: dict[str, list[dict[str, object]]]) -> list[str]:
    """One line for each adapter."""
    return [
        f"adapter {entry['name']} (rank {entry['rank']}, hidden size {entry['hidden_size']}), "
        "computed on ciphertexts"
        for entry in document["adapters"]
    ]
