"""The process of ``split-server adapters``: a host of encrypted adapters that runs by itself."""

from __future__ import annotations

from split_server.http.wire.server import listening, run_until_signal
from split_server.serving.adapter_host.app import AdapterHostApp
from split_server.serving.adapter_host.config import AdapterHostConfig
from split_server.serving.adapter_host.startup import open_host
from split_server.serving.doorway import door_limits, open_doorway
from split_server.serving.greeting import Say, device_urls, greeting
from split_server.serving.logs import configure_logs
from split_server.serving.presence import About, present
from split_server.serving.upkeep import certificate_upkeep

PRIVACY = (
    "privacy: this host sees ciphertexts under each device's own key, their number and timing, "
    "never a hidden state; whoever may query an adapter without limit can learn it"
)


def serve_adapters(config: AdapterHostConfig, say: Say) -> int:
    """Run until a signal; the exit status. ``say`` takes lines for the operator.

    Raises ServerError.
    """
    configure_logs(config.log_format, config.log_level)
    doorway = open_doorway(config)
    with listening(doorway.host, config.port) as sockets, present() as presence:
        host = open_host(config)
        upkeep = (*certificate_upkeep(doorway.certificate), presence.upkeep())
        app = AdapterHostApp(host, config, doorway.policy, doorway.pairing, upkeep)

        def announce() -> None:
            adapters = described(host.listing())
            serves = f"{len(adapters)} adapter{'' if len(adapters) == 1 else 's'} on ciphertexts"
            urls, sessions = device_urls(doorway, sockets), host.sessions.__len__
            # Whoever reads that it listens finds it.
            presence.begin(About("adapter host", urls, serves, config.max_sessions, sessions))
            say([*adapters, PRIVACY, *greeting(doorway, sockets)])

        try:
            run_until_signal(
                app, sockets, config.shutdown_grace, doorway.tls, announce, door_limits(config)
            )
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
